package devices

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A catalog has all slices of a snapshot, with the taints of rules. It never changes,
// except for the pools that it has gathered.
type catalog struct {
	slices []*slice // by name
	rules  []*api.DeviceTaintRule
	byNode map[string]*nodeSlices // with a node name
	wide   []*slice               // all others
	byPool map[PoolID][]*slice

	bySlot   []atomic.Pointer[pools] // found by byNode for the node of a slot; of some slots
	pools    sync.Map                // what was gathered for nodes, by object, if there are wide slices
	gathered atomic.Int64
	none     pools // of nodes without devices
}

// nodeSlices are the slices that name one node, and the pools that were gathered from them
// if there are no wide slices.
type nodeSlices struct {
	list  []*slice
	pools atomic.Pointer[pools]
}

// on returns the slices that name a node.
func (c *catalog) on(node string) []*slice {
	if x := c.byNode[node]; x != nil {
		return x.list
	}
	return nil
}

// maxGathered bounds the memory for pools. Beyond it, all are gathered anew.
const maxGathered = 1 << 16

// newCatalog returns the catalog of the slices and rules. It takes over from old what has
// not changed. slots are about how many slots for nodes there are.
func newCatalog(old *catalog, objects []*api.ResourceSlice, rules []*api.DeviceTaintRule, slots int) *catalog {
	c := &catalog{
		slices: make([]*slice, 0, len(objects)), rules: rules,
		byNode: map[string]*nodeSlices{}, bySlot: make([]atomic.Pointer[pools], slots), byPool: map[PoolID][]*slice{},
	}
	var known []*slice
	if old != nil && slices.Equal(old.rules, rules) {
		known = old.slices
	}
	for _, o := range objects {
		for len(known) > 0 && known[0].object.Name < o.Name {
			known = known[1:]
		}
		var s *slice
		if len(known) > 0 && known[0].object == o {
			s = known[0]
		} else {
			s = newSlice(o, rules)
		}
		c.slices = append(c.slices, s)
		c.byPool[s.pool] = append(c.byPool[s.pool], s)
		if s.where.node != "" {
			x := c.byNode[s.where.node]
			if x == nil {
				x = new(nodeSlices)
				c.byNode[s.where.node] = x
			}
			x.list = append(x.list, s)
		} else {
			c.wide = append(c.wide, s)
		}
	}
	return c
}

// slice returns the slice of a name.
func (c *catalog) slice(name string) *slice {
	i, ok := slices.BinarySearchFunc(c.slices, name, func(s *slice, name string) int { return strings.Compare(s.object.Name, name) })
	if !ok {
		return nil
	}
	return c.slices[i]
}

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
	x := c.byNode[n.Name]
	if x == nil {
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
		for _, s := range c.byPool[id] {
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
