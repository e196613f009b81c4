// Command compare runs random cases through berth and through Karmada v1.13.0
// and counts the differences. It exits with 1 if there are any.
package main

import (
	"os"

	"github.com/berth-sched/berth/internal/proof/parity/karmada113/v113"
)

func main() { os.Exit(v113.Version().Command(os.Args[1:], os.Stdout)) }
