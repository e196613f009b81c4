package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestRegressions compares cases again that once differed, in their shrunk form.
func TestRegressions(t *testing.T) {
	var out bytes.Buffer
	differ, err := run([]string{"-replay", "testdata/regressions.jsonl"}, &out, &out)
	if err != nil {
		t.Fatal(err)
	}
	if differ != 0 || !strings.HasSuffix(out.String(), " cases, 0 mismatches\n") {
		t.Errorf("%d mismatches:\n%s", differ, out.String())
	}
}

// TestShort runs a very short comparison, sequences included.
func TestShort(t *testing.T) {
	var out, report bytes.Buffer
	differ, err := run([]string{"-seed", "7", "-cases", "820", "-steps", "40"}, &out, &report)
	if err != nil {
		t.Fatal(err)
	}
	if differ != 0 || out.String() != "820 cases, 0 mismatches\n" {
		t.Errorf("%d mismatches:\n%s%s", differ, out.String(), report.String())
	}
	for _, family := range allFamilies() {
		if !strings.Contains(report.String(), " "+family+" ") {
			t.Errorf("no case of the family %s was run:\n%s", family, report.String())
		}
	}
}

func TestArguments(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-family", "odd"}, `-family "odd": want one of fit`},
		{[]string{"-cases", "0"}, "-cases 0: want at least 1"},
		{[]string{"-case", "5"}, "-case 5: name its family"},
		{[]string{"more"}, `argument "more": there are flags only`},
		{[]string{"-gates", "Odd"}, `feature gate "Odd": kube-scheduler has none of that name`},
	} {
		if _, err := run(tt.args, &bytes.Buffer{}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: error %v, want one with %q", tt.args, err, tt.want)
		}
	}
}
