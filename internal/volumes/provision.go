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
//
// Source: kube-scheduler 1.37, volumebinding, checkVolumeProvisions and
// hasEnoughCapacity.
type provision struct {
	err        error
	impossible bool
	everywhere bool // the class does not restrict topologies
	topologies []match.LabelSelector
	counted    bool        // capacities must have enough free space
	capacities []*capacity // large enough, by key
	index      index
}

func provisionFor(s *framework.Snapshot, claim *api.PersistentVolumeClaim) (p provision) {
	name := ClassOfClaim(claim)
	if name == "" {
		p.err = fmt.Errorf("no class for claim %q", claim.Namespace+"/"+claim.Name)
		return p
	}
	class, err := Class(s, name)
	if err != nil {
		p.err = fmt.Errorf("failed to find storage class %q", name)
		return p
	}
	if class.Provisioner == "" || class.Provisioner == noProvisioner {
		p.impossible = true
		return p
	}
	p.everywhere = len(class.AllowedTopologies) == 0
	for i := range class.AllowedTopologies {
		if selector, ok := compileTopology(&class.AllowedTopologies[i]); ok {
			p.topologies = append(p.topologies, selector)
		}
	}
	request, ok := claim.Spec.Resources.Requests[resource.Storage]
	driver := framework.Lookup[api.CSIDriver](s, class.Provisioner)
	if !ok || driver == nil || driver.Spec.StorageCapacity == nil || !*driver.Spec.StorageCapacity {
		return p
	}
	p.counted = true
	bytes := request.Value()
	for _, c := range capacitiesIn(s) {
		if c.object.StorageClassName == class.Name && c.known && c.limit >= bytes {
			p.index.add(len(p.capacities), c.must)
			p.capacities = append(p.capacities, c)
		}
	}
	return p
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
	rank := p.index.first(n.Labels, func(rank int) bool { return p.capacities[rank].nodes.Matches(n.Labels) })
	if rank < 0 {
		return NoSpace, nil, nil
	}
	return 0, p.capacities[rank].object, nil
}

func (p *provision) allows(labels map[string]string) bool {
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
