// Gpushare shares the GPUs of a cluster among pods by seven policies, and compares what
// they give out with published results.
//
//	go run ./examples/gpushare
//	go run ./examples/gpushare -workload openb_pod_list_default.csv -expected DIR -svg allocation.svg
//	go run ./examples/gpushare -workload openb_pod_list_gpuspec33.csv -nodes openb_node_list_gpu_node.csv -ties
//
// Without a workload it makes a small sample of its own. The tables are those of the OpenB
// trace. Without -nodes, the nodes are those of openb_node_list_gpu_node.csv beside the
// workload. DIR holds the published tables, as the simulator of the paper has them in
// experiments/analysis/expected_results; every workload of the trace that is in them can
// be compared. The program names the runs that the tables do not have. It ends with status
// 1 if a figure of a policy without chance differs, or if the tables have none to compare.
//
// The policy that gives out most is FGD, fragmentation gradient descent. It keeps GPUs
// useful for the pods that usually come:
//
//   - The typical pods m are the demands of the workload, with the part p(m) of the pods
//     that each has.
//   - A typical pod can use nothing of a node that it does not fit, and nothing of a GPU
//     with too little left for it. What it cannot use is a fragment.
//   - The fragmentation of a node n is what typical pods cannot use, on average, in
//     thousandths of a GPU. A pod q goes where it grows least.
//
// In formulas:
//
//	unusable(n, m) = all that is free on the GPUs of n     if m does not fit n, or asks for no GPU
//	                 what is free on GPUs with too little  if m fits n
//	F(n)           = sum over m of  p(m) * unusable(n, m)
//	score(n, q)    = 100 / (1 + exp((F(n with q) - F(n)) / 1000)),  rounded down
//
// The score is taken for the GPU of n on which it is highest. For example, a GPU has 700
// thousandths left, and all typical pods ask for 500: F is 0. With a pod of 300 the GPU has
// 400 left, of no use to any: F is 400, and the score 40. On a GPU with 300 left F falls
// from 300 to 0, and the score is 57, so the pod goes there.
//
// Package [github.com/berth-sched/berth/examples/gpushare/devices] has the plugins, each in
// a file of its own, and says how much the rule for equal scores matters. Package
// [github.com/berth-sched/berth/examples/gpushare/openb] has the experiment.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/berth-sched/berth/examples/gpushare/openb"
	"github.com/berth-sched/berth/examples/internal/display"
)

func main() {
	switch err := run(os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		display.Fail(os.Stderr, "gpushare", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	workload, nodes, expected, svg string
	seed                           int64
	runs                           int
	ties                           bool
}

func run(args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	trace, err := o.trace()
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "workload %s: %d nodes, %d GPUs, %d pods, %d of them typical classes; seeds %d to %d\n",
		trace.Name, len(trace.Nodes), trace.Milli/1000, len(trace.Pods), len(trace.Typical), o.seed, o.seed+int64(o.runs)-1)
	if o.ties {
		return writeTies(stdout, trace, o, stderr)
	}
	published, err := o.published(trace.Name)
	if err != nil {
		return err
	}
	results, err := runAll(trace, o.configs(openb.Policies(), openb.FixedOrder), stderr)
	if err != nil {
		return err
	}
	if o.svg != "" {
		if err := os.WriteFile(o.svg, figure(trace, results, published), 0o644); err != nil {
			return err
		}
	}
	return writeTable(stdout, results, published)
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("gpushare", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.workload, "workload", "", "`file` with the pods of the OpenB trace; by default a sample is made")
	flags.StringVar(&o.nodes, "nodes", "", "`file` with the nodes; by default openb_node_list_gpu_node.csv beside the workload")
	flags.StringVar(&o.expected, "expected", "", "`directory` of published tables to compare with")
	flags.StringVar(&o.svg, "svg", "", "`file` to write the figure to")
	flags.Int64Var(&o.seed, "seed", 42, "the first seed")
	flags.IntVar(&o.runs, "runs", 10, "how many seeds to run")
	flags.BoolVar(&o.ties, "ties", false, "compare tie rules instead of published tables")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(stderr)
			flags.Usage()
		}
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.runs < 1 || o.runs > 1000:
		return o, fmt.Errorf("-runs: %d: want 1 to 1000", o.runs)
	case o.seed > math.MaxInt64-int64(o.runs):
		return o, fmt.Errorf("-seed: %d: %d runs need as many seeds from there on, at most %d", o.seed, o.runs, int64(math.MaxInt64))
	case o.workload == "" && (o.nodes != "" || o.expected != ""):
		return o, errors.New("-nodes and -expected need -workload")
	case o.ties && (o.expected != "" || o.svg != ""):
		return o, errors.New("-ties has neither published tables nor a figure: leave out -expected and -svg")
	}
	return o, nil
}

