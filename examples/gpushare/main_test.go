//go:build full

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
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
	if lines := len(polylines(t, data)); lines != 7 || len(data) > 16<<10 {
		t.Errorf("%d lines in %d bytes, want 7 in at most 16 KiB", lines, len(data))
	}
}

func TestDistance(t *testing.T) {
	for want, s := range map[float64][2]openb.Summary{
		0:           {{Mean: 86}, {Mean: 86}},
		math.Inf(1): {{Mean: 86}, {Mean: 87}},
		0.4:         {{Mean: 86, Deviation: 3}, {Mean: 87, Deviation: 4}},
	} {
		if got := distance(s[0], s[1], 4); got != want {
			t.Errorf("distance of %v = %v, want %v", s, got, want)
		}
	}
}

// TestCompareMeans: each column of each table counts, and one of them is far away.
func TestCompareMeans(t *testing.T) {
	here, theirs := make([]openb.Result, 9), make([]openb.Result, 9)
	for i := range here {
		here[i].Series, theirs[i].Series = new(openb.Series), new(openb.Series)
		for c := range openb.Columns {
			x := float64(i % 2)
			here[i].Allocation[c], here[i].Fragmentation[c], here[i].Ratio[c] = x, x, x
			theirs[i].Allocation[c], theirs[i].Fragmentation[c], theirs[i].Ratio[c] = x, x, x
		}
	}
	if got, want := compareMeans(here, theirs).String(), ": 393 of 393 means within two standard errors, the farthest 0.0"; got != want {
		t.Errorf("compareMeans = %q, want %q", got, want)
	}
	for i := range here {
		here[i].Allocation[0]++
		here[i].Fragmentation[130] += 2
		here[i].Ratio[7] += 3
	}
	// The deviation is sqrt(20/81*9/8), and of the difference of two means sqrt(2)/3 of it.
	if got, want := compareMeans(here, theirs).String(), ": 390 of 393 means within two standard errors, the farthest 12.1"; got != want {
		t.Errorf("compareMeans = %q, want %q", got, want)
	}
	if got := compareMeans(here[:fewestRuns-1], theirs[:fewestRuns-1]).String(); got != "" {
		t.Errorf("compareMeans of few runs = %q", got)
	}
}

