package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/berth-sched/berth/internal/proof/gen/workload"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/rival"
	"github.com/berth-sched/berth/internal/proof/shapes"
	"github.com/berth-sched/berth/scheduling"
)

func main() {
	switch err := run(os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// config holds the flags.
type config struct {
	nodes, pods int
	berthPods   int
	kinds       []workload.Kind
	shapes      []shapes.Shape
	json        bool
	berthOnly   bool
	seed        uint64
	runs        int
	compare     int
	preemption  bool
	devices     bool
	budget      time.Duration
}

// parse reads the flags.
func parse(args []string, stderr io.Writer) (config, error) {
	var c config
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&c.nodes, "nodes", 5000, "number of nodes")
	flags.IntVar(&c.pods, "pods", 1000, "number of pods to place with kube-scheduler")
	flags.IntVar(&c.berthPods, "berth-pods", 20000, "number of pods to place with berth, at most 10 a node")
	names := flags.String("workloads", "all", "workloads, separated by commas; all: those of placements; "+preemptionName+": pods that fit nowhere; "+devicesName+": pods with claims for devices; shapes of real clusters by their names")
	openB := flags.String("openb", "../../../../../shared/data/openb", "directory of the OpenB trace, for the shape openb")
	format := flags.String("o", "table", "output: table, or json for a line per workload")
	flags.BoolVar(&c.berthOnly, "berth-only", false, "do not run kube-scheduler")
	flags.Uint64Var(&c.seed, "seed", 1, "seed of berth's choice among equal nodes")
	flags.IntVar(&c.runs, "runs", 1, "runs per figure; the median counts")
	flags.IntVar(&c.compare, "compare", 100, "number of pods whose nodes are compared; 0 for none")
	flags.DurationVar(&c.budget, "budget", 5*time.Second, "time after which a figure is complete")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	if flags.NArg() > 0 {
		return c, fmt.Errorf("argument %q: there are flags only", flags.Arg(0))
	}
	for name, v := range map[string]int{"nodes": c.nodes, "pods": c.pods, "berth-pods": c.berthPods, "runs": c.runs} {
		if v < 1 {
			return c, fmt.Errorf("-%s %d: want at least 1", name, v)
		}
	}
	c.berthPods = min(c.berthPods, 10*c.nodes)
	switch *format {
	case "json":
		c.json = true
	case "table":
	default:
		return c, fmt.Errorf("-o %q: want table or json", *format)
	}
	if *names == "all" {
		c.kinds = workload.Kinds()
		return c, nil
	}
	for name := range strings.SplitSeq(*names, ",") {
		if name == preemptionName {
			c.preemption = true
			continue
		}
		if name == devicesName {
			c.devices = true
			continue
		}
		if k, err := workload.Parse(name); err == nil {
			c.kinds = append(c.kinds, k)
			continue
		}
		s, err := shapeOf(name, *openB)
		if err != nil {
			return c, fmt.Errorf("-workloads: %w", err)
		}
		c.shapes = append(c.shapes, s)
	}
	for name, named := range map[string]bool{preemptionName: c.preemption, devicesName: c.devices} {
		if named && c.berthOnly {
			return c, fmt.Errorf("-berth-only: %s is a comparison", name)
		}
	}
	return c, nil
}

// shapeOf returns the shape of that name.
func shapeOf(name, openB string) (shapes.Shape, error) {
	trace, missing := shapes.ReadOpenB(openB)
	s, err := shapes.Parse(shapes.All(trace), name)
	switch {
	case err != nil:
		return s, fmt.Errorf("no workload, and %w", err)
	case name == "openb" && missing != nil:
		return s, missing
	case !s.Plain():
		return s, fmt.Errorf("shape %s: kube-scheduler has no counterpart of what it does", name)
	}
	return s, nil
}

// run executes the command.
func run(args []string, stdout, stderr io.Writer) error {
	c, err := parse(args, stderr)
	if err != nil {
		return err
	}
	b := bench{config: c, stderr: stderr, stock: new(stock)}
	var lines []line
	differ := 0
	var measures []func() (line, error)
	for _, k := range c.kinds {
		measures = append(measures, func() (line, error) { return b.workload(k) })
	}
	for _, s := range c.shapes {
		measures = append(measures, func() (line, error) { return b.shape(s) })
	}
	for _, measure := range measures {
		l, err := measure()
		if err != nil {
			return err
		}
		if l.DifferingChoices != nil {
			differ += *l.DifferingChoices
		}
		lines = append(lines, l)
		if c.json {
			if err := writeJSON(stdout, l); err != nil {
				return err
			}
		}
	}
	if !c.json && len(lines) > 0 {
		if err := writeTable(stdout, lines); err != nil {
			return err
		}
	}
	if c.preemption {
		l, err := b.preempt()
		if err == nil {
			err = b.writePreemption(stdout, l)
		}
		if err != nil {
			return err
		}
		differ += l.Differing
	}
	if c.devices {
		l, err := b.devices()
		if err == nil {
			err = b.writeDevices(stdout, l)
		}
		if err != nil {
			return err
		}
		differ += l.Differing
	}
	if differ > 0 {
		return fmt.Errorf("%d choices are others than kube-scheduler's", differ)
	}
	return nil
}

// bench measures workloads.
type bench struct {
	config
	stderr io.Writer
	stock  *stock
}

// workload measures one workload in all columns.
func (b bench) workload(k workload.Kind) (line, error) {
	l := line{Workload: string(k), Nodes: b.nodes, Pods: b.pods}
	kubeJob := job{kind: k, nodes: b.nodes, pods: b.pods, budget: b.budget, seed: b.seed}
	berthJob := kubeJob
	berthJob.pods = b.berthPods
	columns := []struct {
		name string
		r    runner
		job  job
		rate **float64
		pods *int
		all  **float64 // allocations
	}{
		{"kube sampled", kube{rival.Options{}, b.stock}, kubeJob, &l.KubeSampled, &l.KubeSampledPods, nil},
		{"kube all", kube{rival.Options{Percentage: 100}, b.stock}, kubeJob, &l.KubeAll, &l.KubeAllPods, &l.KubeAllAllocs},
		{"kube batched", kube{rival.Options{Config: rival.ListDefaulting, Batching: true}, b.stock}, kubeJob, &l.KubeBatched, &l.KubeBatchedPods, nil},
		{"berth plain", berth{plain: true}, berthJob, &l.BerthPlain, &l.BerthPlainPods, nil},
		{"berth", berth{}, berthJob, &l.Berth, &l.BerthPods, &l.BerthAllocs},
	}
	for _, c := range columns {
		if _, ok := c.r.(kube); ok && b.berthOnly {
			continue
		}
		f, err := b.median(c.name, c.r, c.job)
		if err != nil {
			return l, err
		}
		rate, allocs := f.rate(), f.allocsPerPod()
		*c.rate, *c.pods = &rate, f.pods
		if c.all != nil {
			*c.all = &allocs
		}
	}
	l.ratios()
	if b.berthOnly || b.compare == 0 {
		return l, nil
	}
	differ, err := b.differences(k, &l.Compared)
	l.DifferingChoices = &differ
	return l, err
}

// median measures a column several times.
func (b bench) median(name string, r runner, j job) (figures, error) {
	var all []figures
	for range b.runs {
		f, err := r.measure(j)
		if err != nil {
			return f, fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(b.stderr, "%s, %d nodes, %s: %d pods in %v, %.0f pods/s\n",
			j.kind, j.nodes, name, f.pods, f.took.Round(time.Microsecond), f.rate())
		all = append(all, f)
	}
	slices.SortFunc(all, func(x, y figures) int {
		switch rx, ry := x.rate(), y.rate(); {
		case rx < ry:
			return -1
		case rx > ry:
			return 1
		}
		return 0
	})
	return all[len(all)/2], nil
}

// differences counts the pods that berth places elsewhere, with all nodes scored
// and with sampling.
func (b bench) differences(k workload.Kind, compared *int) (int, error) {
	j := job{kind: k, nodes: b.nodes, pods: min(b.compare, b.pods), seed: b.seed}
	differ := 0
	for _, c := range []struct{ theirs, ours runner }{
		{kube{rival.Options{Percentage: 100}, b.stock}, berth{percentage: scheduling.AllNodes}},
		{kube{rival.Options{}, b.stock}, berth{percentage: scheduling.Adaptive}},
	} {
		theirs, err := c.theirs.choices(j)
		if err != nil {
			return differ, err
		}
		ours, err := c.ours.choices(j)
		if err != nil {
			return differ, err
		}
		for i := range theirs {
			*compared++
			if theirs[i] != ours[i] {
				if differ == 0 {
					fmt.Fprintf(b.stderr, "%s: pod %d: berth chooses %s, kube-scheduler %s\n", k, i, ours[i], theirs[i])
				}
				differ++
			}
		}
	}
	return differ, nil
}