// trace reads the files, or makes the sample.
func (o *options) trace() (*openb.Trace, error) {
	if o.workload == "" {
		return openb.Sample(60, 1200, 1)
	}
	if o.nodes == "" {
		o.nodes = filepath.Join(filepath.Dir(o.workload), "openb_node_list_gpu_node.csv")
	}
	nodes, err := os.ReadFile(o.nodes)
	if err != nil {
		return nil, err
	}
	pods, err := os.ReadFile(o.workload)
	if err != nil {
		return nil, err
	}
	for name, data := range map[string][]byte{o.nodes: nodes, o.workload: pods} {
		if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
			return nil, fmt.Errorf("%s: is compressed: unpack it with gunzip", name)
		}
	}
	name := strings.TrimSuffix(filepath.Base(o.workload), ".csv")
	trace, err := openb.Read(name, nodes, pods)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", o.nodes, o.workload, shortened(err))
	}
	return trace, nil
}

// mostLines is how many lines of an error are shown.
const mostLines = 5

// shortened returns the first lines of an error that lists many, and says how many there
// are more.
func shortened(err error) error {
	lines := strings.Split(err.Error(), "\n")
	if len(lines) <= mostLines {
		return err
	}
	return fmt.Errorf("%s\nand %d more", strings.Join(lines[:mostLines], "\n"), len(lines)-mostLines)
}

// published reads the tables to compare with, nil if none are asked for. It is an error if
// they have no run whose figures must be equal.
func (o *options) published(workload string) (openb.Tables, error) {
	if o.expected == "" {
		return nil, nil
	}
	switch info, err := os.Stat(o.expected); {
	case err != nil:
		return nil, fmt.Errorf("-expected: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("-expected %s: want a directory", o.expected)
	}
	tables, err := openb.ReadTables(os.DirFS(o.expected), workload)
	if err != nil {
		return nil, fmt.Errorf("-expected %s: %w", o.expected, err)
	}
	for key := range tables {
		if !key.Policy.IsRandom() && o.seed <= key.Seed && key.Seed < o.seed+int64(o.runs) {
			return tables, nil
		}
	}
	return nil, fmt.Errorf("-expected %s: nothing to compare with seeds %d to %d: workload %s has %s",
		o.expected, o.seed, o.seed+int64(o.runs)-1, workload, listed(slices.Collect(maps.Keys(tables))))
}

// configs lists the runs of each policy.
func (o *options) configs(policies []openb.Policy, tie openb.Tie) (list []openb.Config) {
	for _, p := range policies {
		for i := range o.runs {
			list = append(list, openb.Config{Policy: p, Tie: tie, Seed: o.seed + int64(i)})
		}
	}
	return list
}

// runAll makes the runs and shows how far they are.
func runAll(trace *openb.Trace, configs []openb.Config, stderr io.Writer) ([]openb.Result, error) {
	progress := display.NewProgress(stderr, len(configs))
	defer progress.Done()
	return openb.RunAll(trace, configs, func(done int) { progress.Step(done, "%d of %d runs", done, len(configs)) })
}
