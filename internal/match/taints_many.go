package match

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// areMany reports whether comparing each taint with each toleration costs more than an
// index. Pods may have any number of tolerations.
func areMany(taints []api.Taint, tolerations []api.Toleration) bool {
	return len(taints)*len(tolerations) > 1<<12
}

// manyTolerations is how many tolerations of a pod are indexed once, for all nodes.
const manyTolerations = 64

// The indexes of pods with many tolerations, without and with comparison of numbers.
var (
	plainTolerations = framework.NewPodDerived(func(p *framework.PodInfo) *tolerationIndex {
		return indexTolerations(p.Pod.Spec.Tolerations, false)
	})
	comparingTolerations = framework.NewPodDerived(func(p *framework.PodInfo) *tolerationIndex {
		return indexTolerations(p.Pod.Spec.Tolerations, true)
	})
)

func indexOf(p *framework.PodInfo, c Comparison) *tolerationIndex {
	if c {
		return comparingTolerations.Of(p)
	}
	return plainTolerations.Of(p)
}

// IsTainted reports whether a taint keeps the pod off the node, as [UntoleratedTaint]
// finds it.
func IsTainted(taints []api.Taint, p *framework.PodInfo, c Comparison) bool {
	if len(p.Pod.Spec.Tolerations) > manyTolerations {
		return indexOf(p, c).untoleratedTaint(taints) != nil
	}
	return UntoleratedTaint(taints, p.Pod.Spec.Tolerations, c) != nil
}

// CountPreferences is [UntoleratedPreferences] for a pod.
func CountPreferences(taints []api.Taint, p *framework.PodInfo, c Comparison) int64 {
	if len(p.Pod.Spec.Tolerations) > manyTolerations {
		return indexOf(p, c).untoleratedPreferences(taints)
	}
	return UntoleratedPreferences(taints, p.Pod.Spec.Tolerations, c)
}

// Tolerations finds taints that none of them tolerates. Many are indexed once, for all the
// lists of taints that are asked about. It never changes, so any number of goroutines may ask.
type Tolerations struct {
	list  []api.Toleration
	index *tolerationIndex // if there are many
}

// NewTolerations returns tolerations that compare no numbers.
func NewTolerations(list []api.Toleration) *Tolerations {
	t := &Tolerations{list: list}
	if len(list) > manyTolerations {
		t.index = indexTolerations(list, false)
	}
	return t
}

// Are reports whether these are the tolerations of the list, in the same memory.
func (t *Tolerations) Are(list []api.Toleration) bool {
	return len(t.list) == len(list) && (len(list) == 0 || &t.list[0] == &list[0])
}

// Untolerated is [UntoleratedTaint] for these tolerations.
func (t *Tolerations) Untolerated(taints []api.Taint) *api.Taint {
	if t.index != nil {
		return t.index.untoleratedTaint(taints)
	}
	return UntoleratedTaint(taints, t.list, false)
}

// tolerationIndex finds in a few steps whether any of many tolerations tolerates a
// taint.
type tolerationIndex struct {
	equal        map[equalToleration]bool
	exists       map[tolerationScope]bool
	below, above map[tolerationScope]int64 // the most generous bound of Lt and Gt
}

// tolerationScope says which taints a toleration is about; empty fields mean all.
type tolerationScope struct {
	key    string
	effect api.TaintEffect
}

type equalToleration struct {
	tolerationScope
	value string
}

func indexTolerations(tolerations []api.Toleration, c Comparison) *tolerationIndex {
	x := &tolerationIndex{map[equalToleration]bool{}, map[tolerationScope]bool{}, map[tolerationScope]int64{}, map[tolerationScope]int64{}}
	for i := range tolerations {
		o := &tolerations[i]
		scope := tolerationScope{o.Key, o.Effect}
		switch o.Operator {
		case "", api.TolerationOpEqual:
			x.equal[equalToleration{scope, o.Value}] = true
		case api.TolerationOpExists:
			x.exists[scope] = true
		case api.TolerationOpLt, api.TolerationOpGt:
			bound, ok := parseCanonicalInt(o.Value)
			if !bool(c) || !ok {
				continue
			}
			if o.Operator == api.TolerationOpLt {
				keepBest(x.below, scope, bound, func(a, b int64) bool { return a > b })
			} else {
				keepBest(x.above, scope, bound, func(a, b int64) bool { return a < b })
			}
		}
	}
	return x
}

func keepBest(bounds map[tolerationScope]int64, scope tolerationScope, bound int64, better func(a, b int64) bool) {
	if old, ok := bounds[scope]; !ok || better(bound, old) {
		bounds[scope] = bound
	}
}

// tolerates is [Tolerates] for the indexed tolerations.
func (x *tolerationIndex) tolerates(t *api.Taint) bool {
	value, isNumber := int64(0), false
	if len(x.below)+len(x.above) > 0 {
		value, isNumber = parseCanonicalInt(t.Value)
	}
	for _, scope := range [...]tolerationScope{{t.Key, t.Effect}, {t.Key, ""}, {"", t.Effect}, {"", ""}} {
		if x.exists[scope] || x.equal[equalToleration{scope, t.Value}] {
			return true
		}
		if !isNumber {
			continue
		}
		if bound, ok := x.below[scope]; ok && value < bound {
			return true
		}
		if bound, ok := x.above[scope]; ok && value > bound {
			return true
		}
	}
	return false
}

func (x *tolerationIndex) untoleratedTaint(taints []api.Taint) *api.Taint {
	for i := range taints {
		t := &taints[i]
		if (t.Effect == api.TaintEffectNoSchedule || t.Effect == api.TaintEffectNoExecute) && !x.tolerates(t) {
			return t
		}
	}
	return nil
}

func (x *tolerationIndex) untoleratedPreferences(taints []api.Taint) (count int64) {
	for i := range taints {
		if t := &taints[i]; t.Effect == api.TaintEffectPreferNoSchedule && !x.tolerates(t) {
			count++
		}
	}
	return count
}
