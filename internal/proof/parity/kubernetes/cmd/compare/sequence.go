package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden/pipeline"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/cases"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/rival"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/workload"
	"github.com/berth-sched/berth/scheduling"
)

// sequence takes the steps on both sides until they choose differently.
func (a *asker) sequence(i *item) verdict {
	w, err := a.walk(i)
	if err != nil {
		return verdict{err: err}
	}
	for at := range i.Steps {
		difference, err := w.step(at, &i.Steps[at])
		if err != nil {
			return verdict{err: fmt.Errorf("step %d: %w", at, err)}
		}
		if difference != "" {
			return verdict{differences: []string{difference}, placements: w.placements, known: w.known}
		}
	}
	return verdict{placements: w.placements, events: w.events, known: w.known}
}

// walk returns the sequence at its begin.
func (a *asker) walk(i *item) (*walk, error) {
	profile, missing, err := pipeline.Profile(i.Config)
	if err != nil {
		return nil, err
	}
	_ = missing // sequences ask nothing of plugins that may be missing
	if i.Percentage == 0 {
		profile.Percentage = scheduling.Adaptive
	}
	theirs, err := a.scheduler(string(i.Config), i.Percentage)
	if err != nil {
		return nil, err
	}
	w := &walk{
		theirs: theirs, preempt: i.Preempt, pods: map[string]*placed{}, pending: map[string]*placed{}, nodes: map[string]*v1.Node{},
		volumes: map[string]bool{}, claims: map[string]bool{}, events: map[string]int{},
	}
	if err := w.plugins(i, &profile); err != nil {
		return nil, err
	}
	if w.ours, err = scheduling.New(profile); err != nil {
		return nil, err
	}
	return w, w.begin(i)
}

// walk is a sequence in progress.
type walk struct {
	theirs     *rival.Scheduler
	ours       *scheduling.Scheduler
	snapshot   *framework.Snapshot
	room       *maker // nil: no preemption
	preempt    bool
	placements int
	known      int            // known deviations that were put right
	version    int            // of the objects that were put
	events     map[string]int // how often each kind of event happened

	nodes   map[string]*v1.Node // by name
	pods    map[string]*placed  // pods on nodes, by key
	pending map[string]*placed  // pods with a nominated node, by key
	leaving []string            // keys of pods that have been asked to leave

	volumes, claims map[string]bool // all names and keys so far
}

// placed is a pod on both sides.
type placed struct {
	kube *v1.Pod
	ours *framework.PodInfo
	node string

	reserved *rival.Placed // nil: bound
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
		q, err := w.pod(p)
		if err != nil {
			return err
		}
		if err := errors.Join(w.theirs.AddPod(q.kube), w.snapshot.AddPod(q.ours, p.Spec.NodeName)); err != nil {
			return err
		}
		q.node = p.Spec.NodeName
		w.pods[p.Key()] = q
	}
	for _, v := range i.PersistentVolumes {
		w.volumes[v.Key()] = true
	}
	for _, c := range i.PersistentVolumeClaims {
		w.claims[c.Key()] = true
	}
	return nil
}

// pod makes a pod for both sides.
func (w *walk) pod(p *api.Pod) (*placed, error) {
	kube, err := workload.Convert[v1.Pod](p)
	if err != nil {
		return nil, err
	}
	ours, err := w.snapshot.NewPodInfo(p)
	return &placed{kube: kube, ours: ours}, err
}

// step takes a step and returns how the sides differ.
func (w *walk) step(at int, s *cases.Step) (string, error) {
	difference, err := w.take(s)
	if difference == "" && err == nil && w.stateful(s) {
		difference, err = w.compareVolumes()
	}
	if difference != "" {
		difference = fmt.Sprintf("sequence: step %d: %s", at, difference)
	}
	return difference, err
}

func (w *walk) take(s *cases.Step) (string, error) {
	if done, err := w.change(s); done {
		return "", err
	}
	switch {
	case s.Place != nil:
		return w.arrive(s.Place)
	case s.Remove != "":
		return "", w.remove(s.Remove)
	case s.AddNode != nil:
		return "", w.addNode(s.AddNode)
	case s.UpdateNode != nil:
		return "", w.updateNode(s.UpdateNode)
	case s.RemoveNode != "":
		return "", w.removeNode(s.RemoveNode)
	case s.Retry != "":
		return w.retry(s.Retry)
	case s.Sweep:
		return "", w.sweep()
	}
	return "", w.object(s)
}

// arrive schedules a new pod on both sides.
func (w *walk) arrive(p *api.Pod) (string, error) {
	if key := p.Key(); w.pods[key] != nil || w.pending[key] != nil {
		return "", nil
	}
	q, err := w.pod(p)
	if err != nil {
		return "", err
	}
	return w.place(q)
}

