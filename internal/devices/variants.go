package devices

import (
	"slices"
	"sync"
)

// A variant is the list of plans with a certain set of extended resources.
type variant struct {
	*extendedGrant
	plans []plan
}

// variants keeps the variants that nodes need: usually there is one.
type variants struct {
	mu   sync.Mutex
	list []*variant
}

func (v *variants) reset() { v.list = nil }

func (v *variants) get(f *Finder, resources []extendedResource) *variant {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, x := range v.list {
		if slices.Equal(x.resources, resources) {
			return x
		}
	}
	last := len(f.plans) - 1
	claim := *f.plans[last].claim
	x := &variant{extendedGrant: f.replicas.grant(resources)}
	claim.Spec.Devices.Requests = x.requests
	x.plans = append(slices.Clone(f.plans[:last]), plan{&claim, f.state.demand(f.snapshot, f.options.Compiler, &claim)})
	v.list = append(v.list, x)
	return x
}

// plansFor returns the plans of a node that must give devices for the extended resources;
// the variant is nil for a pod that needs none.
func (f *Finder) plansFor(extended []extendedResource) ([]plan, *variant) {
	if f.resources == nil || f.allocate[len(f.allocate)-1] != len(f.claims)-1 {
		return f.plans, nil
	}
	v := f.variants.get(f, extended)
	return v.plans, v
}
