package page

import (
	"errors"
	"strconv"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// peers count pods by their labels; those of a namespace that have the same count once. Affinity terms and spread
// constraints of a pod are compared with the pods that have a label which they demand.
type peers struct {
	all    int
	keys   map[string]int
	labels map[[2]string]int
}

func peersOf(pods []*framework.PodInfo) *peers {
	x := &peers{keys: map[string]int{}, labels: map[[2]string]int{}}
	known := map[string]bool{}
	for _, p := range pods {
		key := p.ClassKey(framework.FieldNamespace | framework.FieldLabels)
		if known[key] {
			continue
		}
		known[key] = true
		x.all++
		for k, v := range p.Pod.Labels {
			x.keys[k]++
			x.labels[[2]string{k, v}]++
		}
	}
	return x
}

// demanded is how many a selector is compared with.
func (x *peers) demanded(s *api.LabelSelector) int {
	if s == nil {
		return 0
	}
	n := x.all
	for k, v := range s.MatchLabels {
		n = min(n, x.labels[[2]string{k, v}])
	}
	for i := range s.MatchExpressions {
		switch e := &s.MatchExpressions[i]; e.Operator {
		case api.LabelSelectorOpIn:
			some := 0
			for _, v := range e.Values {
				some += x.labels[[2]string{e.Key, v}]
			}
			n = min(n, some)
		case api.LabelSelectorOpExists:
			n = min(n, x.keys[e.Key])
		}
	}
	return n
}

// work is that of the comparisons for the terms and constraints of a pod, in a decision about one of an unknown class.
func (x *peers) work(spec *api.PodSpec) int {
	n := 0
	for i := range spec.TopologySpreadConstraints {
		n += x.demanded(spec.TopologySpreadConstraints[i].LabelSelector)
	}
	eachTerm(spec.Affinity, func(t *api.PodAffinityTerm) { n += x.demanded(t.LabelSelector) })
	return n * pairWork
}

// check refuses pods whose terms and constraints are too many for so many pods.
func (x *peers) check(pods []*framework.PodInfo) error {
	checked := map[specParts]bool{}
	for _, info := range pods {
		p := info.Pod
		key := specParts{affinity: p.Spec.Affinity, constraints: first(p.Spec.TopologySpreadConstraints)}
		if checked[key] {
			continue
		}
		checked[key] = true
		if x.work(&p.Spec) > maxSearch {
			return &api.InvalidError{
				Object: "pod " + p.Key(), Field: "spec.affinity", Value: strconv.Itoa(ownTerms(&p.Spec)) + " terms",
				Err: errors.New("are too many to compare them with " + strconv.Itoa(x.all) + " pods, on this page"),
			}
		}
	}
	return nil
}
