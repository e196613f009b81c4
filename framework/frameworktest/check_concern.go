package frameworktest

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// checkConcern wants the plugin to leave pods alone that do not concern it.
func (k *kit) checkConcern() *Failure {
	k.calling = "Concern"
	parts := k.concerned.Concern()
	if again := k.concerned.Concern(); again != parts {
		return k.fail("Concern, asked again", fmt.Sprint(again), fmt.Sprint(parts))
	}
	r := k.random()
	for i, p := range k.pods {
		if k.pod = p; parts == 0 || k.counting(p)&parts != 0 {
			continue
		}
		const who = ", for a pod that does not concern the plugin"
		if s, _ := k.scope(p); s != (framework.Scope{}) && p.Parts()&parts == 0 {
			return k.fail("Scope"+who, fmt.Sprint(s), fmt.Sprint(framework.Scope{}))
		}
		if key := k.classKey(k.snapshot, p); key != "" {
			return k.fail("AppendClassKey"+who, fmt.Sprintf("%q", key), `""`)
		}
		if f := k.skips(p, parts, who); f != nil {
			return f
		}
		if k.reserve == nil || k.snapshot.Len() == 0 {
			continue
		}
		t := k.newTrial(i, r)
		t.before = t.content(t.snapshot)
		c := new(framework.Cycle)
		k.ask(c, t.snapshot, p, nil)
		sets := c.Runner().Sets
		if f := t.reserve(t.snapshot, c); f != nil {
			return f
		}
		if k.pod = p; !t.reserved {
			return k.fail("Reserve"+who, "a rejection", "Success")
		}
		if now := c.Runner().Sets; now != sets {
			return k.fail("values that Reserve sets"+who, fmt.Sprint(now-sets), "0")
		}
		if f := t.same(t.before, "after Reserve"+who+","); f != nil {
			return f
		}
		k.calling = "Unreserve"
		k.reserve.Unreserve(c, t.snapshot.Node(t.node))
		if f := t.same(t.before, "after Unreserve"+who+","); f != nil {
			return f
		}
		if d, ok := framework.As[framework.ReserveDetailer](k.plugin); ok {
			k.calling = "Reserves"
			if said := d.Reserves(t.snapshot, p, t.snapshot.Node(t.node)); said != "" {
				return k.fail("Reserves"+who, fmt.Sprintf("%q", said), `""`)
			}
		}
	}
	return nil
}

// skips wants PreFilter and PreScore to leave a pod alone that has none of the parts.
func (k *kit) skips(p *framework.PodInfo, parts framework.PodParts, who string) *Failure {
	if p.Parts()&parts != 0 {
		return nil
	}
	c := new(framework.Cycle)
	a := k.ask(c, k.snapshot, p, nil)
	binds := !a.preFilter.IsSuccess() || a.bound != nil || a.restrict
	if k.pod = p; k.preFilter != nil && binds && !a.preFilter.IsSkip() {
		return k.fail("PreFilter"+who, fmt.Sprint(a.preFilter), fmt.Sprint(framework.SkipStatus()))
	}
	if k.preScore != nil && len(a.feasible) > 0 && !a.preScore.IsSkip() {
		return k.fail("PreScore"+who, fmt.Sprint(a.preScore), fmt.Sprint(framework.SkipStatus()))
	}
	if n := c.Runner().Sets; n != 0 {
		return k.fail("values that are set"+who, fmt.Sprint(n), "0")
	}
	return nil
}

// counting returns the parts of the pod that count in the snapshot. A request for extended
// resources does not if there is no device class; whether one stands behind them is not
// looked at.
func (k *kit) counting(p *framework.PodInfo) framework.PodParts {
	if framework.Any[api.DeviceClass](k.snapshot) {
		return p.Parts()
	}
	return p.Parts() &^ framework.PartExtended
}
