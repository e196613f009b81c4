package gang

import (
	"fmt"
	"strconv"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// How levels that are out of order are found: by what labels mean, or by the nodes.

// extents are well-known labels, from the coarsest on.
var extents = []string{api.LabelTopologyRegion, api.LabelTopologyZone, api.LabelHostname}

// extent is the place of a label among those that are well known, -1 if it is not.
func extent(key string) int {
	for i, k := range extents {
		if k == key {
			return i
		}
	}
	return -1
}

// check refuses what no attempt may be made for, by the nodes, too.
func (p *Placer) check(snap *framework.Snapshot, g *Group) error {
	if err := g.check(snap, &p.rules); err != nil {
		return err
	}
	return p.checkNodes(snap, g)
}

// checkUsable is Group.checkUsable, by the nodes, too.
func (p *Placer) checkUsable(snap *framework.Snapshot, g *Group) error {
	if err := g.checkUsable(snap, &p.rules); err != nil {
		return err
	}
	return p.checkNodes(snap, g)
}

// checkTree is checkTree, by the nodes, too.
func (p *Placer) checkTree(snap *framework.Snapshot, s *Set) error {
	err := checkTree(snap, s, &p.rules)
	if err != nil {
		return err
	}
	s.leaves(func(g *Group) {
		if err == nil {
			err = p.checkNodes(snap, g)
		}
	})
	return err
}

// checkNodes refuses levels that the nodes show to be out of order.
func (p *Placer) checkNodes(snap *framework.Snapshot, g *Group) error {
	if len(g.Topology) < 2 {
		return nil
	}
	s := p.forest.of(snap, g.labels()).swapped
	if s == nil {
		return nil
	}
	return g.invalid("topology["+strconv.Itoa(s.coarse)+"].key", g.Topology[s.coarse].Key,
		fmt.Sprintf("must be above topology[%d], %s, on these nodes: each of its %d domains holds several of that level, and none of those is in two", s.fine, g.Topology[s.fine].Key, s.domains))
}

// swapped says which two levels are out of order.
type swapped struct {
	fine, coarse int // their numbers: fine comes first
	domains      int // values of the coarse level
}

// findSwapped returns two levels if each value of the second comes with several values of
// the first, and each of these with one value only: then they are out of order. A single
// value may be a name that all use for their only part, so it says nothing; nor do nodes
// say anything against an order that is well known.
func (d *domain) findSwapped(keys []string) *swapped {
	leaves := d.at(len(keys), nil)
	for fine := range keys {
		for coarse := fine + 1; coarse < len(keys); coarse++ {
			if keys[coarse] == api.LabelHostname || extent(keys[fine]) >= 0 && extent(keys[coarse]) > extent(keys[fine]) {
				continue
			}
			if n := holders(leaves, fine, coarse); n > 1 {
				return &swapped{fine, coarse, n}
			}
		}
	}
	return nil
}

// holders returns how many values of a level there are if each comes with several values
// of the finer level, and each of those with one value only; else 0.
func holders(leaves []*domain, fine, coarse int) int {
	in, parts := map[string]string{}, map[string]int{}
	for _, leaf := range leaves {
		part, whole := leaf.path[fine].Value, leaf.path[coarse].Value
		known, ok := in[part]
		switch {
		case !ok:
			in[part] = whole
			parts[whole]++
		case known != whole:
			return 0
		}
	}
	for _, n := range parts {
		if n < 2 {
			return 0
		}
	}
	return len(parts)
}
