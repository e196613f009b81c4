package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/rival"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/workload"
)

// kube is kube-scheduler with some options.
type kube struct {
	options rival.Options
	stock   *stock
}

// stock holds the objects of a cluster, which are the same in every run.
type stock struct {
	nodes []*v1.Node
	init  []*v1.Pod
}

// fill makes the objects of a cluster of n nodes, once.
func (s *stock) fill(n int) error {
	if len(s.nodes) == n {
		return nil
	}
	s.nodes, s.init = nil, nil
	for i := range n {
		node, err := workload.Node(i)
		if err != nil {
			return err
		}
		s.nodes = append(s.nodes, node)
	}
	for j := range 2 * n {
		p, err := workload.InitPod(j, n)
		if err != nil {
			return err
		}
		s.init = append(s.init, p)
	}
	return nil
}

// open builds the scheduler over a cluster of n nodes.
func (k kube) open(ctx context.Context, n int) (*rival.Scheduler, error) {
	if err := k.stock.fill(n); err != nil {
		return nil, err
	}
	s, err := rival.New(ctx, k.options)
	if err != nil {
		return nil, err
	}
	for _, node := range k.stock.nodes {
		s.AddNode(node)
	}
	for _, p := range k.stock.init {
		if err := s.AddPod(p); err != nil {
			return nil, err
		}
	}
	// The first refresh copies the whole cluster; no pod's time includes it.
	_, err = s.NodeOrder()
	return s, err
}

// each prepares the pods of a job one by one and gives them to step, until step
// returns false.
func (k kube) each(j job, step func(*rival.Scheduler, *rival.Pending) (bool, error)) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := k.open(ctx, j.nodes)
	if err != nil {
		return err
	}
	pods := make([]*v1.Pod, j.pods)
	for i := range pods {
		if pods[i], err = workload.Pod(j.kind, i); err != nil {
			return err
		}
	}
	runtime.GC()
	for i, p := range pods {
		pending, err := s.Prepare(p)
		if err != nil {
			return err
		}
		if more, err := step(s, pending); err != nil {
			return fmt.Errorf("%s: pod %d: %w", j.kind, i, err)
		} else if !more {
			return nil
		}
	}
	return nil
}

// measure implements runner. The allocations include about thirty for preparing the
// pod.
func (k kube) measure(j job) (figures, error) {
	var f figures
	var before uint64
	err := k.each(j, func(s *rival.Scheduler, p *rival.Pending) (bool, error) {
		if f.pods == 0 {
			before = mallocs()
		}
		start := time.Now()
		_, err := s.Schedule(p)
		f.took += time.Since(start)
		f.pods++
		return f.pods < leastPods || f.took < j.budget, err
	})
	f.allocs = mallocs() - before
	return f, err
}

// choices implements runner, with one worker.
func (k kube) choices(j job) ([]string, error) {
	k.options.Parallelism = 1
	var nodes []string
	err := k.each(j, func(s *rival.Scheduler, p *rival.Pending) (bool, error) {
		r, err := s.Schedule(p)
		nodes = append(nodes, r.Node)
		return true, err
	})
	return nodes, err
}
