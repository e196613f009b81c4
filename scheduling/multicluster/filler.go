package multicluster

import "slices"

// maxFillSteps bounds what fillers do in a decision, for all paths together. A step is a look at
// one cluster.
const maxFillSteps = 1 << 24

// A filler chooses clusters one by one, and counts the groups of those chosen.
type filler struct {
	bounds        *bounds
	lead          SpreadField
	members       []member // by place
	fields        []ledger // of the members, one for each constrained field
	free          []bool   // by place: whether the member is spare
	chosen, spare []member
	most          int
}

func newFiller(b *bounds, members []member, lead SpreadField) *filler {
	return &filler{bounds: b, lead: lead, members: members, fields: ledgersOf(b, members), free: make([]bool, len(members))}
}

// fill chooses clusters from the groups of a path. It takes the best one of each
// group, then clusters that other fields need, then the best others. Finally it
// exchanges clusters for capacity.
func (f *filler) fill(p path, need int64, s *Selection) ([]member, *SpreadError) {
	s.Swaps, s.ChosenGroups = nil, nil
	f.bounds.effort.looks -= len(f.members)
	f.clear()
	if f.lead == SpreadByCluster {
		f.freeAll(f.members)
	} else {
		for _, g := range p.groups {
			s.ChosenGroups = append(s.ChosenGroups, g.name)
		}
		f.freeWithin(p)
	}
	f.most = f.bounds.limit(SpreadByCluster, len(f.spare))
	if !f.cover(p) {
		return nil, unmet(f.lead)
	}
	for k := range f.fields {
		if l := &f.fields[k]; l.field != f.lead && !f.widen(l) {
			return nil, unmet(l.field)
		}
	}
	f.takeMore()
	if len(f.chosen) < f.bounds.of[SpreadByCluster].MinGroups {
		return nil, &SpreadError{Field: SpreadByCluster, Reason: reasonFewer}
	}
	if !trade(f.chosen, f.spare, need, s, f.exchange) {
		return nil, shortOf(f.chosen, need)
	}
	return f.chosen, nil
}

func unmet(f SpreadField) *SpreadError {
	return &SpreadError{Field: f, Reason: "no choice of clusters meets the spread constraint on field " + string(f) + " together with the others"}
}

// clear takes back all choices. No member is spare then.
func (f *filler) clear() {
	f.chosen, f.spare = nil, nil
	clear(f.free)
	for k := range f.fields {
		clear(f.fields[k].chosen)
		f.fields[k].count = 0
	}
}

// freeAll makes the members spare. They are in the usual order.
func (f *filler) freeAll(members []member) {
	f.spare = slices.Clone(members)
	for _, m := range members {
		f.free[m.place] = true
	}
}

// freeWithin makes those members spare whose groups of the leading field are all on the
// path.
func (f *filler) freeWithin(p path) {
	l := f.leading()
	on := make([]bool, len(l.chosen))
	for _, g := range p.groups {
		on[l.index[g.name]] = true
	}
	off := func(k int) bool { return !on[k] }
	for i, m := range f.members {
		if of := l.of[i]; len(of) > 0 && !slices.ContainsFunc(of, off) {
			f.spare = append(f.spare, m)
			f.free[i] = true
		}
	}
}

// leading returns the ledger of the leading field.
func (f *filler) leading() *ledger {
	return &f.fields[slices.IndexFunc(f.fields, func(l ledger) bool { return l.field == f.lead })]
}

// cover takes a cluster of each group that has none yet.
func (f *filler) cover(p path) bool {
	if f.lead == SpreadByCluster {
		return true
	}
	l := f.leading()
	for _, g := range p.groups {
		if l.chosen[l.index[g.name]] == 0 && !slices.ContainsFunc(g.members, f.take) {
			return false
		}
	}
	return true
}

// widen takes clusters that add groups of the field, until there are enough. A cluster
// that adds none, or that a maximum forbids, is no better after others are taken.
func (f *filler) widen(l *ledger) bool {
	for _, m := range f.spare {
		if l.count >= l.least {
			return true
		}
		if l.adds(m.place) > 0 {
			f.take(m)
		}
	}
	return l.count >= l.least
}

// takeMore takes the best spare clusters, as many as it may. Only the others are spare
// then.
func (f *filler) takeMore() {
	for _, m := range f.spare {
		if len(f.chosen) >= f.most {
			break
		}
		f.take(m)
	}
	f.spare = slices.DeleteFunc(f.spare, func(m member) bool { return !f.free[m.place] })
}

// take chooses a spare cluster, if no maximum forbids it.
func (f *filler) take(m member) bool {
	if !f.free[m.place] || len(f.chosen) >= f.most {
		return false
	}
	for k := range f.fields {
		if l := &f.fields[k]; l.count+l.adds(m.place) > l.most {
			return false
		}
	}
	f.choose(m)
	return true
}

// choose chooses a cluster.
func (f *filler) choose(m member) {
	for k := range f.fields {
		f.fields[k].add(m.place, 1)
	}
	f.chosen = append(f.chosen, m)
	f.free[m.place] = false
}

// exchange counts in in place of out, if all constraints hold then.
func (f *filler) exchange(out, in member) bool {
	if f.bounds.effort.looks <= 0 {
		return false
	}
	f.bounds.effort.looks--
	holds := true
	for k := range f.fields {
		l := &f.fields[k]
		l.add(out.place, -1)
		l.add(in.place, 1)
		holds = holds && l.least <= l.count && l.count <= l.most
	}
	if !holds {
		for k := range f.fields {
			f.fields[k].add(in.place, -1)
			f.fields[k].add(out.place, 1)
		}
	}
	return holds
}
