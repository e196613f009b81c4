package rival

import (
	"fmt"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// Enable turns a feature gate on, for all schedulers that the process builds from
// then on; restore sets it back. Do not build a scheduler that needs the gate off in
// between.
func Enable(gate string) (restore func(), err error) {
	name := featuregate.Feature(gate)
	gates := utilfeature.DefaultMutableFeatureGate
	if _, ok := gates.GetAll()[name]; !ok {
		return nil, fmt.Errorf("feature gate %q: kube-scheduler has none of that name", gate)
	}
	was := gates.Enabled(name)
	set := func(on bool) error { return gates.Set(fmt.Sprintf("%s=%t", gate, on)) }
	if err := set(true); err != nil {
		return nil, fmt.Errorf("feature gate %q: %w", gate, err)
	}
	return func() {
		if err := set(was); err != nil {
			panic(err) // it was so before
		}
	}, nil
}
