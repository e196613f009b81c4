package main

import (
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/golden/pipeline"
	"github.com/berth-sched/berth/internal/parity/kubernetes/cases"
	"github.com/berth-sched/berth/internal/parity/kubernetes/rival"
	"github.com/berth-sched/berth/internal/parity/kubernetes/workload"
	"github.com/berth-sched/berth/scheduling"
)

// sequence takes the steps on both sides until they choose differently.
func (a *asker) sequence(i *item) verdict {
	profile, missing, err := pipeline.Profile(i.Config)
	if err != nil {
		return verdict{err: err}
	}
	_ = missing // sequences ask nothing of plugins that may be missing
	if i.Percentage == 0 {
		profile.Percentage = scheduling.Adaptive
	}
	theirs, err := a.scheduler(string(i.Config), i.Percentage)
	if err != nil {
		return verdict{err: err}
	}
	w := &walk{theirs: theirs, where: map[string]string{}, kube: map[string]*v1.Pod{}, nodes: map[string]*v1.Node{}, pods: map[string]*framework.PodInfo{}}
	if w.ours, err = scheduling.New(profile); err != nil {
		return verdict{err: err}
	}
	if err := w.begin(i); err != nil {
		return verdict{err: err}
	}
	for at := range i.Steps {
		difference, err := w.step(at, &i.Steps[at])
		if err != nil {
			return verdict{err: fmt.Errorf("step %d: %w", at, err)}
		}
		if difference != "" {
			return verdict{differences: []string{difference}, placements: w.placements}
		}
	}
	return verdict{placements: w.placements}
}

// walk is a sequence on its way.
type walk struct {
	theirs     *rival.Scheduler
	ours       *scheduling.Scheduler
	snapshot   *framework.Snapshot
	placements int

	// By name: their nodes. By key: the node of each pod, and the pod on either
	// side.
	nodes map[string]*v1.Node
	where map[string]string
	kube  map[string]*v1.Pod
	pods  map[string]*framework.PodInfo
}

// begin fills both sides.
func (w *walk) begin(i *item) (err error) {
	if err := w.theirs.Reset(); err != nil {
		return err
	}
	if err := w.theirs.FillObjects(i.Case); err != nil {
		return err
	}
	w.snapshot = framework.NewSnapshot(framework.ZoneInterleaved)
	if err := i.Case.PutObjects(w.snapshot); err != nil {
		return err
	}
	for _, n := range i.Nodes {
		if err := w.addNode(n); err != nil {
			return err
		}
	}
	for _, p := range i.Pods {
		if w.nodes[p.Spec.NodeName] == nil {
			continue
		}
		key := p.Key()
		if w.kube[key], err = workload.Convert[v1.Pod](p); err != nil {
			return err
		}
		if w.pods[key], err = w.snapshot.NewPodInfo(p); err != nil {
			return err
		}
		if err := errors.Join(w.theirs.AddPod(w.kube[key]), w.snapshot.AddPod(w.pods[key], p.Spec.NodeName)); err != nil {
			return err
		}
		w.where[key] = p.Spec.NodeName
	}
	return nil
}

// step takes a step and returns how the sides differ.
func (w *walk) step(at int, s *cases.Step) (string, error) {
	switch {
	case s.Place != nil:
		return w.place(at, s.Place)
	case s.Remove != "":
		return "", w.remove(s.Remove)
	case s.AddNode != nil:
		return "", w.addNode(s.AddNode)
	case s.UpdateNode != nil:
		return "", w.updateNode(s.UpdateNode)
	default:
		return "", w.removeNode(s.RemoveNode)
	}
}

// place schedules a pod on both sides.
func (w *walk) place(at int, p *framework.Pod) (string, error) {
	key := p.Key()
	if w.pods[key] != nil {
		return "", nil
	}
	theirPod, err := workload.Convert[v1.Pod](p)
	if err != nil {
		return "", err
	}
	pending, err := w.theirs.Prepare(theirPod)
	if err != nil {
		return "", err
	}
	ourPod, err := w.snapshot.NewPodInfo(p)
	if err != nil {
		return "", err
	}
	w.placements++
	theirResult, theirErr := w.theirs.Schedule(pending)
	d, ourErr := w.ours.Place(w.snapshot, ourPod)
	if ourErr != nil && theirErr != nil {
		if ours, theirs := text(ourErr), theirErr.Error(); ours != theirs {
			return fmt.Sprintf("sequence: step %d: error of %s = %q, want %q", at, key, ours, theirs), nil
		}
		return "", nil
	}
	if d.Node != theirResult.Node || ourErr != nil || theirErr != nil {
		return fmt.Sprintf("sequence: step %d: node of %s = %q (%v), want %q (%v)", at, key, d.Node, ourErr, theirResult.Node, theirErr), nil
	}
	if d.Feasible != theirResult.Feasible || d.Evaluated != theirResult.Evaluated {
		return fmt.Sprintf("sequence: step %d: nodes searched of %s = %d feasible of %d, want %d of %d",
			at, key, d.Feasible, d.Evaluated, theirResult.Feasible, theirResult.Evaluated), nil
	}
	w.kube[key], w.pods[key], w.where[key] = theirPod, ourPod, d.Node
	return "", nil
}

// text is kube-scheduler's text of an error of ours.
func text(err error) string {
	var plugin *scheduling.PluginError
	if errors.As(err, &plugin) {
		return pipeline.Text(plugin)
	}
	return err.Error()
}

func (w *walk) remove(key string) error {
	p := w.pods[key]
	if p == nil {
		return nil
	}
	err := errors.Join(w.theirs.RemovePod(w.kube[key]), w.ours.Release(w.snapshot, p, w.where[key]))
	delete(w.pods, key)
	delete(w.kube, key)
	delete(w.where, key)
	return err
}

func (w *walk) addNode(n *framework.Node) error {
	if w.nodes[n.Name] != nil {
		return nil
	}
	theirs, err := workload.Convert[v1.Node](n)
	if err != nil {
		return err
	}
	w.nodes[n.Name] = theirs
	w.theirs.AddNode(theirs)
	w.theirs.Refresh()
	return w.snapshot.AddNode(n)
}

func (w *walk) updateNode(n *framework.Node) error {
	before := w.nodes[n.Name]
	if before == nil {
		return nil
	}
	after, err := workload.Convert[v1.Node](n)
	if err != nil {
		return err
	}
	w.nodes[n.Name] = after
	w.theirs.UpdateNode(before, after)
	w.theirs.Refresh()
	return w.snapshot.UpdateNode(n)
}

// removeNode removes a node after its pods. The last one stays.
func (w *walk) removeNode(name string) error {
	node := w.nodes[name]
	if node == nil || len(w.nodes) == 1 {
		return nil
	}
	for key, where := range w.where {
		if where == name {
			if err := w.remove(key); err != nil {
				return err
			}
		}
	}
	delete(w.nodes, name)
	if err := errors.Join(w.theirs.RemoveNode(node), w.snapshot.RemoveNode(name)); err != nil {
		return err
	}
	w.theirs.Refresh()
	_, err := w.theirs.NodeOrder() // or a node that comes next would take its place
	return err
}
