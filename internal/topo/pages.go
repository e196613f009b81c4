package topo

// owner marks the parts that a fork of the tables may write to; all other parts are
// shared with another fork and copied first. It is not empty, so that every owner
// has its own address.
type owner struct{ _ byte }

const pageSize = 128

// page holds the counts of consecutive domains. A page without counts is nil.
type page struct {
	owner *owner
	n     [pageSize]int32
}

// pages is a list of counts by domain. A copy shares the pages that it has not
// changed.
type pages []*page

func (p pages) at(d int32) int32 {
	i := uint(d) / pageSize
	if i >= uint(len(p)) || p[i] == nil {
		return 0
	}
	return p[i].n[uint(d)%pageSize]
}

// add changes one count and returns its new value.
func (p *pages) add(o *owner, d, by int32) int32 {
	i := int(d) / pageSize
	for len(*p) <= i {
		*p = append(*p, nil)
	}
	switch old := (*p)[i]; {
	case old == nil:
		(*p)[i] = &page{owner: o}
	case old.owner != o:
		copied := *old
		copied.owner = o
		(*p)[i] = &copied
	}
	n := &(*p)[i].n[d%pageSize]
	*n += by
	return *n
}
