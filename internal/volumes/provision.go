package volumes

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/resource"
)

// noProvisioner is the provisioner of classes without automatic provisioning.
const noProvisioner = "kubernetes.io/no-provisioner"

// A provision says where a volume could be made for a claim.
type provision struct {
	*offer
	counted bool  // capacities must have enough free space:
	bytes   int64 // so much
}

// An offer says where a class makes volumes. All claims of the class share it.
//
// Source: kube-scheduler 1.37, volumebinding, checkVolumeProvisions and
// hasEnoughCapacity.
type offer struct {
	class      string
	err        error
	impossible bool
	everywhere bool // the class does not restrict topologies
	topologies []match.LabelSelector
	tracked    bool        // the driver publishes capacities
	capacities []*capacity // of the class, by key
	index      index
}

// provisionFor returns where a volume could be made for a claim.
func (f *Finder) provisionFor(claim *api.PersistentVolumeClaim) provision {
	name := ClassOfClaim(claim)
	if name == "" {
		return provision{offer: &offer{err: fmt.Errorf("no class for claim %q", claim.Namespace+"/"+claim.Name)}}
	}
	p := provision{offer: f.offerOf(name)}
	request, ok := claim.Spec.Resources.Requests[resource.Storage]
	p.counted, p.bytes = p.tracked && ok, request.Value()
	return p
}

// offerOf returns the offer of a class. There are few classes.
func (f *Finder) offerOf(class string) *offer {
	for i := len(f.offers) - 1; i >= 0; i-- {
		if f.offers[i].class == class {
			return f.offers[i]
		}
	}
	o := newOffer(f.snapshot, class)
	f.offers = append(f.offers, o)
	return o
}

func newOffer(s *framework.Snapshot, name string) *offer {
	o := &offer{class: name}
	class, err := Class(s, name)
	if err != nil {
		o.err = fmt.Errorf("failed to find storage class %q", name)
		return o
	}
	if class.Provisioner == "" || class.Provisioner == noProvisioner {
		o.impossible = true
		return o
	}
	o.everywhere = len(class.AllowedTopologies) == 0
	for i := range class.AllowedTopologies {
		if selector, ok := compileTopology(&class.AllowedTopologies[i]); ok {
			o.topologies = append(o.topologies, selector)
		}
	}
	driver := framework.Lookup[api.CSIDriver](s, class.Provisioner)
	if driver == nil || driver.Spec.StorageCapacity == nil || !*driver.Spec.StorageCapacity {
		return o
	}
	o.tracked = true
	for _, c := range capacitiesIn(s) {
		if c.object.StorageClassName == class.Name && c.known {
			o.index.add(len(o.capacities), c.musts.rarest)
			o.capacities = append(o.capacities, c)
		}
	}
	return o
}

// compileTopology compiles a term. It returns false for an empty or malformed term,
// which selects nothing.
func compileTopology(t *api.TopologySelectorTerm) (match.LabelSelector, bool) {
	var s api.LabelSelector
	for _, e := range t.MatchLabelExpressions {
		s.MatchExpressions = append(s.MatchExpressions,
			api.LabelSelectorRequirement{Key: e.Key, Operator: api.LabelSelectorOpIn, Values: e.Values})
	}
	selector, err := match.NewLabelSelector(&s)
	return selector, err == nil && len(s.MatchExpressions) > 0
}

// on reports whether a volume can be made for a node. If so, the reason is 0; if
// only free capacity is lacking, it is NoSpace; otherwise it is NoVolume. from is
// the capacity for the volume, or nil if capacity is not tracked.
func (p *provision) on(n *api.Node) (reason Reasons, from *api.CSIStorageCapacity, err error) {
	switch {
	case p.err != nil:
		return 0, nil, p.err
	case p.impossible || !p.allows(n.Labels):
		return NoVolume, nil, nil
	case !p.counted:
		return 0, nil, nil
	}
	rank := p.index.first(n.Labels, func(rank int) bool {
		c := p.capacities[rank]
		return c.limit >= p.bytes && c.nodes.Matches(n.Labels)
	})
	if rank < 0 {
		return NoSpace, nil, nil
	}
	return 0, p.capacities[rank].object, nil
}

func (p *offer) allows(labels map[string]string) bool {
	if p.everywhere {
		return true
	}
	for i := range p.topologies {
		if p.topologies[i].Matches(labels) {
			return true
		}
	}
	return false
}
