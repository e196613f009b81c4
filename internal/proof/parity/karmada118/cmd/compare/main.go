// Command compare runs random cases through berth and through Karmada v1.18.1
// and counts the differences. It exits with 1 if there are any.
package main

import (
	"fmt"
	"os"

	"github.com/berth-sched/berth/internal/proof/parity/karmada113/live"
	"github.com/berth-sched/berth/internal/proof/parity/karmada118"
)

func main() {
	kinds, err := karmada118.Kinds()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(live.Command(kinds, os.Args[1:], os.Stdout))
}
