package volumes

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/bits"
	"reflect"
	"slices"
	"sort"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/resource"
)

// A pool holds the free volumes among which claims of one kind choose. It never changes once it is
// filled.
//
// Source: k8s.io/component-helpers/storage/volume, FindMatchingVolume.
type pool struct {
	claim *api.PersistentVolumeClaim // one of the kind; its selector does not count
	class string
	modes modes
	free  []*volume // by size, then by name
	index index     // of free
}

// A poolInUse is a pool of a [Finder], with the place of the first of its cursors among those of
// all pools, or, for claims with a selector, of its remainder.
type poolInUse struct {
	*pool
	only      *selection // nil for claims without a selector
	cursors   int
	remainder int
}

// A selection is the part of a pool that a selector selects, one bit for each rank.
type selection struct {
	of    *api.LabelSelector
	ranks []uint64
}

// selectionOf applies the selector of a claim to a pool. It fails if the claim cannot be matched with any
// volume.
func (p *pool) selectionOf(claim *api.PersistentVolumeClaim) (*selection, error) {
	selector, err := match.NewLabelSelector(claim.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("error creating internal label selector for claim: %s/%s: %w", claim.Namespace, claim.Name, err)
	}
	s := &selection{claim.Spec.Selector, make([]uint64, len(p.free)/64+1)}
	for rank, v := range p.free {
		if selector.Matches(v.object.Labels) {
			s.ranks[rank/64] |= 1 << (rank % 64)
		}
	}
	return s, nil
}

// A remainder is what is left of a pool on a node, for claims with selectors: the ranks that may fit. Each is
// looked at once for all claims, however many selectors they have.
type remainder struct {
	of    *pool
	ranks []uint64
}

// remainderOf returns the remainder of a pool at its place in the list, a new one if there is none.
func remainderOf(list *[]remainder, at int, p *pool, n *api.Node) remainder {
	if missing := at + 1 - len(*list); missing > 0 {
		*list = append(*list, make([]remainder, missing)...)
	}
	r := &(*list)[at]
	if r.of == nil {
		*r = remainder{p, p.index.on(n.Labels, len(p.free))}
	}
	return *r
}

// take takes the first volume of the selection, from a rank on, that fits; nil if there is none.
func (r remainder) take(s *selection, from int, fits func(v *volume) bool) *volume {
	for w := from / 64; w < len(r.ranks); w++ {
		x := r.ranks[w] & s.ranks[w]
		if w == from/64 {
			x &= ^uint64(0) << (from % 64)
		}
		for ; x != 0; x &= x - 1 {
			bit := x & -x
			r.ranks[w] &^= bit
			if v := r.of.free[64*w+bits.TrailingZeros64(bit)]; fits(v) {
				return v
			}
		}
	}
	return nil
}

// serves reports whether another claim, with its access modes, chooses among the same volumes, but for their size and
// its selector.
func (p *pool) serves(claim *api.PersistentVolumeClaim, m modes) bool {
	return p.class == ClassOfClaim(claim) && slices.Equal(p.modes, m) &&
		modeOf(p.claim.Spec.VolumeMode) == modeOf(claim.Spec.VolumeMode) &&
		deref(p.claim.Spec.VolumeAttributesClassName) == deref(claim.Spec.VolumeAttributesClassName)
}

// serves reports whether another claim, with its access modes, chooses among the same volumes, but for their size.
func (p *poolInUse) serves(claim *api.PersistentVolumeClaim, m modes) bool {
	if p.only == nil || claim.Spec.Selector == nil {
		return p.only == nil && claim.Spec.Selector == nil && p.pool.serves(claim, m)
	}
	return p.pool.serves(claim, m) && reflect.DeepEqual(p.only.of, claim.Spec.Selector)
}

// takes reports whether a volume that is reserved for no claim belongs to the pool.
func (p *pool) takes(v *volume) bool {
	return suits(v, p.claim, p.class) && v.object.Status.Phase == api.VolumeAvailable && v.modes.has(p.modes)
}

// fill fills the pool with those of the volumes, by name, that it takes.
func (p *pool) fill(list []*volume) {
	for _, v := range list {
		if p.takes(v) {
			p.free = append(p.free, v)
		}
	}
	bySize := func(a, b *volume) int { return a.size.Cmp(b.size) }
	if !slices.IsSortedFunc(p.free, bySize) {
		slices.SortStableFunc(p.free, bySize)
	}
	for rank, v := range p.free {
		p.index.add(rank, v.musts.rarest)
	}
}

