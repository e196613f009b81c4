package frameworktest

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// checkVarying wants the same scope for pods that have the same parts, but none of those that
// vary, and are equal in the fields that one of the scopes names.
func (k *kit) checkVarying() *Failure {
	varying := k.scoper.(incremental.VaryingScoper)
	k.calling = "ScopeVaries"
	varies := varying.ScopeVaries()
	if again := varying.ScopeVaries(); again != varies {
		return k.fail("ScopeVaries, asked again", fmt.Sprint(again), fmt.Sprint(varies))
	}
	k.calling = "Scope"
	var pods []*framework.PodInfo
	scopes := map[*framework.PodInfo]framework.Scope{}
	for _, p := range k.pods {
		if k.pod = p; p.Parts()&varies != 0 {
			continue
		}
		s := k.scoper.Scope(p)
		if s.Reads&framework.ReadsCluster != 0 {
			return k.fail("Scope, for a pod that ScopeVaries does not name", fmt.Sprint(s), "one that does not read the cluster")
		}
		pods = append(pods, p)
		scopes[p] = s
	}
	for _, one := range pods {
		for _, other := range pods {
			want, fields := scopes[one], scopes[one].Pod
			if got := scopes[other]; got != want && other.Parts() == one.Parts() && other.ClassKey(fields) == one.ClassKey(fields) {
				k.pod = other
				return k.fail("Scope, for a pod with the parts and fields of "+one.Pod.Name, fmt.Sprint(got), fmt.Sprint(want))
			}
		}
	}
	return nil
}
