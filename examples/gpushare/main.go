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
// be compared. The program ends with status 1 if a figure of a policy without chance
// differs.
//
// The policy that gives out most is FGD, fragmentation gradient descent. It keeps GPUs
// useful for the pods that usually come:
//
//   - The typical pods are the demands of the workload by how often they occur.
//   - For one typical pod, what is left of a node's GPUs is a fragment as far as that pod
//     cannot use it: all of it if the pod does not fit on the node or asks for no GPU, else
//     the GPUs that have too little for it. F(node) is the mean over the typical pods, weighed by how often
//     they occur, in thousandths of a GPU.
//   - A pod goes where F grows least: the score of a node is
//     100 * sigmoid((F(node) - F(node with the pod)) / 1000), rounded down, for the GPU of
//     the node with which it is best.
//
// Package [github.com/berth-sched/berth/examples/gpushare/devices] has the plugins, each in
// a file of its own, and the formula in full; package openb has the experiment.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
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
		fmt.Fprintln(os.Stderr, "gpushare:", err)
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
	var published openb.Tables
	if o.expected != "" {
		if published, err = openb.ReadTables(os.DirFS(o.expected), trace.Name); err != nil {
			return fmt.Errorf("-expected %s: %w", o.expected, err)
		}
		if err := o.inTables(published, stderr); err != nil {
			return err
		}
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
		return nil, fmt.Errorf("%s, %s: %w", o.nodes, o.workload, err)
	}
	return trace, nil
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

// inTables fails if none of the seeds is in the tables, and names those that are not.
func (o *options) inTables(published openb.Tables, stderr io.Writer) error {
	known := map[int64]bool{}
	for key := range published {
		known[key.Seed] = true
	}
	var missing []int64
	for i := range o.runs {
		if seed := o.seed + int64(i); !known[seed] {
			missing = append(missing, seed)
		}
	}
	switch seeds := slices.Sorted(maps.Keys(known)); {
	case len(missing) == o.runs:
		return fmt.Errorf("-seed %d, -runs %d: the tables of -expected have none of these seeds, but from %d to %d", o.seed, o.runs, seeds[0], seeds[len(seeds)-1])
	case len(missing) > 0:
		fmt.Fprintf(stderr, "not compared, because the tables do not have them: seeds from %d to %d\n", missing[0], missing[len(missing)-1])
	}
	return nil
}

// runAll makes the runs and shows how far they are.
func runAll(trace *openb.Trace, configs []openb.Config, stderr io.Writer) ([]openb.Result, error) {
	progress := display.NewProgress(stderr, len(configs))
	defer progress.Done()
	return openb.RunAll(trace, configs, func(done int) { progress.Step(done, "%d of %d runs", done, len(configs)) })
}
