package frameworktest

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// classKey is the plugin's own part of the class key; empty if it has none.
func (k *kit) classKey(s *framework.Snapshot, p *framework.PodInfo) string {
	if k.keyer == nil {
		return ""
	}
	k.calling = "AppendClassKey"
	return string(k.keyer.AppendClassKey(nil, s, p))
}

// checkClassKey asks for keys in clusters that differ. While the version stands, no key
// may change; and a plugin whose answers are kept must find its keys from the pod alone.
// That pods with equal keys get equal answers is checked with the scope.
func (k *kit) checkClassKey() *Failure {
	r := k.random()
	const prefix = "prefix"
	for _, p := range k.pods {
		k.pod = p
		key := k.classKey(k.snapshot, p)
		if again := k.classKey(k.snapshot, p); again != key {
			return k.fail("AppendClassKey, asked again", fmt.Sprintf("%q", again), fmt.Sprintf("%q", key))
		}
		if f := k.concernsKey(p, key); f != nil {
			return f
		}
		if got := string(k.keyer.AppendClassKey([]byte(prefix), k.snapshot, p)); got != prefix+key {
			return k.fail("AppendClassKey, behind other parts", fmt.Sprintf("%q", got), fmt.Sprintf("%q", prefix+key))
		}
	}
	for _, c := range k.changes(r) {
		f := k.snapshot.Fork()
		k.calling = "ClassKeyVersion"
		before := k.keyer.ClassKeyVersion(f)
		was := map[*framework.PodInfo]string{}
		for _, p := range k.pods {
			was[p] = k.classKey(f, p)
		}
		if err := c.apply(f); err != nil {
			continue
		}
		k.calling = "ClassKeyVersion"
		after := k.keyer.ClassKeyVersion(f)
		for _, p := range k.pods {
			key := k.classKey(f, p)
			if key == was[p] {
				continue
			}
			k.pod = p
			if scope, ok := k.scope(p); ok && scope.Reads&(framework.ReadsDomain|framework.ReadsFeasible|framework.ReadsCluster) == 0 {
				return k.fail("AppendClassKey, with "+c.what+", though answers are kept,", fmt.Sprintf("%q", key), fmt.Sprintf("%q", was[p]))
			}
			if after == before {
				return k.fail("ClassKeyVersion, with "+c.what+", which changes a key,", fmt.Sprint(after), fmt.Sprintf("another version than %d", before))
			}
		}
	}
	return nil
}

// concernsKey wants no key for a pod that does not concern the key.
func (k *kit) concernsKey(p *framework.PodInfo, key string) *Failure {
	of, ok := k.keyer.(incremental.ConcernedKeyer)
	if !ok {
		return nil
	}
	k.calling = "KeyConcern"
	if parts := of.KeyConcern(); parts != 0 && k.counting(p)&parts == 0 && key != "" {
		return k.fail("AppendClassKey, for a pod that does not concern the key", fmt.Sprintf("%q", key), `""`)
	}
	return nil
}
