package multicluster

import (
	"cmp"
	"fmt"
	"slices"
)

// maxSteps bounds the exhaustive searches of a decision.
const maxSteps = 1 << 18

// chooseExhaustively searches all choices of clusters after the preferred groups led
// to none. It takes the first choice that meets all constraints, if clusters are
// taken or left out in the usual order. If no choice has room for need replicas, the
// error reports the capacity of the one with the most room. failed is the error of
// the earlier search.
func (f *filler) chooseExhaustively(need int64, failed *SpreadError, s *Selection) ([]member, error) {
	e := newExhaustive(f.bounds, f.members, f.lead, need)
	visits := *e.visits
	if failed.Wanted > 0 {
		e.most = failed.Available
	}
	e.visit(0)
	s.Swaps, s.ChosenGroups = nil, nil
	if e.best != nil && e.most < need {
		failed = shortOf(e.best, need)
	}
	if e.best == nil || e.most < need {
		certain := failed.Wanted > 0 && e.roomFor(0, e.size) < need
		if *e.visits == 0 && !certain {
			failed.Reason = fmt.Sprintf(reasonUnfinished, visits)
		}
		return nil, failed
	}
	f.clear()
	f.freeAll(e.members)
	f.most = e.size
	for _, m := range e.best {
		f.choose(m)
	}
	f.takeMore()
	seen := map[string]bool{}
	for _, m := range f.chosen {
		for _, name := range groupsOf(m.cluster, f.lead) {
			if !seen[name] {
				seen[name] = true
				s.ChosenGroups = append(s.ChosenGroups, name)
			}
		}
	}
	slices.Sort(s.ChosenGroups)
	return f.chosen, nil
}

// exhaustive is a search that takes or leaves out one cluster after the other.
type exhaustive struct {
	members     []member
	least, size int       // the fewest and most clusters to choose
	fields      []ledger  // one for each constrained field
	room        [][]int64 // room of the n best members from index i on
	rest        []int64   // room of all members from index i on
	need        int64
	chosen      []member
	available   int64
	best        []member
	same        int   // how many of best are the first of chosen
	most        int64 // the room of best, -1 without
	visits      *int  // that are left
}

// A ledger counts the groups of a field.
type ledger struct {
	field       SpreadField
	least, most int
	index       map[string]int // the groups by name
	of          [][]int        // the groups of each member
	last        []int          // the last member of each group
	ahead       []int          // how many groups have members from an index on
	chosen      []int          // how many chosen members each group has
	count       int            // groups with a chosen member
	behind      int            // those of them that pass counted
}

// ledgersOf returns the ledgers of the constrained fields.
func ledgersOf(b *bounds, members []member) []ledger {
	var fields []ledger
	for _, field := range groupFields {
		if b.has(field) {
			fields = append(fields, newLedger(b, field, members))
		}
	}
	return fields
}

func newExhaustive(b *bounds, members []member, lead SpreadField, need int64) *exhaustive {
	e := &exhaustive{need: need, most: -1, visits: &b.effort.visits}
	for _, m := range members {
		if len(groupsOf(m.cluster, lead)) > 0 {
			e.members = append(e.members, m)
		}
	}
	e.least, e.size = max(1, b.of[SpreadByCluster].MinGroups), b.limit(SpreadByCluster, len(e.members))
	e.fields = ledgersOf(b, e.members)
	var largest []int64 // the room of the members from i on, the largest first
	e.room, e.rest = make([][]int64, len(e.members)), make([]int64, len(e.members)+1)
	width := min(e.size, b.effort.table/(len(e.members)+1))
	for i := len(e.members) - 1; i >= 0; i-- {
		at, _ := slices.BinarySearchFunc(largest, e.members[i].available, func(a, b int64) int { return cmp.Compare(b, a) })
		largest = slices.Insert(largest, at, e.members[i].available)
		sums := make([]int64, 1, min(len(largest), width)+1)
		for k := 0; k < len(largest) && k < width; k++ {
			sums = append(sums, sums[k]+largest[k])
		}
		e.room[i], e.rest[i] = sums, e.rest[i+1]+e.members[i].available
	}
	return e
}

