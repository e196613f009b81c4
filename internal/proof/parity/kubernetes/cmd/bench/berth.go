package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/proof/gen/workload"
	"github.com/berth-sched/berth/scheduling"
)

// berth is this project's scheduler with the rules of kube-scheduler 1.37.
type berth struct {
	plain      bool // reference path: every plugin judges every node
	percentage int  // percentage of nodes to search
}

// warm is how many pods are placed before the clock starts. They include each class
// of the workloads at least twice.
const warm = 200

// open builds a cluster of n nodes.
func (b berth) open(n int) (*framework.Snapshot, error) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	for i := range n {
		if err := s.AddNode(workload.Node(i)); err != nil {
			return nil, err
		}
	}
	for j := range 2 * n {
		p := workload.InitPod(j, n)
		info, err := s.NewPodInfo(p)
		if err != nil {
			return nil, err
		}
		if err := s.AddPod(info, p.Spec.NodeName); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// prepare builds the cluster, the scheduler and the pods of a job.
func (b berth) prepare(j job, tie scheduling.TieRule) (*framework.Snapshot, *scheduling.Scheduler, []*framework.PodInfo, error) {
	p := scheduling.Kubernetes137()
	p.Percentage = b.percentage
	p.Cache.Off = b.plain
	p.TieRule = tie
	p.Seed = j.seed
	sched, err := scheduling.New(p)
	if err != nil {
		return nil, nil, nil, err
	}
	snap, err := b.open(j.nodes)
	if err != nil {
		return nil, nil, nil, err
	}
	pods := make([]*framework.PodInfo, j.pods)
	for i := range pods {
		if pods[i], err = snap.NewPodInfo(workload.Pod(j.kind, i)); err != nil {
			return nil, nil, nil, err
		}
	}
	return snap, sched, pods, nil
}

// measure implements runner. It reads the clock once for many pods, because placing
// one takes little longer than reading the clock. The first batches are small,
// because the reference path takes long. Between rounds all pods leave, so the first
// pods of the next round find every node changed; they are not timed.
func (b berth) measure(j job) (figures, error) {
	j.pods += warm
	snap, sched, pods, err := b.prepare(j, scheduling.Random)
	if err != nil {
		return figures{}, err
	}
	r := round{kind: j.kind, snap: snap, sched: sched, pods: pods, where: make([]string, len(pods))}
	runtime.GC()
	var f figures
	step := leastPods
	for ok := true; ok; ok = f.took < j.budget/4 {
		if err := r.place(0, warm); err != nil {
			return f, err
		}
		at, before := warm, mallocs()
		for at < len(pods) && (f.pods < leastPods || f.took < j.budget/4) {
			to := min(at+step, len(pods))
			start := time.Now()
			if err := r.place(at, to); err != nil {
				return f, err
			}
			f.took += time.Since(start)
			f.pods += to - at
			at, step = to, min(2*step, 1000)
		}
		f.allocs += mallocs() - before
		if err := r.release(at); err != nil {
			return f, err
		}
	}
	return f, nil
}

// A round places pods and removes them again.
type round struct {
	kind  workload.Kind
	snap  *framework.Snapshot
	sched *scheduling.Scheduler
	pods  []*framework.PodInfo
	where []string // the node of each pod
}

// place places the pods with indexes in [from, to).
func (r *round) place(from, to int) error {
	for i := from; i < to; i++ {
		d, err := r.sched.Place(r.snap, r.pods[i])
		if err != nil {
			return fmt.Errorf("%s: pod %d: %w", r.kind, i, err)
		}
		r.where[i] = d.Node
	}
	return nil
}

// release removes the pods with indexes below to.
func (r *round) release(to int) error {
	for i := range to {
		if err := r.sched.Release(r.snap, r.pods[i], r.where[i]); err != nil {
			return fmt.Errorf("%s: release of pod %d: %w", r.kind, i, err)
		}
	}
	return nil
}

// choices implements runner, with kube-scheduler's tie rule.
func (b berth) choices(j job) ([]string, error) {
	snap, sched, pods, err := b.prepare(j, scheduling.Heap)
	if err != nil {
		return nil, err
	}
	var nodes []string
	for i, p := range pods {
		d, err := sched.Place(snap, p)
		if err != nil {
			return nodes, fmt.Errorf("%s: pod %d: %w", j.kind, i, err)
		}
		nodes = append(nodes, d.Node)
	}
	return nodes, nil
}
