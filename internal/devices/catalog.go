package devices

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/cow"
	"github.com/berth-sched/berth/resource"
)

// A catalog has all slices of a snapshot, with the taints of rules. It never changes,
// except for the pools that it has gathered. Lists are sorted by the names of slices.
//
// Invariant: byNode, wide and byPool are what fill makes of the slices.
type catalog struct {
	id     *catalogID
	slices []*slice // by name
	rules  []*api.DeviceTaintRule
	byNode cow.Map[string, *nodeSlices] // with a node name
	nodes  int                          // in byNode
	wide   []*slice                     // all others
	byPool cow.Map[PoolID, []*slice]

	bySlot   []atomic.Pointer[pools] // found by byNode for the node of a slot; of some slots
	pools    sync.Map                // what was gathered for nodes, by object, if there are wide slices
	gathered atomic.Int64
	none     pools // of nodes without devices
}

// A catalogID identifies a catalog for what is kept longer than it.
type catalogID struct{ _ byte } // with a size, so that each has its own address

// nodeSlices are the slices that name one node, and the pools that were gathered from them
// if there are no wide slices. Catalogs in which all slices of these pools are the same share
// them.
type nodeSlices struct {
	list  []*slice
	pools atomic.Pointer[pools]
}

// on returns the slices that name a node.
func (c *catalog) on(node string) []*slice {
	if x, ok := c.byNode.Get(node); ok {
		return x.list
	}
	return nil
}

// maxGathered bounds the memory for pools. Beyond it, all are gathered anew.
const maxGathered = 1 << 16

// newCatalog returns the catalog of the slices, sorted by name, and rules. It takes over from
// old what has not changed: after few changes, it costs little more than a look at each slice.
// slots are about how many slots for nodes there are.
func newCatalog(old *catalog, objects []*api.ResourceSlice, rules []*api.DeviceTaintRule, slots int) *catalog {
	c := &catalog{
		id: new(catalogID), slices: make([]*slice, 0, len(objects)), rules: rules,
		bySlot: make([]atomic.Pointer[pools], slots),
	}
	var known []*slice
	follows := old != nil && slices.Equal(old.rules, rules)
	if follows {
		known = old.slices
	}
	var changes []sliceChange
	for _, o := range objects {
		for len(known) > 0 && known[0].object != o && known[0].object.Name < o.Name {
			changes, known = append(changes, sliceChange{was: known[0]}), known[1:]
		}
		switch {
		case len(known) > 0 && known[0].object == o:
			c.slices, known = append(c.slices, known[0]), known[1:]
			continue
		case len(known) > 0 && known[0].object.Name == o.Name:
			changes, known = append(changes, sliceChange{known[0], newSlice(o, rules)}), known[1:]
		default:
			changes = append(changes, sliceChange{is: newSlice(o, rules)})
		}
		c.slices = append(c.slices, changes[len(changes)-1].is)
	}
	for _, s := range known {
		changes = append(changes, sliceChange{was: s})
	}
	if follows && len(changes) <= len(objects)/fewChanged {
		c.follow(old, changes)
	} else {
		c.fill()
	}
	c.nodes = c.byNode.Len()
	return c
}

// fewChanged is which part of the slices may change for a catalog to follow the one before.
const fewChanged = 8

// A sliceChange is a slice that has changed, come or gone; nil if it is not there.
type sliceChange struct{ was, is *slice }

// fill fills in the maps from all slices.
func (c *catalog) fill() {
	byNode, byPool := map[string][]*slice{}, map[PoolID][]*slice{}
	for _, s := range c.slices {
		byPool[s.pool] = append(byPool[s.pool], s)
		if s.where.node == "" {
			c.wide = append(c.wide, s)
		} else {
			byNode[s.where.node] = append(byNode[s.where.node], s)
		}
	}
	c.byNode, c.byPool = cow.NewMap[string, *nodeSlices](len(byNode)), cow.NewMap[PoolID, []*slice](len(byPool))
	for node, list := range byNode {
		c.byNode.Set(node, &nodeSlices{list: list})
	}
	for id, list := range byPool {
		c.byPool.Set(id, list)
	}
	c.seal()
}

// seal forks the maps once. From then on a plain copy of them is a fork, too, and several
// goroutines may make one.
func (c *catalog) seal() {
	c.byNode.Fork()
	c.byPool.Fork()
}