// from returns the rank of the first volume that is large enough.
func (p *pool) from(request resource.Quantity) int {
	return sort.Search(len(p.free), func(i int) bool { return p.free[i].size.Cmp(request) >= 0 })
}

// suits reports whether a volume has what a claim asks for but for its size, also if it is reserved for it.
func suits(v *volume, claim *api.PersistentVolumeClaim, class string) bool {
	spec := &v.object.Spec
	return v.class == class && modeOf(spec.VolumeMode) == modeOf(claim.Spec.VolumeMode) &&
		deref(spec.VolumeAttributesClassName) == deref(claim.Spec.VolumeAttributesClassName) &&
		v.object.DeletionTimestamp == nil
}

// fewClaims is up to how many claims are compared one by one.
const fewClaims = 8

// findCandidates finds, for each claim of others, the volumes that it could get on
// whatever node.
func (f *Finder) findCandidates() {
	clear(f.pools) // a pod may have had thousands
	f.pools, f.cursors, f.remainders = f.pools[:0], 0, nil
	c := catalogKey.Of(f.snapshot)
	var known map[string]int // pools by kind, if there are many claims
	if len(f.others) > fewClaims {
		known = map[string]int{}
	}
	for _, i := range f.others {
		w := &f.waiting[i]
		first := &f.waiting[w.first]
		if !first.sought {
			f.seek(c, first, known)
		}
		w.reserved, w.pool, w.from, w.err = first.reserved, first.pool, first.from, first.err
	}
}

// seek is findCandidates for one claim.
func (f *Finder) seek(c *catalog, w *waitingClaim, known map[string]int) {
	w.sought = true
	if w.pool, w.err = f.poolFor(c, w.claim, known); w.err != nil {
		return
	}
	request := w.request()
	w.from = f.pools[w.pool].from(request)
	for _, object := range c.reservedFor(w.claim.Key()) {
		if v := compileVolume(object); isReservedFor(object, w.claim) && suits(v, w.claim, ClassOfClaim(w.claim)) && v.size.Cmp(request) >= 0 {
			w.reserved = append(w.reserved, v)
		}
	}
}

// poolFor returns the index of the pool for a claim, a new one if need be. known has all pools by kind, or is
// nil.
func (f *Finder) poolFor(c *catalog, claim *api.PersistentVolumeClaim, known map[string]int) (int, error) {
	kind := ""
	if known != nil {
		kind = kindOf(claim)
		if i, ok := known[kind]; ok {
			return i, nil
		}
	} else {
		m := modesOf(claim.Spec.AccessModes)
		if i := slices.IndexFunc(f.pools, func(p poolInUse) bool { return p.serves(claim, m) }); i >= 0 {
			return i, nil
		}
	}
	p := poolInUse{pool: c.poolFor(claim), cursors: f.cursors}
	if claim.Spec.Selector != nil {
		var err error
		if p.only, err = p.selectionOf(claim); err != nil {
			return 0, err
		}
		c.spent.Add(int64(len(p.free)))
		p.remainder = f.placeOf(p.pool)
	}
	f.pools = append(f.pools, p)
	if p.only == nil {
		f.cursors += p.index.lists()
	}
	if known != nil {
		known[kind] = len(f.pools) - 1
	}
	return len(f.pools) - 1, nil
}

// placeOf returns the place of a pool's remainder among those of all pools that claims with selectors use.
func (f *Finder) placeOf(p *pool) int {
	at, known := f.remainders[p]
	if !known {
		if at = len(f.remainders); f.remainders == nil {
			f.remainders = map[*pool]int{}
		}
		f.remainders[p] = at
	}
	return at
}

// kindOf returns a text that is equal for claims which one pool serves.
func kindOf(claim *api.PersistentVolumeClaim) string {
	spec := &claim.Spec
	b := match.AppendString(match.AppendString(match.AppendString(nil, ClassOfClaim(claim)), string(modeOf(spec.VolumeMode))), deref(spec.VolumeAttributesClassName))
	b = appendModes(b, spec.AccessModes)
	if b = appendFlag(b, spec.Selector != nil); spec.Selector == nil {
		return string(b)
	}
	labels := spec.Selector.MatchLabels
	b = binary.AppendUvarint(b, uint64(len(labels)))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		b = match.AppendString(match.AppendString(b, key), labels[key])
	}
	for i := range spec.Selector.MatchExpressions {
		r := &spec.Selector.MatchExpressions[i]
		b = match.AppendString(match.AppendString(b, r.Key), string(r.Operator))
		b = binary.AppendUvarint(b, uint64(len(r.Values)))
		for _, value := range r.Values {
			b = match.AppendString(b, value)
		}
	}
	return string(b)
}

