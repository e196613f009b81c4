package topo

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// CheckDefaults reports all problems of the default constraints of the plugin
// PodTopologySpread, in kube-scheduler's words, one error each. list says whether
// the plugin uses them.
func CheckDefaults(list bool, constraints []api.TopologySpreadConstraint) error {
	var errs []error
	fail := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("PodTopologySpread: "+format, args...))
	}
	if !list && len(constraints) > 0 {
		fail("defaultConstraints: they need list defaulting")
	}
	type identity struct {
		key    string
		action api.UnsatisfiableConstraintAction
	}
	seen := make(map[identity]bool, len(constraints))
	for i := range constraints {
		c := &constraints[i]
		at := fmt.Sprintf("defaultConstraints[%d]", i)
		if c.MaxSkew <= 0 {
			fail("%s.maxSkew: Invalid value: %d: not in valid range (0, inf)", at, c.MaxSkew)
		}
		if c.TopologyKey == "" {
			fail("%s.topologyKey: Required value: can not be empty", at)
		} else {
			for _, problem := range match.LabelKeyProblems(c.TopologyKey) {
				fail("%s.topologyKey: Invalid value: %q: %s", at, c.TopologyKey, problem)
			}
		}
		switch c.WhenUnsatisfiable {
		case api.DoNotSchedule, api.ScheduleAnyway:
		case "":
			fail("%s.whenUnsatisfiable: Required value: can not be empty", at)
		default:
			fail("%s.whenUnsatisfiable: Unsupported value: %q: supported values: %q, %q", at,
				c.WhenUnsatisfiable, api.DoNotSchedule, api.ScheduleAnyway)
		}
		if c.LabelSelector != nil {
			fail("%s.labelSelector: Forbidden: constraint must not define a selector, as they deduced for each pod", at)
		}
		same := identity{c.TopologyKey, c.WhenUnsatisfiable}
		if seen[same] {
			fail("%s: Duplicate value: \"{%s, %s}\"", at, c.TopologyKey, c.WhenUnsatisfiable)
		}
		seen[same] = true
	}
	return errors.Join(errs...)
}
