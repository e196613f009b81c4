package scheduling

import (
	"errors"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/pick"
)

// ClassKey returns the key of the pod's equivalence class: the filters of the profile
// answer alike for pods with equal keys that have no claims, while the snapshot's other
// objects and the pods on its nodes stay. ok is false if there is none, for example because
// a filter declares no scope. The first questions about a snapshot may find what keys are made
// of, so keys differ from later ones; [Scheduler.CommonClassKey] compares pods. The errors are those of
// [Scheduler.Schedule].
func (s *Scheduler) ClassKey(snap *framework.Snapshot, pod *framework.PodInfo) (key string, ok bool, err error) {
	pod, err = s.accept(snap, pod)
	if err != nil {
		return "", false, err
	}
	if s.busy {
		return "", false, &api.InvalidError{Object: "scheduler", Err: errors.New("is used by two goroutines at once")}
	}
	f := s.classes()
	c := &s.reference.cycle
	c.Reset(pod, snap, s.number, pick.Seed(s.profile.Seed, s.number))
	k := f.safeClassOf(c)
	if k == nil || s.filtersBeyondKey(k) {
		return "", false, nil
	}
	return k.key, true, nil
}

// CommonClassKey returns the key of the class that all pods are of, as [Scheduler.ClassKey] does. ok is false if
// they are of several, or one of them of none. For no pods the key is "".
//
// Cost: two questions for the key of each pod, at most.
func (s *Scheduler) CommonClassKey(snap *framework.Snapshot, pods ...*framework.PodInfo) (key string, ok bool, err error) {
	return commonKey(pods, func(p *framework.PodInfo) (string, bool, error) { return s.ClassKey(snap, p) })
}

// commonKey is the key that all pods have. The first questions may find what keys are made of: if a pod has
// another key than the first one had, the first one is asked about again.
func commonKey(pods []*framework.PodInfo, ask func(*framework.PodInfo) (key string, ok bool, err error)) (key string, ok bool, err error) {
	for i, pod := range pods {
		k, ok, err := ask(pod)
		if i > 0 && err == nil && k != key {
			key, _, err = ask(pods[0])
		}
		if !ok || err != nil || i > 0 && k != key {
			return "", false, err
		}
		key = k
	}
	return key, true, nil
}

// ClassKeysAt identifies all that [Scheduler.ClassKey] reads besides pods. While it is the
// same, for one snapshot, the keys of all pods stay.
func (s *Scheduler) ClassKeysAt(snap *framework.Snapshot) (at uint64) {
	f := s.classes()
	defer func() {
		f.contain(recover())
		at = f.keys.epoch
	}()
	f.keys.followAll(snap, &s.plugins)
	return at
}

// classes returns what finds the classes of pods.
func (s *Scheduler) classes() *incrementalPath {
	switch {
	case s.incremental != nil:
		return s.incremental
	case s.classifier == nil:
		s.classifier = newIncremental(s)
	}
	return s.classifier
}

// safeClassOf is classOf, but a plugin that panics makes no class.
func (f *incrementalPath) safeClassOf(c *framework.Cycle) (k *class) {
	defer func() {
		if v := recover(); v != nil {
			f.contain(v)
			k = nil
		}
	}()
	f.asked = nil
	return f.classOf(c)
}

// filtersBeyondKey reports whether a filter may read more of the pod than the key covers:
// its scope is the cluster, or it has none. DynamicResources has such a scope for extended
// resources, which are requests, and for claims.
func (s *Scheduler) filtersBeyondKey(k *class) bool {
	for i, reads := range k.filters.reads {
		if reads&framework.ReadsCluster == 0 {
			continue
		}
		if i >= len(s.profile.Filter) {
			return true
		}
		if _, ok := framework.As[filter.DynamicResources](s.profile.Filter[i]); !ok {
			return true
		}
	}
	return false
}
