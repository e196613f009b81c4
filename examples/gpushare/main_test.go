package main

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/berth-sched/berth/examples/gpushare/openb"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func output(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	if err := run(args, &out, io.Discard); err != nil {
		t.Fatalf("gpushare %v: %v", args, err)
	}
	return out.String()
}

// TestOutput compares the output for the sample with files in testdata.
func TestOutput(t *testing.T) {
	for name, args := range map[string][]string{"sample.txt": nil, "ties.txt": {"-ties", "-runs", "3"}} {
		got := output(t, args...)
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("output differs from %s (-want +got); -update accepts it:\n%s", file, diff)
		}
	}
}

// TestFigure: the figure is XML, small, and has a line for each policy.
func TestFigure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.svg")
	output(t, "-runs", "2", "-svg", file)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(string(data)))
	lines := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "polyline" {
			lines++
		}
	}
	if lines != 7 || len(data) > 16<<10 {
		t.Errorf("%d lines in %d bytes, want 7 in at most 16 KiB", lines, len(data))
	}
}

func TestDistance(t *testing.T) {
	for want, s := range map[string][2]openb.Summary{
		"":                                      {{Mean: 86}, {Mean: 87}}, // one run each
		": means differ by 0.4 standard errors": {{Mean: 86, Deviation: 3}, {Mean: 87, Deviation: 4}},
	} {
		if got := distance(s[0], s[1], 4); got != want {
			t.Errorf("distance = %q, want %q", got, want)
		}
	}
}

// TestWorkload reads tables of a workload, compares a difference and reports it.
func TestWorkload(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	write("openb_node_list_gpu_node.csv", "sn,cpu_milli,memory_mib,gpu,model\nn1,96000,393216,8,G2\nn2,64000,262144,2,T4\n")
	pods := write("w.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\np1,1000,16,1,460,\np2,1000,16,1,1000,T4|G2\np3,1000,16,0,0,\n")
	header, row := "workload,sc_policy,tune,seed", "w,06-FGD,1.3,42"
	for c := range 131 {
		header += "," + strconv.Itoa(c)
		row += ",1"
	}
	for _, name := range []string{"allo", "frag", "frag_ratio"} {
		write("x_"+name+"_discrete.csv", header+"\n"+row+"\n")
	}
	if got := output(t, "-workload", pods, "-runs", "1"); !strings.Contains(got, "workload w: 2 nodes, 10 GPUs, 3 pods") {
		t.Errorf("output:\n%s", got)
	}
	var out strings.Builder
	err := run([]string{"-workload", pods, "-expected", dir, "-runs", "1"}, &out, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "published figures differ: FGD, seed 42") || !strings.Contains(out.String(), " of 393 published figures are equal") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestNothingToCompare: tables without the seeds, or without the workload, are an error that
// says so, and seeds that they lack are named.
func TestNothingToCompare(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	write("openb_node_list_gpu_node.csv", "sn,cpu_milli,memory_mib,gpu,model\nn1,96000,393216,8,G2\n")
	list := "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\np1,1000,16,1,460,\n"
	pods, other, packed := write("w.csv", list), write("v.csv", list), write("w.csv.gz", "\x1f\x8b\x08")
	header, row := "workload,sc_policy,tune,seed", "w,06-FGD,1.3,42"
	for c := range 131 {
		header += "," + strconv.Itoa(c)
		row += ",1"
	}
	for _, name := range []string{"allo", "frag", "frag_ratio"} {
		write("x_"+name+"_discrete.csv", header+"\n"+row+"\n")
	}
	for want, args := range map[string][]string{
		"none of these seeds, but from 42 to 42": {"-workload", pods, "-expected", dir, "-seed", "99"},
		`no runs of workload "v"`:                {"-workload", other, "-expected", dir},
		"-expected " + dir + "/none: 0 files":    {"-workload", pods, "-expected", filepath.Join(dir, "none")},
		"is compressed: unpack it":               {"-workload", packed},
	} {
		if err := run(args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("gpushare %v: %v, want %q", args, err, want)
		}
	}
	var said strings.Builder
	_ = run([]string{"-workload", pods, "-expected", dir, "-runs", "3"}, io.Discard, &said) // the figures differ
	if !strings.Contains(said.String(), "do not have them: seeds from 43 to 44") {
		t.Errorf("it says %q", said.String())
	}
}

func TestBadFlags(t *testing.T) {
	for want, args := range map[string][]string{
		`unexpected argument "x"`: {"x"}, "-runs: 0": {"-runs", "0"}, "need -workload": {"-expected", "."},
		"-ties has neither": {"-ties", "-svg", "f"}, "no such file": {"-workload", "none.csv"}, "flag provided": {"-what"},
	} {
		if err := run(args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("gpushare %v: %v, want %q", args, err, want)
		}
	}
	if err := run([]string{"-h"}, io.Discard, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
}
