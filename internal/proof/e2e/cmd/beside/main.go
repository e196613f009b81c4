// Command beside measures berth-scheduler and the stock kube-scheduler on the same API
// server, with the same limit of requests, and prints a table.
//
//	go run ./cmd/beside
//	go run ./cmd/beside -nodes 1000 -pods 10000
//
// Each scheduler gets the same nodes and pods, all waiting when it starts. Where both
// score all nodes with one worker, the nodes of all pods are compared as well. The third
// row is kube-scheduler as it is by default: it samples nodes, with 16 workers. The column
// events counts the pods that an event Scheduled of the API server is about; a scheduler that
// writes fewer than it binds has saved CPU at the wrong place.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/berth-sched/berth/internal/proof/e2e/controlplane"
	"github.com/berth-sched/berth/internal/proof/e2e/trial"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "beside:", err)
		os.Exit(1)
	}
}

// contestants are the rows of the table.
var contestants = []struct {
	name      string
	scheduler controlplane.Scheduler
}{
	{"berth-scheduler", controlplane.Scheduler{Program: controlplane.BerthScheduler}},
	{"kube-scheduler, all nodes, 1 worker", controlplane.Scheduler{Program: controlplane.KubeScheduler, Lists: true}},
	{"kube-scheduler, its defaults", controlplane.Scheduler{Program: controlplane.KubeScheduler, Sample: true}},
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("beside", flag.ExitOnError)
	nodes := flags.Int("nodes", 500, "how many nodes to make")
	pods := flags.Int("pods", 5000, "how many pods to make")
	_ = flags.Parse(args) // it exits on an error
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	cluster, err := controlplane.Start(ctx, stderr)
	if err != nil {
		return err
	}
	defer cluster.Stop()
	if err := cluster.ApplyManifests(ctx); err != nil {
		return err
	}
	results := make([]*trial.Result, len(contestants))
	for i, c := range contestants {
		if results[i], err = (trial.Trial{
			Cluster: cluster, Scheduler: c.scheduler, Size: trial.Size{Nodes: *nodes, Pods: *pods}, Log: stderr,
		}).Run(ctx); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return print(stdout, trial.Size{Nodes: *nodes, Pods: *pods}, results)
}

// print prints the table, and how the first two rows compare.
func print(w io.Writer, size trial.Size, results []*trial.Result) error {
	fmt.Fprintf(w, "%d pods of the mix on %d nodes, kube-apiserver %s\n\n", size.Pods, size.Nodes, controlplane.Version)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\tpods/s\tseconds\tCPU s\tMiB\tevents\tCPU s of the API server\t")
	for i, r := range results {
		fmt.Fprintf(table, "%s\t%.0f\t%.1f\t%.2f\t%d\t%d\t%.1f\t\n", contestants[i].name, r.Rate(), r.Binding.Seconds(),
			r.Usage.CPU.Seconds(), r.Usage.Memory>>20, r.Events, r.APIServer.Seconds())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	ours, theirs := results[0], results[1]
	same := 0
	for pod, node := range theirs.Placements {
		if ours.Placements[pod] == node {
			same++
		}
	}
	_, err := fmt.Fprintf(w, "\n%.1f times the pods/s, 1/%.1f of the CPU; %d of %d pods on the same node\n",
		ours.Rate()/theirs.Rate(), float64(theirs.Usage.CPU)/float64(max(ours.Usage.CPU, time.Millisecond)),
		same, len(theirs.Placements))
	return err
}
