package podgroups

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// CheckTree compares the end of an attempt for a tree of groups with the ends that were
// seen: the node of each pod or the one that it is nominated to, the victims, and which
// groups stand.
func CheckTree(c *golden.PodGroupCase) []string {
	k := &checker{PodGroupCase: c}
	if err := k.prepareTree(); err != nil {
		return []string{err.Error()}
	}
	root := framework.Lookup[api.CompositePodGroup](k.snapshot, "default/"+c.Group)
	known := map[string]int{}
	for _, p := range slices.Concat(c.Pods, c.Members) {
		known[p.SchedulingGroupName()]++
	}
	if gated := !gang.PreEnqueueSet(k.snapshot, root, known).IsSuccess(); gated || c.Expect.Gated != "" {
		k.compare("gated", gated, c.Expect.Gated != "")
		return k.differences
	}
	set, err := gang.SetOf(k.snapshot, root, k.pods)
	if err != nil {
		return []string{err.Error()}
	}
	p := k.placer(false)
	before := k.generations()
	out, err := p.PlaceSet(k.snapshot, set)
	if err != nil {
		return []string{err.Error()}
	}
	got := golden.PodGroupFinal{Pods: map[string]golden.PodGroupPodLeft{}, Groups: map[string]golden.PodGroupCondition{}}
	conditions(set, out, got.Groups)
	if out.Status == gang.Placed {
		for _, pod := range k.pods {
			if _, n := k.snapshot.Pod(pod.Pod.Key()); n != nil {
				got.Pods[pod.Pod.Name] = golden.PodGroupPodLeft{Node: n.Name()}
			}
		}
	} else {
		k.compare("generations after a failed PlaceSet", k.generations(), before)
		e, err := k.evict(p, set, out, &got)
		if err != nil {
			return []string{err.Error()}
		}
		if e != nil && e.Status == framework.Success && partlyFits(e.Set) {
			return k.differences // see "Differs:" at PreemptSet
		}
	}
	k.among(got)
	return k.differences
}

// conditions notes which groups stand.
func conditions(s *gang.Set, o *gang.SetOutcome, groups map[string]golden.PodGroupCondition) {
	for i, c := range s.Children {
		var out gang.ChildOutcome
		if o != nil && i < len(o.Children) {
			out = o.Children[i]
		}
		switch c := c.(type) {
		case *gang.Set:
			conditions(c, out.Set, groups)
		case *gang.Group:
			groups[c.Name] = golden.PodGroupCondition{Status: "False"}
			if best := out.Group; best != nil && (best.Status == gang.Placed || best.Best() != nil && best.Best().Succeeded && o.Status == gang.Placed) {
				groups[c.Name] = golden.PodGroupCondition{Status: "True"}
			}
		}
	}
}

// partlyFits reports whether, in a tree that stands, pods fit of a group or inner set that
// does not.
func partlyFits(o *gang.SetOutcome) bool {
	return o != nil && slices.ContainsFunc(o.Children, func(c gang.ChildOutcome) bool {
		if c.Set != nil {
			return c.Set.Status != gang.Placed || partlyFits(c.Set)
		}
		return c.Group.Status != gang.Placed && slices.ContainsFunc(c.Group.Trials, func(t *gang.Trial) bool { return t.Pods > 0 })
	})
}

// evict adds what preemption for the tree finds; nil if nothing is asked.
func (k *checker) evict(p *gang.Placer, set *gang.Set, out *gang.SetOutcome, got *golden.PodGroupFinal) (*gang.Eviction, error) {
	if out.Status == gang.Stuck {
		return nil, nil
	}
	e, err := p.PreemptSet(k.snapshot, set)
	if err != nil || e.Status != framework.Success {
		return nil, err
	}
	for _, at := range e.Nominated {
		name := at.Pod[len("default/"):]
		got.Pods[name] = golden.PodGroupPodLeft{Nominated: at.Node}
	}
	for _, v := range e.Victims() {
		got.Victims = append(got.Victims, v.Pod.Pod.Name)
	}
	slices.Sort(got.Victims)
	return e, nil
}

// CheckVictims compares what a pod of no group preempts with the ends that were seen.
func CheckVictims(c *golden.PodGroupCase) []string {
	k := &checker{PodGroupCase: c}
	if err := k.prepareTree(); err != nil {
		return []string{err.Error()}
	}
	k.profile.PostFilter = []framework.Plugin{preemption.DefaultPreemption{PodGroups: true}}
	sched, err := scheduling.New(k.profile)
	if err != nil {
		return []string{err.Error()}
	}
	pod := k.pods[0]
	got := golden.PodGroupFinal{Pods: map[string]golden.PodGroupPodLeft{}}
	d, err := sched.Schedule(k.snapshot, pod)
	var fit *scheduling.FitError
	switch {
	case err == nil:
		got.Pods[pod.Pod.Name] = golden.PodGroupPodLeft{Node: d.Node}
	case errors.As(err, &fit):
		result, _, status, err := sched.PostFilter(context.Background(), k.snapshot, pod, d)
		if err != nil {
			return []string{err.Error()}
		}
		if status.IsSuccess() {
			got.Pods[pod.Pod.Name] = golden.PodGroupPodLeft{Nominated: result.Nominated}
			for _, v := range result.Victims {
				got.Victims = append(got.Victims, v.Pod.Pod.Name)
			}
			slices.Sort(got.Victims)
		}
	default:
		return []string{err.Error()}
	}
	k.among(got)
	return k.differences
}

// prepareTree is prepare with the groups of groups.
func (k *checker) prepareTree() error {
	if err := k.prepare(); err != nil {
		return err
	}
	for _, g := range k.CompositePodGroups {
		if err := framework.Put(k.snapshot, g); err != nil {
			return err
		}
	}
	return nil
}

// among compares an end with those that were seen, but for texts and reasons.
func (k *checker) among(got golden.PodGroupFinal) {
	var closest []string
	for _, want := range k.Expect.Finals {
		pods := map[string]golden.PodGroupPodLeft{}
		for name, p := range want.Pods {
			if p.Node != "" || p.Nominated != "" {
				pods[name] = golden.PodGroupPodLeft{Node: p.Node, Nominated: p.Nominated}
			}
		}
		groups := map[string]golden.PodGroupCondition{}
		for name, c := range want.Groups {
			groups[name] = golden.PodGroupCondition{Status: c.Status}
		}
		one := &checker{}
		one.compare("pods", got.Pods, pods)
		if len(got.Groups) > 0 {
			one.compare("groups", got.Groups, groups)
		}
		if len(got.Victims)+len(want.Victims) > 0 && !reflect.DeepEqual(got.Victims, want.Victims) {
			one.differ("victims = %v, want %v", got.Victims, want.Victims)
		}
		if len(one.differences) == 0 {
			return
		}
		if closest == nil || len(one.differences) < len(closest) {
			closest = one.differences
		}
	}
	k.differ("%d ends: %v", len(k.Expect.Finals), closest)
}
