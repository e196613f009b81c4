// Simulate places the pending pods of a cluster. It shows where they went, which fit
// nowhere and why, and how full the nodes are then.
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
// is the sample.
//
// Simulate places pods of higher priority first, others in the order of the file.
// The same input and seed give the same placements, and with -o json the same bytes.
//
// # A configuration
//
// With -config the profiles come from a KubeSchedulerConfiguration file, and each
// pod's spec.schedulerName selects its profile. You can use the plugins of
// kube-scheduler and Koordinator's LoadAwareScheduling; extenders of the file are
// called. In this mode a whole scheduler works, with its queue and preemption. A
// preempted pod comes back at once as a new one, as its workload would make it. If
// the file has errors, Simulate prints them one a line and exits with status 1.
//
// # A clock
//
// With -clock, and if pods have times of their own, time passes: a virtual clock
// jumps from one event to the next. Pods come and end as their annotations say,
//
//	berth-sched.github.io/arrival: 1h30m   # after the beginning
//	berth-sched.github.io/run-time: "600"  # seconds, or a duration; without it for ever
//
// or as the columns creation_time and deletion_time of the OpenB trace say. The
// output then also shows how long pods waited, the peak utilization, and how much
// time was simulated. Pods that still wait when nothing more can happen fit nowhere.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/berth-sched/berth/examples/internal/display"
	"github.com/berth-sched/berth/examples/internal/input"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
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
	rules, err := rulesOf(*version, *file, *seed)
	if err != nil {
		return err
	}
	cluster, err := input.Load(shared.Nodes, shared.Pods)
	if err != nil {
		return err
	}
	cluster.Warn(stderr)
	snap, pending, err := cluster.Snapshot()
	if err != nil {
		return err
	}
	r := newReport(cluster, snap, pending, rules)
	switch timed := *clock || cluster.Timed(); {
	case timed || *file != "":
		snap, err = r.live(cluster, snap, pending, rules, timed, stderr)
	default:
		err = r.place(snap, pending, rules, stderr)
	}
	if err != nil {
		return err
	}
	if shared.JSON {
		return r.writeJSON(stdout)
	}
	return r.writeTable(stdout, snap)
}

// place places the pods, those of higher priority first, while time stands still.
func (r *report) place(snap *framework.Snapshot, pending []*framework.PodInfo, rules *rules, stderr io.Writer) error {
	s, err := scheduling.New(rules.profiles[0])
	if err != nil {
		return err
	}
	slices.SortStableFunc(pending, func(x, y *framework.PodInfo) int { return cmp.Compare(y.Priority, x.Priority) })
	progress := display.NewProgress(stderr, len(pending))
	defer progress.Done()
	start := time.Now()
	for i, pod := range pending {
		progress.Step(i, "%d pods placed, %d fit nowhere", len(r.Placements), len(r.Unschedulable))
		if len(pod.Pod.Spec.SchedulingGates) > 0 {
			r.reject(pod, gated)
			continue
		}
		d, err := s.Place(snap, pod)
		var fit *scheduling.FitError
		switch {
		case err == nil:
			r.Placements = append(r.Placements, placement{Pod: pod.Pod.Key(), Node: d.Node})
		case errors.As(err, &fit) || errors.Is(err, scheduling.ErrNoNodes):
			r.reject(pod, err.Error())
		default:
			return fmt.Errorf("pod %s: %w", pod.Pod.Key(), err)
		}
	}
	r.elapsed = time.Since(start)
	return nil
}

// gated is the rejection reason for pods with scheduling gates.
const gated = "Scheduling is blocked due to non-empty scheduling gates"
