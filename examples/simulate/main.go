// Simulate places the pending pods of a cluster one by one, and shows where they
// went, which fit nowhere and why, and how full the nodes are then.
//
//	go run ./examples/simulate
//	go run ./examples/simulate -nodes nodes.json -pods pods.yaml
//	go run ./examples/simulate -nodes cluster.json -o json
//
// The files are what "kubectl get nodes -o json" and "kubectl get pods -A -o
// json" print (or -o yaml; one file may hold both), manifests, or the node and
// pod tables of the OpenB trace. Pods that have a node already count as running
// there. Deployments and other workloads without pods are turned into pods. With
// -pods alone, the nodes are those of the sample cluster; with neither, there is
// a sample cluster of everything.
//
// Pods of higher priority are placed first, others in the order of the file. The
// same input and seed give the same placements, and with -o json the same bytes.
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
)

func main() {
	switch err := run(os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("simulate", flag.ContinueOnError)
	seed := flags.Uint64("seed", 1, "seed of all random choices")
	rules := flags.String("profile", "", "rules of kube-scheduler `version` 1.18, 1.34 or 1.37, its way to break ties included;\n"+
		"by default those of 1.37 with ties broken at random")
	var shared input.Flags
	if err := shared.Parse(flags, args, stderr); err != nil {
		return err
	}
	profile, err := profileOf(*rules)
	if err != nil {
		return err
	}
	profile.Seed = *seed

	cluster, err := input.Load(shared.Nodes, shared.Pods)
	if err != nil {
		return err
	}
	snap, pending, err := cluster.Snapshot()
	if err != nil {
		return err
	}
	r := newReport(cluster, snap, pending, profile)
	if err := r.place(snap, pending, profile, stderr); err != nil {
		return err
	}
	if shared.JSON {
		return r.writeJSON(stdout)
	}
	return r.writeTable(stdout, snap)
}

// profileOf returns the preset of a version of kube-scheduler.
func profileOf(version string) (scheduling.Profile, error) {
	var p scheduling.Profile
	switch version {
	case "":
		p = scheduling.Kubernetes137()
		p.Tie = scheduling.Random
	case "1.18":
		p = scheduling.Kubernetes118()
	case "1.34":
		p = scheduling.Kubernetes134()
	case "1.37":
		p = scheduling.Kubernetes137()
	default:
		return p, fmt.Errorf("-profile: %q: want 1.18, 1.34 or 1.37", version)
	}
	p.Name = "kube-scheduler " + cmp.Or(version, "1.37")
	return p, nil
}

// place places the pods, those of higher priority first.
func (r *report) place(snap *framework.Snapshot, pending []*framework.PodInfo, profile scheduling.Profile, stderr io.Writer) error {
	s, err := scheduling.New(profile)
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
			r.reject(pod, "Scheduling is blocked due to non-empty scheduling gates")
			continue
		}
		d, err := s.Place(snap, pod)
		var fit *scheduling.FitError
		switch {
		case err == nil:
			r.Placements = append(r.Placements, placement{pod.Pod.Key(), d.Node})
		case errors.As(err, &fit) || errors.Is(err, scheduling.ErrNoNodes):
			r.reject(pod, err.Error())
		default:
			return fmt.Errorf("pod %s: %w", pod.Pod.Key(), err)
		}
	}
	r.elapsed = time.Since(start)
	return nil
}
