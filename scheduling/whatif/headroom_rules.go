package whatif

import (
	"math"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/replica"
	"github.com/berth-sched/berth/scheduling"
)

// replicaRules are the rules that spread replicas over domains, of all filters.
type replicaRules struct {
	rules   []*replicaRule
	filters [][]int // the rules of each filter
}

// A replicaRule is a rule with its domains, which are numbered from 0.
type replicaRule struct {
	replica.Rule
	domain  []int  // by node; -1 if the rule lets it pass, or does not count its pods
	sees    []int  // by node: the domain that decides about it, -1 if it has none that counts
	counts  []bool // by node: whether its pods count, or the rule lets it pass
	domains []replicaDomain
	takes   []int64 // replicas by domain at the end, as far as they are known
}

// A replicaDomain is the nodes that a rule counts together.
type replicaDomain struct {
	first int   // node
	pods  int64 // before any replica
}

// newReplicaRules looks at all nodes. A node is open if the rules let it have replicas at all.
// It returns false if there is a rule that cannot be counted with.
func newReplicaRules(s *framework.Snapshot, parts *scheduling.SpreadFiltering) (x *replicaRules, open []bool, ok bool) {
	x = &replicaRules{}
	empty := make([][]replica.Count, len(parts.Spreads))
	for k := range parts.Spreads {
		var own []int
		for _, rule := range parts.Spreads[k].Rules {
			if rule.MaxSkew < 1 {
				return nil, nil, false
			}
			own = append(own, len(x.rules))
			x.rules = append(x.rules, newReplicaRule(s, rule))
		}
		x.filters = append(x.filters, own)
		empty[k] = make([]replica.Count, len(own))
	}
	open = make([]bool, s.Len())
	for i, n := range s.All() {
		open[i] = parts.Verdict(n, scheduling.NodeVerdict{}, empty).Status.IsSuccess()
	}
	return x, open, true
}

func newReplicaRule(s *framework.Snapshot, rule replica.Rule) *replicaRule {
	r := &replicaRule{Rule: rule, domain: make([]int, s.Len()), sees: make([]int, s.Len()), counts: make([]bool, s.Len())}
	numbers := map[int]int{}
	for i, n := range s.All() {
		p := rule.Place(n)
		r.domain[i], r.sees[i], r.counts[i] = -1, p.Domain, p.Counts || p.Domain < 0
		if !p.Counts || p.Domain < 0 {
			continue
		}
		d, known := numbers[p.Domain]
		if !known {
			d = len(r.domains)
			numbers[p.Domain] = d
			r.domains = append(r.domains, replicaDomain{first: i, pods: p.Pods})
		}
		r.domain[i] = d
	}
	for i, d := range r.sees { // a node whose pods do not count may stand in a domain of others
		if number, known := numbers[d]; known {
			r.sees[i] = number
		} else {
			r.sees[i] = -1
		}
	}
	return r
}

// single reports whether no domain has two nodes with room.
func (r *replicaRule) single(room []int64) bool {
	seen := make([]bool, len(r.domains))
	for i, d := range r.domain {
		if d < 0 || room[i] == 0 {
			continue
		}
		if seen[d] {
			return false
		}
		seen[d] = true
	}
	return true
}

// anyOrder reports whether the replicas that fit are as many in whatever order they are
// placed, and no other pods let more of them fit: no bound rises with the fewest pods of a
// domain and, if the scheduler placed the first replica, its node makes no difference. That
// is so if at most one rule has a domain of several nodes.
func (x *replicaRules) anyOrder(first bool) bool {
	several := 0
	for _, r := range x.rules {
		if !r.FromZero {
			return false
		}
		if nodes := len(r.domain) - count(r.domain, -1); nodes > len(r.domains) {
			several++
		}
	}
	return !first || several <= 1
}

func count(list []int, x int) (n int) {
	for _, y := range list {
		if y == x {
			n++
		}
	}
	return n
}

// limit is how many replicas a domain takes if the fewest pods of any domain are these.
func (r *replicaRule) limit(d int, fewest int64) int64 {
	if r.FromZero {
		fewest = 0
	}
	return max(0, fewest+r.MaxSkew-r.domains[d].pods)
}

