package match

import "github.com/berth-sched/berth/framework/api"

// Comparison says whether tolerations may compare numbers with the operators Lt and
// Gt. In Kubernetes 1.37 this is an alpha feature that is off by default.
type Comparison bool

// Tolerates reports whether one of the tolerations tolerates the taint. Its effect
// and key must be empty or equal the taint's, and the operator must hold. Equal
// (also the empty operator) compares the values, and Exists always holds. Lt
// requires a taint value below the toleration's value, Gt one above it, both as
// canonical decimal integers.
func Tolerates(tolerations []api.Toleration, t *api.Taint, c Comparison) bool {
	for i := range tolerations {
		if tolerates(&tolerations[i], t, c) {
			return true
		}
	}
	return false
}

func tolerates(o *api.Toleration, t *api.Taint, c Comparison) bool {
	if o.Effect != "" && o.Effect != t.Effect || o.Key != "" && o.Key != t.Key {
		return false
	}
	switch o.Operator {
	case "", api.TolerationOpEqual:
		return o.Value == t.Value
	case api.TolerationOpExists:
		return true
	case api.TolerationOpLt, api.TolerationOpGt:
		if !c {
			return false
		}
		bound, ok := parseCanonicalInt(o.Value)
		value, ok2 := parseCanonicalInt(t.Value)
		if o.Operator == api.TolerationOpLt {
			return ok && ok2 && value < bound
		}
		return ok && ok2 && value > bound
	}
	return false
}

// UntoleratedTaint returns the first taint that keeps pods with these tolerations
// off the node (effect NoSchedule or NoExecute), or nil.
func UntoleratedTaint(taints []api.Taint, tolerations []api.Toleration, c Comparison) *api.Taint {
	if areMany(taints, tolerations) {
		return indexTolerations(tolerations, c).untoleratedTaint(taints)
	}
	for i := range taints {
		t := &taints[i]
		if t.Effect != api.TaintEffectNoSchedule && t.Effect != api.TaintEffectNoExecute {
			continue
		}
		if !Tolerates(tolerations, t, c) {
			return t
		}
	}
	return nil
}

// UntoleratedPreferences counts the taints of effect PreferNoSchedule without a
// matching toleration.
func UntoleratedPreferences(taints []api.Taint, tolerations []api.Toleration, c Comparison) int64 {
	if areMany(taints, tolerations) {
		return indexTolerations(tolerations, c).untoleratedPreferences(taints)
	}
	var count int64
	for i := range taints {
		t := &taints[i]
		if t.Effect == api.TaintEffectPreferNoSchedule && !Tolerates(tolerations, t, c) {
			count++
		}
	}
	return count
}
