// Simulate places the pending pods of a cluster. It shows where they went, which fit
// nowhere and why, how long they waited, and how full the nodes are.
//
//	go run ./examples/simulate
//	go run ./examples/simulate -nodes nodes.json -pods pods.yaml
//	go run ./examples/simulate -nodes cluster.json -config scheduler.yaml -o json
//	go run ./examples/simulate -nodes nodes.csv -pods pods.csv -clock
//
// The files are the output of "kubectl get nodes -o json" and "kubectl get pods -A
// -o json" (or -o yaml; one file may hold both), manifests, or the node and pod
// tables of the OpenB trace. Pods that have a node already count as running there.
// Simulate turns Deployments and other workloads without pods into pods. With -pods
// alone, the nodes are those of the sample cluster; with neither, the whole cluster
// is the sample. A preempted pod waits again.
//
// With -config the profiles come from a KubeSchedulerConfiguration file, and each pod's
// spec.schedulerName selects its profile. If the file has errors, Simulate prints them
// one a line and exits with status 1.
//
// With -clock, and if pods have times of their own, time passes: pods come and end as
// their annotations or the columns of the OpenB trace say; see package simulate.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"

	"github.com/berth-sched/berth/examples/internal/display"
	"github.com/berth-sched/berth/examples/internal/input"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/simulate"
)

func main() {
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	var problems *config.Error
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.As(err, &problems):
		fmt.Fprintln(os.Stderr, problems) // one a line
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("simulate", flag.ContinueOnError)
	seed := flags.Uint64("seed", 1, "seed of all random choices")
	version := flags.String("profile", "", "rules of kube-scheduler `version` 1.18, 1.34 or 1.37, its way to break ties included;\n"+
		"by default those of 1.37 with ties broken at random")
	file := flags.String("config", "", "`file` with a KubeSchedulerConfiguration, for the rules of -profile")
	clock := flags.Bool("clock", false, "let time pass: pods come and end as annotations or the table say")
	var shared input.Flags
	if err := shared.Parse(flags, args, stderr); err != nil {
		return err
	}
	rules, err := input.RulesOf(*version, *file, *seed)
	if err != nil {
		return err
	}
	cluster, err := input.Load(shared.Nodes, shared.Pods)
	if err != nil {
		return err
	}
	cluster.Warn(stderr)
	if _, _, err := cluster.Snapshot(); err != nil { // turns workloads into pods
		return err
	}
	if !*clock && !cluster.Timed() {
		forgetTimes(&cluster.Objects)
	}
	trace, err := simulate.FromObjects(&cluster.Objects)
	if err != nil {
		return cluster.Explain(err)
	}
	var busiest *framework.Snapshot
	progress := display.NewProgress(stderr, len(cluster.Objects.Pods))
	result, err := simulate.Run(context.Background(), simulate.Config{
		Profiles: rules.Profiles, Trace: trace, Seed: *seed, Handle: rules.Handle, Backoff: rules.Backoff, NoControllers: true,
		Progress: func(p simulate.Progress) {
			progress.Step(p.Bound, "%d pods placed, %d wait, %v simulated", p.Bound, p.Waiting, p.Now)
		},
		Busiest: func(s *framework.Snapshot) { busiest = s },
	})
	progress.Done()
	if err != nil {
		return cluster.Explain(err)
	}
	tie := rules.Profiles[0].TieRule.String()
	if shared.JSON {
		return json.NewEncoder(stdout).Encode(struct {
			Profile string `json:"profile"`
			Tie     string `json:"tie"`
			Seed    uint64 `json:"seed"`
			*simulate.Result
		}{rules.Title, tie, *seed, result})
	}
	fmt.Fprintf(stdout, "cluster: %s, %d nodes\nrules: %s, ties %s, seed %d\n", cluster.Title, len(cluster.Objects.Nodes), rules.Title, tie, *seed)
	if ignored := cluster.Ignored(); ignored != "" {
		fmt.Fprintf(stdout, "ignored: %s\n", ignored)
	}
	if err := result.WriteTable(stdout, limit); err != nil {
		return err
	}
	fmt.Fprintln(stdout, "\nWhen most was in use:")
	return display.Utilization(stdout, busiest, limit)
}

// limit bounds the length of each list in the table.
const limit = 20

// forgetTimes lets all pods be there from the beginning, and never end.
func forgetTimes(o *api.Objects) {
	for i, p := range o.Pods {
		copied := *p
		copied.Annotations = maps.Clone(p.Annotations)
		delete(copied.Annotations, simulate.AnnotationArrival)
		delete(copied.Annotations, simulate.AnnotationRunTime)
		o.Pods[i] = &copied
	}
}
