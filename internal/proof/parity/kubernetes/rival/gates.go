package rival

import (
	"fmt"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// Enable turns a feature gate on, for all schedulers of the process that are
// built from then on; restore sets it back. Nobody may build one meanwhile who
// wants it otherwise.
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
