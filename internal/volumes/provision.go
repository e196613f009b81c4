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

// An offer says where a class makes volumes. All claims of the class share it, and it never changes.
//
// Source: kube-scheduler 1.37, volumebinding, checkVolumeProvisions and
// hasEnoughCapacity.
type offer struct {
	from       offerFrom
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
	p := provision{offer: catalogKey.Of(f.snapshot).offerOf(name)}
	request, ok := claim.Spec.Resources.Requests[resource.Storage]
	p.counted, p.bytes = p.tracked && ok, request.Value()
	return p
}

// offerOf returns the offer of a class. It is kept as long as all that it was made from.
func (c *catalog) offerOf(name string) *offer {
	s := c.snapshot
	from := offerFrom{class: framework.Lookup[api.StorageClass](s, name)}
	if from.class != nil {
		from.driver = framework.Lookup[api.CSIDriver](s, from.class.Provisioner)
	}
	offered, _ := c.offered.Get(name)
	from.capacities = offered.version
	if o := c.offers[name]; o != nil && o.from == from {
		return o
	}
	o := c.newOffer(name, from)
	if c.offers == nil || len(c.offers) >= offersMost {
		c.offers = map[string]*offer{}
	}
	c.offers[name] = o
	return o
}

// offersMost is how many offers are kept. There are few classes, but claims may name others.
const offersMost = 256

// offerFrom is what an offer was made from.
type offerFrom struct {
	class      *api.StorageClass
	driver     *api.CSIDriver
	capacities uint64 // version of those of the class
}

func (c *catalog) newOffer(name string, from offerFrom) *offer {
	o := &offer{from: from}
	class, driver := from.class, from.driver
	if class == nil {
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
	if driver == nil || driver.Spec.StorageCapacity == nil || !*driver.Spec.StorageCapacity {
		return o
	}
	o.tracked = true
	for _, x := range c.capacitiesIn() {
		if x.object.StorageClassName == class.Name && x.known {
			o.index.add(len(o.capacities), x.musts.rarest)
			o.capacities = append(o.capacities, x)
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