// follow fills in the maps from an older catalog and what has changed since. The pools of a
// node that were gathered stay, unless a slice of one of its pools has changed.
func (c *catalog) follow(old *catalog, changes []sliceChange) {
	c.byNode, c.byPool, c.wide = old.byNode, old.byPool, slices.Clone(old.wide) // old is sealed
	changedPools, changedNodes := map[PoolID][]*slice{}, map[string][]*slice{}
	change := func(s *slice, edit func([]*slice, *slice) []*slice) {
		pool, ok := changedPools[s.pool]
		if !ok {
			pool = slices.Clone(old.pool(s.pool))
		}
		changedPools[s.pool] = edit(pool, s)
		if s.where.node == "" {
			c.wide = edit(c.wide, s)
			return
		}
		node, ok := changedNodes[s.where.node]
		if !ok {
			node = slices.Clone(old.on(s.where.node))
		}
		changedNodes[s.where.node] = edit(node, s)
	}
	for _, x := range changes {
		if x.was != nil {
			change(x.was, cutSlice)
		}
		if x.is != nil {
			change(x.is, addSlice)
		}
	}
	for id, list := range changedPools {
		for _, s := range list { // other nodes see the pool, too
			if _, ok := changedNodes[s.where.node]; !ok && s.where.node != "" {
				changedNodes[s.where.node] = old.on(s.where.node)
			}
		}
		if len(list) > 0 {
			c.byPool.Set(id, list)
		} else {
			c.byPool.Remove(id)
		}
	}
	for node, list := range changedNodes {
		if len(list) > 0 {
			c.byNode.Set(node, &nodeSlices{list: list})
		} else {
			c.byNode.Remove(node)
		}
	}
	c.seal()
}

// pool returns the slices of a pool.
func (c *catalog) pool(id PoolID) []*slice {
	list, _ := c.byPool.Get(id)
	return list
}

// addSlice adds a slice to a list that is sorted by name.
func addSlice(list []*slice, s *slice) []*slice {
	i, _ := slices.BinarySearchFunc(list, s.object.Name, (*slice).compareName)
	return slices.Insert(list, i, s)
}

// cutSlice takes a slice out of a list.
func cutSlice(list []*slice, s *slice) []*slice {
	return slices.DeleteFunc(list, func(other *slice) bool { return other == s })
}

func (s *slice) compareName(name string) int { return strings.Compare(s.object.Name, name) }

// pools are the pools of one node.
type pools struct {
	node    string
	list    []pool
	devices []candidate                      // of complete and valid pools, in the order of the search
	invalid bool                             // some pool is invalid
	odd     bool                             // the node selection of some device is an error, or the device is odd
	err     error                            // a selector cannot be parsed
	here    atomic.Pointer[api.NodeSelector] // see pinned
	directs memo[*tag, *direct]              // by demand
}

// pinned returns the selector of the node alone. All that devices are pinned to it share it.
func (p *pools) pinned() *api.NodeSelector {
	if x := p.here.Load(); x != nil {
		return x
	}
	x := &struct {
		selector api.NodeSelector
		terms    [1]api.NodeSelectorTerm
		fields   [1]api.NodeSelectorRequirement
		values   [1]string
	}{values: [1]string{p.node}}
	x.fields[0] = api.NodeSelectorRequirement{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: x.values[:]}
	x.terms[0].MatchFields = x.fields[:]
	x.selector.NodeSelectorTerms = x.terms[:]
	p.here.Store(&x.selector)
	return &x.selector
}

// A pool is a pool as one node sees it.
type pool struct {
	id         PoolID
	incomplete bool
	invalid    bool
	slices     []*slice // with devices for the node
	counters   []*api.CounterSet
	consumers  []*Device // all devices of the pool that consume counters
}

// A candidate is a device that the search visits.
type candidate struct {
	device *Device
	pool   int
	number int32 // of the candidate in pools.devices
	here   bool  // the device's own node selection holds
	err    error
}

// poolsOf returns the pools of a node.
func (c *catalog) poolsOf(n *framework.NodeInfo) *pools {
	if len(c.wide) > 0 {
		return c.poolsOfObject(n.Node)
	}
	slot := n.Slot()
	if slot >= len(c.bySlot) {
		return c.poolsOfName(n.Node)
	}
	p := c.bySlot[slot].Load()
	if p == nil || p.node != n.Name() {
		if p = c.poolsOfName(n.Node); p != &c.none {
			c.bySlot[slot].Store(p)
		}
	}
	return p
}

// poolsOfObject returns the pools of a node if there are slices that no node's name selects.
func (c *catalog) poolsOfObject(n *api.Node) *pools {
	if p, ok := c.pools.Load(n); ok {
		return p.(*pools)
	}
	p := c.gather(n)
	if c.gathered.Add(1)%maxGathered == 0 {
		c.pools.Clear()
	}
	c.pools.Store(n, p)
	return p
}

// poolsOfName returns the pools of a node if there are no such slices.
func (c *catalog) poolsOfName(n *api.Node) *pools {
	x, ok := c.byNode.Get(n.Name)
	if !ok {
		return &c.none
	}
	p := x.pools.Load()
	if p == nil {
		p = c.gather(n)
		x.pools.Store(p)
	}
	return p
}

