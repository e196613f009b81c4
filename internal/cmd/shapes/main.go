// Command shapes brings pods in the shapes of real clusters to a scheduler, on both
// paths in one run, and prints what one of them costs:
//
//	go run ./internal/cmd/shapes -nodes 5000
//	go run ./internal/cmd/shapes -nodes 5000 -shape statefulset,job -o json
//	go run ./internal/cmd/shapes -nodes 200 -shape terms -long 2000000 -stretch 100000
//
// The time of a pod includes the pods that leave for it, its PodInfo with the class
// key, the decision, counting it on its node, and PostFilter if it fits nowhere. Making
// the object is not timed; it stands for decoding and defaults. "ratio" is how many times
// the reference path takes as long. A sample of the decisions is made on both paths and
// compared; a difference ends the command with status 1.
//
// With -long, so many pods come to one cluster, and a line for each stretch of them shows
// whether decisions become slower, or memory grows, while templates come and go. To compare
// the last 10,000 of 500,000 placements with the second 10,000 on a machine that does
// other work too, read the column "least" of -long 500000: the fastest of the batches of
// 512 pods in a stretch.
//
// The shape openb reads the tables of the OpenB trace from the directory of -openb; it is
// left out if the directory is not there and -shape does not name it.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/berth-sched/berth/internal/proof/shapes"
)

func main() {
	switch err := run(os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "shapes:", err)
		os.Exit(1)
	}
}

// config holds the flags.
type config struct {
	shapes.Config
	list []shapes.Shape
	json bool

	trace int // pods of the shape openb

	long, stretch int
}

// of is the configuration for a shape.
func (c *config) of(s shapes.Shape) shapes.Config {
	config := c.Config
	switch {
	case config.Pods > 0:
	case s.Name == "openb":
		config.Pods = c.trace
	default:
		config.Pods = 4 * config.Nodes
	}
	return config
}

// parse reads the flags.
func parse(args []string, stderr io.Writer) (config, error) {
	var c config
	flags := flag.NewFlagSet("shapes", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&c.Nodes, "nodes", 5000, "number of nodes")
	names := flags.String("shape", "all", "shapes, separated by commas")
	flags.IntVar(&c.Pods, "pods", 0, "the most pods to time on a path; 0: four for each node, and all of openb")
	flags.DurationVar(&c.Budget, "budget", 2*time.Second, "time after which a path is measured")
	flags.IntVar(&c.Verified, "verify", 50, "number of pods for a scheduler that verifies, besides the sample of the timed ones")
	dir := flags.String("openb", "../shared/data/openb", "directory of the OpenB trace")
	flags.IntVar(&c.long, "long", 0, "bring so many pods to one cluster of each shape, and print how time and memory go on; 0: measure both paths")
	flags.IntVar(&c.stretch, "stretch", 10000, "pods for each line of -long")
	format := flags.String("o", "table", "output: table, or json for a line per shape")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	if flags.NArg() > 0 {
		return c, fmt.Errorf("argument %q: there are flags only", flags.Arg(0))
	}
	if c.long < 0 || c.stretch < 1 {
		return c, fmt.Errorf("-long %d, -stretch %d: want at least 0 and 1", c.long, c.stretch)
	}
	if c.Nodes < 1 || c.Pods < 0 || c.Verified < 0 {
		return c, fmt.Errorf("-nodes %d, -pods %d, -verify %d: want at least 1, 0 and 0", c.Nodes, c.Pods, c.Verified)
	}
	if *format != "table" && *format != "json" {
		return c, fmt.Errorf("-o %q: want table or json", *format)
	}
	c.json = *format == "json"
	trace, missing := shapes.ReadOpenB(*dir)
	c.trace = trace.Len()
	all := shapes.All(trace)
	if *names == "all" {
		if missing != nil {
			fmt.Fprintln(stderr, "without openb:", missing)
			all = slices.DeleteFunc(all, func(s shapes.Shape) bool { return s.Name == "openb" })
		}
		c.list = all
		return c, nil
	}
	for name := range strings.SplitSeq(*names, ",") {
		s, err := shapes.Parse(all, name)
		if err != nil {
			return c, fmt.Errorf("-shape: %w", err)
		}
		if name == "openb" && missing != nil {
			return c, missing
		}
		c.list = append(c.list, s)
	}
	return c, nil
}

// runLong brings many pods to one cluster of each shape.
func (c *config) runLong(stdout io.Writer) error {
	for _, s := range c.list {
		err := shapes.Long(s, c.Nodes, c.long, c.stretch, func(x shapes.Stretch) {
			if c.json {
				_ = json.NewEncoder(stdout).Encode(x)
				return
			}
			fmt.Fprintf(stdout, "%s, %d nodes, after %8d pods: %7.2f us/pod, least %7.2f, %.1f allocs/pod, heap %.1f MiB, kept %.1f MiB, %.1f %% hits\n",
				x.Shape, x.Nodes, x.Came, x.USPerPod, x.LeastUSPerPod, x.AllocsPerPod, x.HeapMB, x.KeptMB, 100*x.HitShare)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return nil
}

// run executes the command.
func run(args []string, stdout, stderr io.Writer) error {
	c, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if c.long > 0 {
		return c.runLong(stdout)
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	if !c.json {
		fmt.Fprintln(table, "shape\tnodes\tus/pod\treference\tratio\thits\tmisses\tbypassed\tallocs/pod\tbytes/node\t")
	}
	for _, s := range c.list {
		f, err := shapes.Measure(s, c.of(s))
		if err != nil {
			return err
		}
		fmt.Fprintf(stderr, "%s: %s: %d and %d pods timed, %d decisions verified\n", s.Name, s.About, f.Pods, f.ReferencePods, f.Verified)
		if c.json {
			if err := json.NewEncoder(stdout).Encode(f); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(table, "%s\t%d\t%.2f\t%.2f\t%.2f\t%d\t%d\t%d\t%.1f\t%.1f\t\n", f.Shape, f.Nodes, f.USPerPod, f.ReferenceUSPerPod, f.Ratio,
			f.Hits, f.Misses, f.Bypassed, f.AllocsPerPod, f.BytesPerNode)
	}
	return table.Flush()
}