// place schedules a pod on both sides.
func (w *walk) place(p *placed) (string, error) {
	key := p.ours.Pod.Key()
	pending, err := w.theirs.Prepare(p.kube)
	if err != nil {
		return "", err
	}
	w.placements++
	shared, err := w.sharedReservations(p)
	if err != nil {
		return "", err
	}
	theirs, theirErr := w.theirs.Place(pending)
	if theirs == nil {
		theirs = new(rival.Placed)
	}
	d, found, ourErr := w.decide(p)
	if ourErr != nil && theirErr != nil {
		if ours, theirs := text(ourErr), theirErr.Error(); ours != theirs {
			return fmt.Sprintf("error of %s = %q, want %q", key, ours, theirs), nil
		}
		w.countReasons(theirErr)
		if err := w.reinstate(p, shared, theirErr); err != nil {
			return "", err
		}
		var fit *scheduling.FitError
		if !found && w.preempt && errors.As(ourErr, &fit) {
			return w.makeRoom(p, pending, d)
		}
		return "", w.giveUp(p)
	}
	if d.Node != theirs.Node || ourErr != nil || theirErr != nil {
		return fmt.Sprintf("node of %s = %q (%v), want %q (%v)", key, d.Node, ourErr, theirs.Node, theirErr), nil
	}
	if d.Feasible != theirs.Feasible || d.Evaluated != theirs.Evaluated {
		return fmt.Sprintf("nodes searched of %s = %d feasible of %d, want %d of %d", key, d.Feasible, d.Evaluated, theirs.Feasible, theirs.Evaluated), nil
	}
	p.node, p.reserved = d.Node, theirs
	w.pods[key] = p
	w.events["placed"]++
	if w.pending[key] != nil {
		w.events["placed as promised"] += one(p.node == p.ours.Pod.Status.NominatedNodeName)
		w.events["placed elsewhere"] += one(p.node != p.ours.Pod.Status.NominatedNodeName)
		delete(w.pending, key)
		return "", w.theirs.Forget(p.kube)
	}
	return "", nil
}

// one returns 1 for true, 0 for false.
func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// countReasons counts reasons in an error of kube-scheduler: the ones about volumes,
// and the one of the plugin that rejects pods.
func (w *walk) countReasons(err error) {
	for _, reason := range reasonsToMeet {
		w.events[reason] += one(strings.Contains(err.Error(), reason))
	}
}

// decide runs berth for a pod up to Permit. found reports whether the pod had a
// node.
func (w *walk) decide(p *placed) (d scheduling.Decision, found bool, err error) {
	if d, err = w.ours.Schedule(w.snapshot, p.ours); err != nil {
		return d, false, err
	}
	w.snapshot.ClearNomination(p.ours, p.ours.Pod.Status.NominatedNodeName)
	if err := w.ours.Assume(w.snapshot, p.ours, d); err != nil {
		return d, true, err
	}
	b := w.ours.Binding(p.ours, d)
	if _, err := b.Permit(context.Background()); err != nil {
		return d, true, errors.Join(err, b.Unreserve(w.snapshot), w.snapshot.RemovePod(p.ours, d.Node))
	}
	return d, true, nil
}

// giveUp ends the attempt of a pod that has no node: it clears the pod's nomination.
func (w *walk) giveUp(p *placed) error {
	if key := p.ours.Pod.Key(); w.pending[key] != nil {
		delete(w.pending, key)
		w.snapshot.ClearNomination(p.ours, p.ours.Pod.Status.NominatedNodeName)
	}
	return w.theirs.Forget(p.kube)
}

// reasonsToMeet lists the reasons to count.
var reasonsToMeet = []string{
	"refused by Reserve", "refused by Permit", "exceed max volume count", "already in-use by another pod", "didn't find available persistent volumes",
	"did not have enough free storage", "unbound immediate", "didn't match PersistentVolume's node affinity", "is being deleted", "Insufficient cpu",
	"Too many pods", "not found",
}

// text returns kube-scheduler's text for an error of berth.
func text(err error) string {
	var plugin *scheduling.PluginError
	if errors.As(err, &plugin) {
		return pipeline.Text(plugin)
	}
	return err.Error()
}

// remove removes a pod from its node. If it is not bound, its reservations end.
func (w *walk) remove(key string) error {
	p := w.pods[key]
	if p == nil {
		return nil
	}
	delete(w.pods, key)
	if p.reserved != nil {
		w.events["given back"]++
		return errors.Join(w.theirs.Release(p.reserved), w.ours.Release(w.snapshot, p.ours, p.node))
	}
	return errors.Join(w.theirs.RemovePod(p.kube), w.snapshot.RemovePod(p.ours, p.node))
}

func (w *walk) addNode(n *api.Node) error {
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

func (w *walk) updateNode(n *api.Node) error {
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

// removeNode removes a node after its pods. The last node stays.
func (w *walk) removeNode(name string) error {
	node := w.nodes[name]
	if node == nil || len(w.nodes) == 1 {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(w.pods)) {
		if w.pods[key].node != name {
			continue
		}
		if err := w.remove(key); err != nil {
			return err
		}
	}
	delete(w.nodes, name)
	if err := errors.Join(w.theirs.RemoveNode(node), w.snapshot.RemoveNode(name)); err != nil {
		return err
	}
	w.theirs.Refresh()
	_, err := w.theirs.NodeOrder() // otherwise the next new node would take its place
	return err
}
