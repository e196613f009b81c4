package volumes

import (
	"fmt"
	"slices"
	"sort"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/resource"
)

// A pool holds the free volumes among which claims of one kind choose. It never changes once it is
// closed.
//
// Source: k8s.io/component-helpers/storage/volume, FindMatchingVolume.
type pool struct {
	claim    *api.PersistentVolumeClaim // one of the kind
	class    string
	limited  bool // the claim has a selector; then the pool is for it alone
	selector match.LabelSelector
	free     []*volume // by size, then by name
	index    index     // of free
}

// A poolInUse is a pool of a [Finder], with the place of the first of its cursors among those of
// all pools.
type poolInUse struct {
	*pool
	cursors int
}

// newPool makes an empty pool for a claim. It fails if the claim cannot be matched with any
// volume.
func newPool(claim *api.PersistentVolumeClaim) (p *pool, err error) {
	p = &pool{claim: claim, class: ClassOfClaim(claim), limited: claim.Spec.Selector != nil}
	if p.limited {
		if p.selector, err = match.NewLabelSelector(claim.Spec.Selector); err != nil {
			return nil, fmt.Errorf("error creating internal label selector for claim: %s/%s: %w", claim.Namespace, claim.Name, err)
		}
	}
	return p, nil
}

// serves reports whether another claim chooses among the same volumes, but for their size.
func (p *pool) serves(claim *api.PersistentVolumeClaim) bool {
	return !p.limited && claim.Spec.Selector == nil && p.class == ClassOfClaim(claim) &&
		modeOf(p.claim.Spec.VolumeMode) == modeOf(claim.Spec.VolumeMode) &&
		deref(p.claim.Spec.VolumeAttributesClassName) == deref(claim.Spec.VolumeAttributesClassName) &&
		slices.Equal(p.claim.Spec.AccessModes, claim.Spec.AccessModes)
}

// takes reports whether a volume that is reserved for no claim belongs to the pool.
func (p *pool) takes(v *volume) bool {
	return suits(v, p.claim, p.class) && v.object.Status.Phase == api.VolumeAvailable &&
		(!p.limited || p.selector.Matches(v.object.Labels)) && hasModes(v.object.Spec.AccessModes, p.claim.Spec.AccessModes)
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
	f.pools, f.cursors = f.pools[:0], 0
	c := catalogKey.Of(f.snapshot)
	for _, i := range f.others {
		w := &f.waiting[i]
		if w.pool, w.err = f.poolFor(c, w.claim); w.err != nil {
			continue
		}
		request := w.request()
		w.from = f.pools[w.pool].from(request)
		for _, object := range c.reservedFor(w.claim.Key()) {
			if v := compileVolume(object); isReservedFor(object, w.claim) && suits(v, w.claim, ClassOfClaim(w.claim)) && v.size.Cmp(request) >= 0 {
				w.reserved = append(w.reserved, v)
			}
		}
	}
}

// poolFor returns the index of the pool for a claim, a new one if need be.
func (f *Finder) poolFor(c *catalog, claim *api.PersistentVolumeClaim) (int, error) {
	for i := range f.pools {
		if f.pools[i].serves(claim) {
			return i, nil
		}
	}
	p, err := c.poolFor(claim)
	if err != nil {
		return 0, err
	}
	f.pools = append(f.pools, poolInUse{p, f.cursors})
	f.cursors += p.index.lists()
	return len(f.pools) - 1, nil
}

// poolsMost is how many pools of a class are kept.
const poolsMost = 16

// poolFor returns the pool for a claim. Those of claims without a selector are kept as long as the free
// volumes of the class are the same.
func (c *catalog) poolFor(claim *api.PersistentVolumeClaim) (*pool, error) {
	l := c.freeOf(ClassOfClaim(claim))
	for _, p := range l.pools {
		if p.serves(claim) {
			return p, nil
		}
	}
	p, err := newPool(claim)
	if err != nil {
		return nil, err
	}
	p.fill(l.all)
	if !p.limited {
		next := *l // forks share what is there
		if next.pools = append(slices.Clip(l.pools), p); len(next.pools) > poolsMost {
			next.pools = next.pools[len(next.pools)-poolsMost:]
		}
		c.lists[p.class] = &next
	}
	return p, nil
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
// pools.
func (f *Finder) volumeFor(w *waitingClaim, n *api.Node, taken takenVolumes, bindings []Binding, cursors []int) *volume {
	for _, v := range w.reserved {
		if taken.has(v, bindings) {
			continue
		}
		if v.affinity.Allows(n) {
			return v
		}
		return nil
	}
	p := &f.pools[w.pool]
	rank := p.index.next(n.Labels, w.from, cursors[p.cursors:p.cursors+p.index.lists()], func(rank int) bool {
		v := p.free[rank]
		return !taken.has(v, bindings) && v.affinity.Allows(n)
	})
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

// hasModes reports whether a volume has all access modes that a claim requests.
func hasModes(have, want []api.PersistentVolumeAccessMode) bool {
	for _, mode := range want {
		if !slices.Contains(have, mode) {
			return false
		}
	}
	return true
}