func TestListed(t *testing.T) {
	var keys []openb.Key
	for _, seed := range []int64{9, 3, 4, 5, 1} {
		keys = append(keys, openb.Key{Policy: openb.FGD, Seed: seed}, openb.Key{Policy: openb.Random, Seed: seed})
	}
	keys = append(keys, openb.Key{Policy: openb.BestFit, Seed: -2})
	if got, want := listed(keys), "Random, FGD (seeds 1, 3 to 5, 9); BestFit (seed -2)"; got != want {
		t.Errorf("listed = %q, want %q", got, want)
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

// files writes a small workload w and published tables with the runs, and returns the
// directory.
func files(t *testing.T, runs ...string) string {
	t.Helper()
	header, rows := "workload,sc_policy,tune,seed", ""
	for c := range openb.Columns {
		header += "," + strconv.Itoa(c)
	}
	for _, r := range runs {
		rows += r + strings.Repeat(",1", openb.Columns) + "\n"
	}
	texts := map[string]string{
		"openb_node_list_gpu_node.csv": "sn,cpu_milli,memory_mib,gpu,model\nn1,96000,393216,8,G2\n",
		"w.csv":                        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\np1,1000,16,1,460,\n",
	}
	for _, name := range []string{"allo", "frag", "frag_ratio"} {
		texts["x_"+name+"_discrete.csv"] = header + "\n" + rows
	}
	dir := t.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestNothingToCompare: if the tables have no figure that must be equal, nothing is run, and
// the error says what they have.
func TestNothingToCompare(t *testing.T) {
	for name, test := range map[string]struct {
		run, want string
		args      []string
	}{
		"other seed":       {"w,06-FGD,1.3,42", "seeds 99 to 108: workload w has FGD (seed 42)", []string{"-seed", "99"}},
		"seed after":       {"w,06-FGD,1.3,42", "nothing to compare with seeds 40 to 41", []string{"-seed", "40", "-runs", "2"}},
		"chance only":      {"w,01-Random,1.3,42", "seeds 42 to 51: workload w has Random (seed 42)", nil},
		"other ratio":      {"w,06-FGD,1.2,42", `tune: "1.2": want 1.3`, nil},
		"other workload":   {"v,06-FGD,1.3,42", `no runs of workload "w"`, nil},
		"another policy":   {"w,06-Best,1.3,42", `no policy "Best"`, nil},
		"no such tables":   {"w,06-FGD,1.3,42", "-expected: stat none: no such file", []string{"-expected", "none"}},
		"not a directory":  {"w,06-FGD,1.3,42", "-expected main.go: want a directory", []string{"-expected", "main.go"}},
		"no tables in it":  {"w,06-FGD,1.3,42", "-expected testdata: 0 files are named", []string{"-expected", "testdata"}},
		"the last of them": {"w,06-FGD,1.3,51", "published figures differ: FGD, seed 51", nil},
	} {
		dir := files(t, test.run)
		var out, progress strings.Builder
		err := run(append([]string{"-workload", filepath.Join(dir, "w.csv"), "-expected", dir}, test.args...), &out, &progress)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if ran := strings.Contains(out.String(), "POLICY"); ran != (name == "the last of them") {
			t.Errorf("%s: ran is %v", name, ran)
		}
	}
}

// TestNotCompared: runs that the tables lack are named.
func TestNotCompared(t *testing.T) {
	dir := files(t, "w,06-FGD,1.3,42", "w,01-Random,1.3,43", "w,05-BestFit,1.3,44")
	var out strings.Builder
	_ = run([]string{"-workload", filepath.Join(dir, "w.csv"), "-expected", dir, "-runs", "3"}, &out, io.Discard) // the figures differ
	const want = "not compared, because the tables do not have them: Random (seeds 42, 44); " +
		"DotProd, GpuClustering, GpuPacking, FirstFit (seeds 42 to 44); BestFit (seeds 42 to 43); FGD (seeds 43 to 44)\n"
	if !strings.Contains(out.String(), want) {
		t.Errorf("output:\n%s\nwant %s", out.String(), want)
	}
}

// TestBadFiles: a mix-up of files is an error of a few lines.
func TestBadFiles(t *testing.T) {
	dir := files(t)
	nodes, pods := filepath.Join(dir, "openb_node_list_gpu_node.csv"), filepath.Join(dir, "w.csv")
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	twice := "sn,cpu_milli,memory_mib,gpu,model\n"
	for i := range 1213 {
		twice += strings.Repeat(fmt.Sprintf("n%04d,96000,393216,8,G2\n", i), 2)
	}
	for want, args := range map[string][]string{
		"the table of pods has nodes":                {"-workload", nodes},
		"the table of nodes has pods":                {"-workload", pods, "-nodes", pods},
		"w.csv.gz: is compressed: unpack it":         {"-workload", write("w.csv.gz", "\x1f\x8b\x08")},
		"already a node of this name\nand 1208 more": {"-workload", pods, "-nodes", write("twice.csv", twice)},
		"openb_node_list_gpu_node.csv: no such":      {"-workload", "testdata/sample.txt"},
	} {
		err := run(args, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("gpushare %v: %v, want %q", args, err, want)
		} else if lines := strings.Count(err.Error(), "\n"); lines != 0 && lines != mostLines {
			t.Errorf("gpushare %v: an error of %d lines", args, lines)
		}
	}
}

func TestBadFlags(t *testing.T) {
	for want, args := range map[string][]string{
		`unexpected argument "x"`: {"x"}, "-runs: 0": {"-runs", "0"}, "-seed: 9223372036854775807": {"-seed", "9223372036854775807"}, "need -workload": {"-expected", "."},
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
