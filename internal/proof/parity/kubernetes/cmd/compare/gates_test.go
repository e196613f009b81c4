package main

import (
	"bytes"
	"testing"
)

// TestGates compares with the feature gate on for which berth has a switch, and then
// with the gate off again.
func TestGates(t *testing.T) {
	for _, gate := range []string{comparisons, ""} {
		t.Run(gate, func(t *testing.T) {
			var out, report bytes.Buffer
			differ, err := run([]string{"-gates", gate, "-family", "taint", "-cases", "320"}, &out, &report)
			if err != nil {
				t.Fatal(err)
			}
			if differ != 0 || out.String() != "320 cases, 0 mismatches\n" {
				t.Errorf("%d mismatches:\n%s%s", differ, out.String(), report.String())
			}
		})
	}
}