// replicaCount is how many replicas there are at the end.
//
// One rule, coarse, may have domains of several nodes. Of the others at most one, fine,
// depends on the fewest pods of its domains; its domains have one node with room, as with
// hosts. The rest bound what a node takes and count as its room.
//
// At the end every node with room left is in a domain that is full for one of the two
// rules. Only the fewest pods of any domain make these limits, and they never fall.
//
// Let the fewest of fine be given. A domain with the fewest of coarse is not full for
// coarse, so each of its nodes has what its room and fine allow. Any other domain has at
// least as many pods, and so has what its nodes could take. So the fewest of coarse are the
// least of what the nodes of a domain could take, and each domain takes that or its limit,
// whatever the order of the decisions.
//
// The fewest of fine are a number that can be at the end: every node has so many, and one
// of them exactly so many, because it has no more room, or because its domain of coarse is
// full without it. If one number only can be, it is the answer. Otherwise scores decide.
type replicaCount struct {
	rules        *replicaRules
	room         []int64
	coarse, fine *replicaRule // nil if there is none
	fewestCoarse int64
	fewestFine   int64
	most         []int64       // replicas that each node takes, or has room for if it is shared
	takes        []domainTakes // by domain of coarse
	counted      [][]replica.Count
}

// domainTakes is what a domain of several nodes takes.
type domainTakes struct {
	pods  int64 // replicas
	room  int64 // what its nodes have room for
	nodes int   // with room
}

// shared reports whether scores say which nodes get the replicas.
func (t *domainTakes) shared() bool { return t.pods > 0 && t.pods < t.room && t.nodes > 1 }

// solve returns false if the number depends on scores, or may do so. It takes from the room
// what rules with fixed bounds for one node do not allow.
func (x *replicaRules) solve(room []int64) (c *replicaCount, ok bool) {
	c = &replicaCount{rules: x, room: append([]int64(nil), room...)}
	for _, r := range x.rules {
		for i := range room {
			if room[i] > 0 && !r.counts[i] {
				return nil, false // replicas go where they do not count
			}
		}
		switch single := r.single(room); {
		case single && r.FromZero:
			for i, d := range r.domain {
				if d >= 0 {
					c.room[i] = min(c.room[i], r.limit(d, 0))
				}
			}
		case !single && c.coarse == nil:
			c.coarse = r
		case single && c.fine == nil:
			c.fine = r
		default:
			return nil, false
		}
	}
	if c.coarse == nil {
		c.coarse, c.fine = c.fine, nil
	}
	c.most = make([]int64, len(room))
	if c.coarse != nil {
		c.takes = make([]domainTakes, len(c.coarse.domains))
	}
	if c.fine == nil {
		c.count(0)
	} else if !c.findFewest() {
		return nil, false
	}
	c.tally()
	return c, true
}

// tally adds up the replicas of each domain. What the nodes of a shared domain get is not
// known, so they count as empty for other rules.
func (c *replicaCount) tally() {
	for _, r := range c.rules.rules {
		r.takes = make([]int64, len(r.domains))
		for i, d := range r.domain {
			if d >= 0 && !c.shared(i) {
				r.takes[d] += c.most[i]
			}
		}
	}
	for d := range c.takes {
		c.coarse.takes[d] = c.takes[d].pods
	}
}

// maxFewest bounds the work of findFewest.
const maxFewest = 20_000_000

// findFewest counts with the fewest pods of fine that can be at the end. It returns false if
// there are several.
func (c *replicaCount) findFewest() bool {
	f := c.fine
	least, most := int64(math.MaxInt64), int64(math.MaxInt64)
	reach := make([]int64, len(f.domains)) // with all the replicas that there is room for
	for d := range f.domains {
		reach[d] = f.domains[d].pods
		least = min(least, reach[d])
	}
	for i, d := range f.domain {
		if d >= 0 {
			reach[d] += c.room[i]
		}
	}
	for _, pods := range reach {
		most = min(most, pods)
	}
	if len(f.domains) == 0 || (most-least)*int64(len(c.room)) > maxFewest {
		return false
	}
	found := int64(-1)
	for m := least; m <= most; m++ {
		c.count(m)
		if !c.canBe(reach) {
			continue
		}
		if found >= 0 {
			return false
		}
		found = m
	}
	if found >= 0 {
		c.count(found)
	}
	return found >= 0
}

