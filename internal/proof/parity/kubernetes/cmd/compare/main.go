package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/cases"
)

func main() {
	switch differ, err := run(os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(2)
	case differ > 0:
		os.Exit(1)
	}
}

// config holds the flags.
type config struct {
	seed     uint64
	cases    int
	families []string
	steps    int // steps of a sequence
	workers  int
	shown    int // mismatches to shrink and print
	replay   string
	gates    []string // gates of kube-scheduler to turn on
	only     int64    // number of the only case to run; -1: all
}

// The sizes of a run with -short.
const (
	shortCases = 1600
	shortSteps = 150
)

// parse reads the flags.
func parse(args []string, stderr io.Writer) (config, error) {
	var c config
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Uint64Var(&c.seed, "seed", 1, "seed of the cases")
	flags.IntVar(&c.cases, "cases", 10_000, "number of cases")
	names := flags.String("family", "all", "families, separated by commas: "+strings.Join(allFamilies(), ", ")+"; or one of "+strings.Join(slices.Concat(deviceFamilies, groupFamilies), ", ")+", which run alone")
	flags.IntVar(&c.steps, "steps", 500, "number of steps of a sequence")
	flags.IntVar(&c.workers, "workers", runtime.GOMAXPROCS(0), "cases that run at the same time")
	flags.IntVar(&c.shown, "show", 5, "number of mismatches that are made small and printed")
	flags.StringVar(&c.replay, "replay", "", "a file of printed cases to compare again")
	flags.Int64Var(&c.only, "case", -1, "run this case of -family only, the last number of its id")
	gates := flags.String("gates", "", "feature gates of kube-scheduler to turn on, separated by commas")
	short := flags.Bool("short", false, "a short run")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	if flags.NArg() > 0 {
		return c, fmt.Errorf("argument %q: there are flags only", flags.Arg(0))
	}
	for name, v := range map[string]int{"cases": c.cases, "steps": c.steps, "workers": c.workers} {
		if v < 1 {
			return c, fmt.Errorf("-%s %d: want at least 1", name, v)
		}
	}
	if *short {
		c.cases, c.steps = shortCases, shortSteps
	}
	if *gates != "" {
		c.gates = strings.Split(*gates, ",")
	}
	c.families = allFamilies()
	if slices.Contains(slices.Concat(deviceFamilies, groupFamilies), *names) {
		c.families = []string{*names}
		return c, nil
	}
	if *names != "all" {
		c.families = strings.Split(*names, ",")
		for _, name := range c.families {
			if !slices.Contains(allFamilies(), name) {
				return c, fmt.Errorf("-family %q: want one of %s", name, strings.Join(allFamilies(), ", "))
			}
		}
	}
	if c.only >= 0 && len(c.families) > 1 {
		return c, fmt.Errorf("-case %d: name its family with -family", c.only)
	}
	return c, nil
}

func allFamilies() []string { return append(cases.Families(), cases.SequenceFamilies...) }

// run executes the command. It returns the number of mismatches.
func run(args []string, stdout, stderr io.Writer) (int, error) {
	c, err := parse(args, stderr)
	if err != nil {
		return 0, err
	}
	if slices.Contains(deviceFamilies, c.families[0]) {
		return compareDevices(c, stdout)
	}
	if slices.Contains(groupFamilies, c.families[0]) {
		return comparePodGroups(c, stdout)
	}
	restore, err := enable(c.gates)
	if err != nil {
		return 0, err
	}
	defer restore()
	if c.replay != "" {
		return replay(c, stdout)
	}
	r := &runner{config: c, stdout: stdout, stderr: stderr}
	return r.run()
}
