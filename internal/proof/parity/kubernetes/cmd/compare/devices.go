package main

import (
	"fmt"
	"io"

	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/devices"
)

// deviceFamilies are compared apart from the others: the plugin and its allocator alone, the
// first of these, and the compiler of selectors.
var deviceFamilies = []string{"dynamicresources", "deviceplugin", "selectors"}

// compareDevices runs a family of devices. It returns the number of mismatches.
func compareDevices(c config, stdout io.Writer) (int, error) {
	if c.families[0] == "selectors" {
		n, err := devices.Selectors(c.seed, c.cases)
		return c.report("selectors", n, stdout), err
	}
	n, err := devices.Plugin(c.seed, c.cases, c.only)
	differ := c.report("plugin", n, stdout)
	if err != nil || c.only >= 0 || c.families[0] == "deviceplugin" {
		return differ, err
	}
	n, err = devices.Allocations(c.seed, c.cases)
	return differ + c.report("allocator", n, stdout), err
}

// report prints a result and returns the number of mismatches.
func (c config) report(what string, n devices.Count, stdout io.Writer) int {
	for i, d := range n.Differences {
		if i < c.shown {
			fmt.Fprintln(stdout, d)
		}
	}
	fmt.Fprintf(stdout, "%s: %d questions, %d granted, %d errors, %d refused, %d endless, seed %d\n", what, n.Questions, n.Granted, n.Errors, n.Refused, n.Endless, c.seed)
	if n.Bound > 0 {
		fmt.Fprintf(stdout, "%s: %d pods rejected by PreFilter, %d that free a claim, %d with a choice of it, %d bound\n", what, n.Turned, n.Freed, n.Random, n.Bound)
	}
	fmt.Fprintf(stdout, "%d cases, %d mismatches\n", n.Cases, len(n.Differences))
	return len(n.Differences)
}
