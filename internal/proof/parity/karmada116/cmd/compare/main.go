// Command compare runs random cases through berth and through Karmada v1.16.0
// and counts the differences. It exits with 1 if there are any.
package main

import (
	"os"

	"github.com/berth-sched/berth/internal/proof/parity/karmada116"
)

func main() { os.Exit(karmada116.Version().Command(os.Args[1:], os.Stdout)) }