// count counts the replicas if the fewest pods of fine are these.
func (c *replicaCount) count(fewest int64) {
	c.fewestFine = fewest
	clear(c.takes)
	for i, room := range c.room {
		c.most[i] = room
		if c.fine != nil && c.fine.domain[i] >= 0 {
			c.most[i] = min(room, c.fine.limit(c.fine.domain[i], fewest))
		}
		if c.coarse != nil && c.coarse.domain[i] >= 0 && c.most[i] > 0 {
			t := &c.takes[c.coarse.domain[i]]
			t.room += c.most[i]
			t.nodes++
		}
	}
	if c.coarse == nil {
		return
	}
	c.fewestCoarse = math.MaxInt32
	for d := range c.takes {
		c.fewestCoarse = min(c.fewestCoarse, c.coarse.domains[d].pods+c.takes[d].room)
	}
	if c.coarse.FromZero {
		c.fewestCoarse = 0
	}
	for d := range c.takes {
		t := &c.takes[d]
		t.pods = min(t.room, c.coarse.limit(d, c.fewestCoarse))
	}
	for i, d := range c.coarse.domain {
		if d >= 0 && !c.takes[d].shared() {
			c.most[i] = min(c.most[i], c.takes[d].pods)
		}
	}
}

// canBe reports whether the fewest pods of fine can be those of the count, if its domains
// reach so many pods.
func (c *replicaCount) canBe(reach []int64) bool {
	f, m := c.fine, c.fewestFine
	needs := make([]int64, len(c.takes)) // replicas without which a domain of fine has fewer
	last := false
	for i, d := range f.domain {
		if d < 0 {
			continue
		}
		pods := f.domains[d].pods
		if reach[d] == m {
			last = true
		}
		k := c.coarse.domain[i]
		if k < 0 || c.room[i] == 0 {
			continue
		}
		t := &c.takes[k]
		needs[k] += max(0, m-pods)
		if pods > m {
			continue
		}
		// The others may fill the domain while this node has the fewest.
		if own := min(c.room[i], f.limit(d, m)); t.room-own+m-pods >= c.coarse.limit(k, c.fewestCoarse) {
			last = true
		}
	}
	for k := range needs {
		if needs[k] > c.takes[k].pods {
			return false
		}
	}
	return last
}

// shared reports whether scores say how many of the replicas of its domain a node gets.
func (c *replicaCount) shared(i int) bool {
	return c.coarse != nil && c.coarse.domain[i] >= 0 && c.most[i] > 0 && c.takes[c.coarse.domain[i]].shared()
}

// total is how many replicas there are.
func (c *replicaCount) total() (sum int) {
	for i, most := range c.most {
		if !c.shared(i) {
			sum += int(most)
		}
	}
	for d := range c.takes {
		if t := &c.takes[d]; t.shared() {
			sum += int(t.pods)
		}
	}
	return sum
}

// counts is what the rules of each filter count at the end for a node.
func (c *replicaCount) counts(i int) [][]replica.Count {
	if c.counted == nil {
		c.counted = make([][]replica.Count, len(c.rules.filters))
	}
	for k, own := range c.rules.filters {
		c.counted[k] = c.counted[k][:0]
		for _, number := range own {
			r := c.rules.rules[number]
			var count replica.Count
			switch r {
			case c.coarse:
				count.Fewest = c.fewestCoarse
			case c.fine:
				count.Fewest = c.fewestFine
			}
			if d := r.sees[i]; d >= 0 {
				count.Pods = r.domains[d].pods + r.takes[d]
			}
			c.counted[k] = append(c.counted[k], count)
		}
	}
	return c.counted
}
