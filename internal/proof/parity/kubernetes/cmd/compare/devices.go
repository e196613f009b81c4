package main

import (
	"fmt"
	"io"

	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/devices"
)

// deviceFamilies are compared without a scheduler around them.
var deviceFamilies = []string{"dynamicresources", "selectors"}

// compareDevices runs a family of devices. It returns the number of mismatches.
func compareDevices(c config, stdout io.Writer) (int, error) {
	compare := devices.Allocations
	if c.families[0] == "selectors" {
		compare = devices.Selectors
	}
	n, err := compare(c.seed, c.cases)
	for i, d := range n.Differences {
		if i < c.shown {
			fmt.Fprintln(stdout, d)
		}
	}
	fmt.Fprintf(stdout, "%s: %d questions, %d granted, %d errors, %d refused, %d endless, seed %d\n", c.families[0], n.Questions, n.Granted, n.Errors, n.Refused, n.Endless, c.seed)
	fmt.Fprintf(stdout, "%d cases, %d mismatches\n", n.Cases, len(n.Differences))
	return len(n.Differences), err
}
