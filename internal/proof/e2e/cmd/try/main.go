// Command try starts etcd, kube-apiserver and a scheduler, makes nodes and pods, and
// prints which pods were bound where, and how fast.
//
//	go run ./cmd/try
//	go run ./cmd/try -nodes 100 -pods 1000 -scheduler kube-scheduler
//	go run ./cmd/try -build
//
// The programs are built from their modules if they are not in Go's build cache; that
// takes minutes the first time. Progress goes to standard error. Nothing stays behind.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/berth-sched/berth/internal/proof/e2e/controlplane"
	"github.com/berth-sched/berth/internal/proof/e2e/objects"
	"github.com/berth-sched/berth/internal/proof/e2e/trial"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "try:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("try", flag.ExitOnError)
	nodes := flags.Int("nodes", 500, "how many nodes to make")
	pods := flags.Int("pods", 5000, "how many pods to make")
	name := flags.String("scheduler", "berth-scheduler", "berth-scheduler or kube-scheduler")
	all := flags.Bool("all", false, "print every pod and its node")
	build := flags.Bool("build", false, "build the programs of all commands and tests, and end")
	_ = flags.Parse(args) // it exits on an error
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	programs := map[string]controlplane.Program{
		"berth-scheduler": controlplane.BerthScheduler, "kube-scheduler": controlplane.KubeScheduler,
	}
	program, ok := programs[*name]
	if !ok {
		return fmt.Errorf("-scheduler %q: want berth-scheduler or kube-scheduler", *name)
	}
	if *nodes < 1 || *pods < 1 {
		return fmt.Errorf("-nodes %d -pods %d: want 1 or more of both", *nodes, *pods)
	}
	if *build {
		return controlplane.BuildAll(ctx, stderr)
	}
	cluster, err := controlplane.Start(ctx, stderr)
	if err != nil {
		return err
	}
	defer cluster.Stop()
	if err := cluster.ApplyManifests(ctx); err != nil {
		return err
	}
	result, err := trial.Trial{
		Cluster: cluster, Scheduler: controlplane.Scheduler{Program: program},
		Size: trial.Size{Nodes: *nodes, Pods: *pods}, Log: stderr,
	}.Run(ctx)
	if err != nil {
		return err
	}
	if *all {
		for _, pod := range slices.Sorted(maps.Keys(result.Placements)) {
			fmt.Fprintln(stdout, pod, result.Placements[pod])
		}
	}
	return report(stdout, program, result)
}

// report prints where the pods of each shape are, and how fast they came there.
func report(w io.Writer, program controlplane.Program, r *trial.Result) error {
	zones := make([]map[string]int, objects.Shapes) // shape to zone to pods
	perNode := map[string]int{}
	names := map[string]bool{}
	for pod, node := range r.Placements {
		shape, zone := objects.ShapeOf(pod), objects.ZoneOf(node)
		if zones[shape] == nil {
			zones[shape] = map[string]int{}
		}
		zones[shape][zone]++
		names[zone] = true
		perNode[node]++
	}
	header := slices.Sorted(maps.Keys(names))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "pods\t%s\t\n", strings.Join(header, "\t"))
	for shape, counts := range zones {
		fmt.Fprintf(table, "%s\t", objects.ShapeName(shape))
		for _, zone := range header {
			fmt.Fprintf(table, "%d\t", counts[zone])
		}
		fmt.Fprintln(table)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	counts := slices.Sorted(maps.Values(perNode))
	fmt.Fprintf(w, "\n%d nodes have pods: %d to %d each, the middle one %d\n",
		len(counts), counts[0], counts[len(counts)-1], counts[len(counts)/2])
	fmt.Fprintf(w, "%s bound %d of %d pods, each once, in %.1f s: %.0f pods/s, %.2f s of CPU, %d MiB, %d events\n",
		program.Name(), len(r.Placements), len(r.Placements), r.Binding.Seconds(), r.Rate(),
		r.Usage.CPU.Seconds(), r.Usage.Memory>>20, r.Events)
	return nil
}