// appendModes appends access modes: neither their order counts, nor how often a claim names one.
func appendModes(b []byte, list []api.PersistentVolumeAccessMode) []byte {
	modes := modesOf(list)
	b = binary.AppendUvarint(b, uint64(len(modes)))
	for _, mode := range modes {
		b = match.AppendString(b, string(mode))
	}
	return b
}

// poolsMost is how many pools of a class are kept.
const poolsMost = 16

// poolFor returns the pool for a claim, whatever it selects. It is kept as long as the free volumes of the class
// are the same.
func (c *catalog) poolFor(claim *api.PersistentVolumeClaim) *pool {
	l, m := c.freeOf(ClassOfClaim(claim)), modesOf(claim.Spec.AccessModes)
	for _, p := range l.pools {
		if p.serves(claim, m) {
			return p
		}
	}
	p := &pool{claim: claim, class: ClassOfClaim(claim), modes: m}
	p.fill(l.all)
	next := *l // forks share what is there
	if next.pools = append(slices.Clip(l.pools), p); len(next.pools) > poolsMost {
		next.pools = next.pools[len(next.pools)-poolsMost:]
	}
	c.lists[p.class] = &next
	return p
}

// takenVolumes are the volumes of bindings, if there are many.
type takenVolumes map[*api.PersistentVolume]struct{}

// add notes the last binding.
func (t *takenVolumes) add(bindings []Binding) {
	switch {
	case *t != nil:
		(*t)[bindings[len(bindings)-1].Volume] = struct{}{}
	case len(bindings) > fewClaims:
		*t = make(takenVolumes, 2*len(bindings))
		for _, b := range bindings {
			(*t)[b.Volume] = struct{}{}
		}
	}
}

func (t takenVolumes) has(v *volume, bindings []Binding) bool {
	if t != nil {
		_, taken := t[v.object]
		return taken
	}
	return slices.ContainsFunc(bindings, func(b Binding) bool { return b.Volume == v.object })
}

// volumeFor returns the volume that a claim gets on a node. A volume reserved for it comes
// first, and must then be usable there; otherwise the smallest one is chosen. Volumes
// taken by earlier claims, those of the bindings, are skipped. The cursors are those of all
// pools; rest has the remainders of pools that claims with selectors use.
func (f *Finder) volumeFor(w *waitingClaim, n *api.Node, taken takenVolumes, bindings []Binding, cursors []int, rest *[]remainder) *volume {
	for _, v := range w.reserved {
		if taken.has(v, bindings) {
			continue
		}
		if v.affinity.Allows(n) {
			return v
		}
		return nil
	}
	fits := func(v *volume) bool { return !taken.has(v, bindings) && v.affinity.Allows(n) }
	p := &f.pools[w.pool]
	if p.only != nil {
		return remainderOf(rest, p.remainder, p.pool, n).take(p.only, w.from, fits)
	}
	rank := p.index.next(n.Labels, w.from, cursors[p.cursors:p.cursors+p.index.lists()], func(rank int) bool { return fits(p.free[rank]) })
	if rank < 0 {
		return nil
	}
	return p.free[rank]
}

// isReservedFor reports whether the volume's claimRef names the claim.
func isReservedFor(v *api.PersistentVolume, c *api.PersistentVolumeClaim) bool {
	r := v.Spec.ClaimRef
	return r != nil && r.Name == c.Name && r.Namespace == c.Namespace && (r.UID == "" || r.UID == c.UID)
}

func modeOf(m *api.PersistentVolumeMode) api.PersistentVolumeMode {
	if m == nil {
		return api.PersistentVolumeFilesystem
	}
	return *m
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// modes are access modes in order, each once: a claim may repeat some of them thousands of times.
type modes []api.PersistentVolumeAccessMode

func modesOf(list []api.PersistentVolumeAccessMode) modes {
	if len(list) <= 1 {
		return list
	}
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// has reports whether a volume has all access modes that a claim requests.
func (m modes) has(want modes) bool {
	for len(want) > 0 && len(want) <= len(m) {
		if m[0] == want[0] {
			want = want[1:]
		}
		m = m[1:]
	}
	return len(want) == 0
}