func newLedger(b *bounds, field SpreadField, members []member) ledger {
	l := ledger{field: field, least: b.of[field].MinGroups, index: map[string]int{}, of: make([][]int, len(members)), ahead: make([]int, len(members)+1)}
	for i, m := range members {
		for _, name := range groupsOf(m.cluster, field) {
			k, ok := l.index[name]
			if !ok {
				k = len(l.last)
				l.index[name] = k
				l.last = append(l.last, -1)
			}
			if l.last[k] != i { // otherwise the member names it twice
				l.last[k] = i
				l.of[i] = append(l.of[i], k)
			}
		}
	}
	l.most = b.limit(field, len(l.last))
	l.chosen = make([]int, len(l.last))
	for _, last := range l.last {
		l.ahead[last]++
	}
	for i := len(members) - 1; i >= 0; i-- {
		l.ahead[i] += l.ahead[i+1]
	}
	return l
}

// add counts member i in (by 1) or out (by -1).
func (l *ledger) add(i, by int) {
	for _, k := range l.of[i] {
		if l.chosen[k] == 0 {
			l.count++
		}
		if l.chosen[k] += by; l.chosen[k] == 0 {
			l.count--
		}
	}
}

// adds returns how many groups member i would add.
func (l *ledger) adds(i int) int {
	n := 0
	for _, k := range l.of[i] {
		if l.chosen[k] == 0 {
			n++
		}
	}
	return n
}

// pass counts the chosen groups that end with member i in (by 1) or out (by -1).
func (l *ledger) pass(i, by int) {
	for _, k := range l.of[i] {
		if l.last[k] == i && l.chosen[k] > 0 {
			l.behind += by
		}
	}
}

// reach returns the most groups that members from i on can lead to, if those before
// were passed.
func (l *ledger) reach(i int) int { return l.behind + l.ahead[i] }

// visit decides about members from i on, and reports whether the search is over.
func (e *exhaustive) visit(i int) bool {
	if *e.visits <= 0 {
		return true
	}
	*e.visits--
	if e.available > e.most && e.holds() {
		e.best, e.most = append(e.best[:e.same], e.chosen[e.same:]...), e.available
		e.same = len(e.best)
		if e.most >= e.need {
			return true
		}
	}
	if !e.promising(i) {
		return false
	}
	if e.add(i) {
		over := e.pass(i)
		e.remove(i)
		if over {
			return true
		}
	}
	return e.pass(i)
}

// pass visits the member after i, whose choice is made.
func (e *exhaustive) pass(i int) bool {
	for k := range e.fields {
		e.fields[k].pass(i, 1)
	}
	over := e.visit(i + 1)
	for k := range e.fields {
		e.fields[k].pass(i, -1)
	}
	return over
}

// holds reports whether the chosen members meet all constraints except room.
func (e *exhaustive) holds() bool {
	for k := range e.fields {
		if e.fields[k].count < e.fields[k].least {
			return false
		}
	}
	return len(e.chosen) >= e.least
}

// promising reports whether members from i on can still lead to a better choice than
// the best so far.
func (e *exhaustive) promising(i int) bool {
	left := e.size - len(e.chosen)
	if i == len(e.members) || left == 0 || len(e.chosen)+min(left, len(e.members)-i) < e.least {
		return false
	}
	if e.available+e.roomFor(i, left) <= e.most {
		return false
	}
	for k := range e.fields {
		if e.fields[k].reach(i) < e.fields[k].least {
			return false
		}
	}
	return true
}

// roomFor returns how many replicas n members from i on can take at most.
func (e *exhaustive) roomFor(i, n int) int64 {
	if i < len(e.room) && n < len(e.room[i]) {
		return e.room[i][n]
	}
	return e.rest[i]
}

// add takes a member, unless that makes too many groups.
func (e *exhaustive) add(i int) bool {
	fits := true
	for k := range e.fields {
		e.fields[k].add(i, 1)
		fits = fits && e.fields[k].count <= e.fields[k].most
	}
	if !fits {
		for k := range e.fields {
			e.fields[k].add(i, -1)
		}
		return false
	}
	e.chosen = append(e.chosen, e.members[i])
	e.available += e.members[i].available
	return true
}

func (e *exhaustive) remove(i int) {
	for k := range e.fields {
		e.fields[k].add(i, -1)
	}
	e.chosen = e.chosen[:len(e.chosen)-1]
	e.same = min(e.same, len(e.chosen))
	e.available -= e.members[i].available
}
