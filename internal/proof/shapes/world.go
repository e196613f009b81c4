package shapes

import (
	"context"
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// A World is a cluster to which the pods of a shape come.
type World struct {
	Snapshot  *framework.Snapshot
	Scheduler *scheduling.Scheduler

	shape  *Shape
	nodes  int
	next   int         // the pod to come
	placed []placement // by pod, from number gone on
	gone   int

	compared bool // decisions are compared with the reference path
	verified int  // how many were

	forks  []*framework.Snapshot // or other clusters
	forked int                   // pods that came to them
}

// A placement is where a pod is; the node is "" if it is on none.
type placement struct {
	pod  *framework.PodInfo
	node string
}

// Open makes the cluster of n nodes and a scheduler with the cache.
func Open(s *Shape, n int, cache scheduling.CacheConfig) (*World, error) {
	p := scheduling.Kubernetes137()
	if s.Profile != nil {
		s.Profile(&p)
	}
	p.Cache = cache
	sched, err := scheduling.New(p)
	if err != nil {
		return nil, err
	}
	snap, _, err := framework.SnapshotOf(s.Objects(n), framework.ZoneInterleaved)
	if err != nil {
		return nil, err
	}
	w := &World{Snapshot: snap, Scheduler: sched, shape: s, nodes: n}
	for i := range s.First(n) {
		info, err := snap.NewPodInfo(s.Pod(i, n))
		if err != nil {
			return nil, err
		}
		name := snap.AtSlot(s.On(i, n)).Name()
		if err := snap.AddPod(info, name); err != nil {
			return nil, err
		}
		w.placed = append(w.placed, placement{info, name})
	}
	w.next = len(w.placed)
	if s.Ready != nil {
		return w, s.Ready(w)
	}
	return w, nil
}

// An Arrival is a pod that comes, and those that leave before, by their indexes.
type Arrival struct {
	Pod   *api.Pod
	Leave []int
}

// Make makes the next pods, at most count.
func (w *World) Make(count int) []Arrival {
	var list []Arrival
	for range count {
		p := w.shape.Pod(w.next, w.nodes)
		if p == nil {
			break
		}
		list = append(list, Arrival{p, w.shape.Leaving(w.next, w.nodes)})
		w.next++
	}
	return list
}

// Node is the node that pod i is on, "" for none.
func (w *World) Node(i int) string { return w.placed[i-w.gone].node }

// Come lets a pod come.
func (w *World) Come(a Arrival) error {
	for _, i := range a.Leave {
		if err := w.leave(i); err != nil {
			return err
		}
	}
	info, err := w.Snapshot.NewPodInfo(a.Pod)
	if err != nil {
		return err
	}
	w.placed = append(w.placed, placement{pod: info})
	if w.shape.Come != nil {
		return w.shape.Come(w, info)
	}
	return w.Place(info)
}

func (w *World) leave(i int) error {
	p := w.placed[i-w.gone]
	w.placed[i-w.gone] = placement{}
	if w.shape.Leave == nil && 2*(i-w.gone) > len(w.placed) { // all before it have left
		w.placed = append([]placement(nil), w.placed[i-w.gone:]...)
		w.gone = i
	}
	if p.node == "" {
		return nil
	}
	return w.Scheduler.Release(w.Snapshot, p.pod, p.node)
}

// Place places the pod. If it fits nowhere, PostFilter is asked.
func (w *World) Place(p *framework.PodInfo) error {
	d, err := w.decide(w.Snapshot, p)
	if err == nil {
		w.placed[len(w.placed)-1].node = d.Node
	}
	return err
}

// decide places the pod in a snapshot. A pod that fits nowhere is no error.
func (w *World) decide(s *framework.Snapshot, p *framework.PodInfo) (scheduling.Decision, error) {
	var want *scheduling.Explanation
	if w.compared {
		want = w.Scheduler.Explain(s, p)
	}
	d, err := w.Scheduler.Place(s, p)
	if want != nil {
		w.verified++
		if differs := compare(want, d, err); differs != nil {
			return d, differs
		}
	}
	if err == nil {
		return d, nil
	}
	if _, ok := errors.AsType[*scheduling.FitError](err); !ok {
		return d, err
	}
	if w.Scheduler.HasPostFilter() {
		_, _, _, err := w.Scheduler.PostFilter(context.Background(), s, p, d)
		return d, err
	}
	return d, nil
}

// compare returns an error if a decision is not the one that the reference path made.
func compare(want *scheduling.Explanation, d scheduling.Decision, err error) error {
	text, tied, score := "", len(want.TiedNodes), int64(0)
	if err != nil {
		text = err.Error()
	}
	if want.Unscored {
		tied = 1
	}
	for i := range want.Nodes {
		if n := &want.Nodes[i]; n.Node == want.Chosen && !want.Unscored {
			score = n.Total
		}
	}
	if text != want.Error || d.Node != want.Chosen || d.Feasible != want.Feasible || err == nil && (d.TiedNodes != tied || d.Score != score) {
		return fmt.Errorf("pod %s: the decision is %+v, error %q; the reference path has node %q, score %d, %d feasible, %d tied, error %q",
			want.Pod, d, text, want.Chosen, score, want.Feasible, tied, want.Error)
	}
	return nil
}