func (c *catalog) gather(n *api.Node) *pools {
	groups := map[PoolID][]*slice{}
	result := &pools{node: n.Name}
	for _, list := range [2][]*slice{c.on(n.Name), c.wide} {
		for _, s := range list {
			if s.groups {
				continue
			}
			ok, err := s.relevant(n)
			if err != nil {
				result.err = err
				return result
			}
			if !ok {
				continue
			}
			group := groups[s.pool]
			switch {
			case len(group) == 0 || s.generation() > group[0].generation():
				groups[s.pool] = []*slice{s}
			case s.generation() == group[0].generation():
				groups[s.pool] = append(group, s)
			}
		}
	}
	for id, kept := range groups {
		slices.SortFunc(kept, func(a, b *slice) int { return strings.Compare(a.object.Name, b.object.Name) })
		if p, ok := c.assess(id, kept); ok {
			result.list = append(result.list, p)
		}
	}
	slices.SortFunc(result.list, func(a, b pool) int {
		return cmp.Or(compareBool(a.bindings(), b.bindings()), strings.Compare(a.id.Driver, b.id.Driver), strings.Compare(a.id.Pool, b.id.Pool))
	})
	for i := range result.list {
		p := &result.list[i]
		result.invalid = result.invalid || p.invalid
		for _, s := range p.slices {
			for k := range s.devices {
				d := &s.devices[k]
				x := candidate{device: d, pool: i, number: int32(len(result.devices)), here: true}
				if s.perDevice {
					x.here, x.err = d.where.matches(n)
				}
				result.odd = result.odd || x.err != nil || d.odd
				result.devices = append(result.devices, x)
			}
		}
	}
	return result
}

func (s *slice) generation() int64 { return s.object.Spec.Pool.Generation }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// bindings reports whether a device of the pool has binding conditions.
func (p *pool) bindings() bool {
	return slices.ContainsFunc(p.slices, func(s *slice) bool { return s.bindings })
}

// assess finds out whether a pool is complete and valid; false means that it does not
// count.
func (c *catalog) assess(id PoolID, kept []*slice) (pool, bool) {
	p := pool{id: id}
	want, generation := kept[0].object.Spec.Pool.ResourceSliceCount, kept[0].generation()
	all := kept
	if int64(len(kept)) != want {
		all = nil
		for _, s := range c.pool(id) {
			if s.generation() > generation {
				return p, false
			}
			if s.generation() == generation && !s.groups {
				all = append(all, s)
			}
		}
		if int64(len(all)) != want {
			p.incomplete = true
			return p, true
		}
	}
	p.build(kept, all)
	return p, true
}

// build sorts the slices of a complete pool. all includes the kept ones.
func (p *pool) build(kept, all []*slice) {
	var targets, others []*slice
	for _, s := range all {
		switch {
		case len(s.object.Spec.SharedCounters) > 0:
			for i := range s.object.Spec.SharedCounters {
				p.counters = append(p.counters, &s.object.Spec.SharedCounters[i])
			}
		case slices.Contains(kept, s):
			targets = append(targets, s)
		default:
			others = append(others, s)
		}
	}
	if p.invalid = hasDuplicates(targets) || !p.hasCounters(targets) || !p.hasCounters(others); p.invalid {
		return
	}
	p.slices = targets
	for _, s := range slices.Concat(targets, others) {
		for i := range s.devices {
			if len(s.devices[i].ConsumesCounters) > 0 {
				p.consumers = append(p.consumers, &s.devices[i])
			}
		}
	}
}

// hasDuplicates reports whether two devices have one name.
func hasDuplicates(list []*slice) bool {
	seen := map[string]bool{}
	for _, s := range list {
		for i := range s.devices {
			if seen[s.devices[i].Name] {
				return true
			}
			seen[s.devices[i].Name] = true
		}
	}
	return false
}

// hasCounters reports whether counter sets have different names, and the pool has all
// counters that the devices consume.
func (p *pool) hasCounters(list []*slice) bool {
	sets := map[string]map[string]api.Counter{}
	for _, c := range p.counters {
		if _, twice := sets[c.Name]; twice {
			return false
		}
		sets[c.Name] = c.Counters
	}
	for _, s := range list {
		for i := range s.devices {
			for _, c := range s.devices[i].ConsumesCounters {
				set, ok := sets[c.CounterSet]
				if !ok {
					return false
				}
				for name := range c.Counters {
					if _, ok := set[name]; !ok {
						return false
					}
				}
			}
		}
	}
	return true
}

// charge subtracts what a device consumes of the counter set.
func charge(left map[string]resource.Quantity, set string, d *Device) {
	for _, c := range d.ConsumesCounters {
		if c.CounterSet != set {
			continue
		}
		for name, x := range c.Counters {
			left[name] = left[name].Sub(x.Value)
		}
	}
}
