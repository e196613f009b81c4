package volumes

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/cow"
)

// Check implements [framework.Checker]: it looks for every reservation's object in the
// snapshot, and for the pods that count on it.
func (a *Assumed) Check(s *framework.Snapshot) error {
	if err := checkReserved(s, "volume", a, &a.volumes, func(h held, r reserved[api.PersistentVolume]) bool { return h.volume == r.put }); err != nil {
		return err
	}
	return checkReserved(s, "claim", a, &a.claims, func(h held, r reserved[api.PersistentVolumeClaim]) bool { return h.claim == r.put })
}

func checkReserved[T api.Object](s *framework.Snapshot, kind string, a *Assumed, m *cow.Map[string, reserved[T]], counts func(held, reserved[T]) bool) error {
	for key, r := range m.All() {
		switch {
		case framework.Lookup[T](s, key) != r.now:
			return fmt.Errorf("reservations: %s %s is reserved, but another object is in the snapshot", kind, key)
		case r.put == nil || api.KeyOf(r.put) != key:
			return fmt.Errorf("reservations: %s %s replaces %v", kind, key, r.put)
		}
		for _, id := range r.left {
			h, _ := a.pods.Get(id)
			if !h.left || !slices.ContainsFunc(h.list, func(x held) bool { return counts(x, r) }) {
				return fmt.Errorf("reservations: pod %v is to have left, but to count on %s %s: left %t", id, kind, key, h.left)
			}
		}
	}
	for id, h := range a.pods.All() {
		if len(h.list) == 0 {
			return fmt.Errorf("reservations: pod %v counts on nothing", id)
		}
	}
	return nil
}

// Check implements [framework.Checker]: it reads every node again.
func (a *Attached) Check(s *framework.Snapshot) error {
	inUse := map[Handle]int{}
	for _, slot := range s.Slots() {
		n, known := s.AtSlot(slot), a.nodes.At(slot)
		if known == nil {
			if !slices.Contains(a.missing, int32(slot)) {
				return fmt.Errorf("attached volumes: node %s is neither known nor to be read", n.Name())
			}
			continue
		}
		if now := readVolumes(s, n, &a.others); !known.equal(&now) {
			return fmt.Errorf("attached volumes: node %s: %+v, want %+v", n.Name(), *known, now)
		}
		for h := range known.Used {
			inUse[h]++
		}
		if err := a.checkUsers(s, int32(slot), known); err != nil {
			return fmt.Errorf("attached volumes: node %s: %w", n.Name(), err)
		}
	}
	for h, count := range inUse {
		if known, _ := a.inUse.Get(h); known != count {
			return fmt.Errorf("attached volumes: %v is in use on %d nodes, want %d", h, known, count)
		}
	}
	if a.inUse.Len() != len(inUse) {
		return fmt.Errorf("attached volumes: %d are in use, want %d", a.inUse.Len(), len(inUse))
	}
	if err := a.users.check(); err != nil {
		return err
	}
	others := attachmentsIn(s)
	if got, want := maps.Collect(a.others.named.All()), maps.Collect(others.named.All()); !maps.Equal(got, want) {
		return fmt.Errorf("attachments: %v, want %v", got, want)
	}
	return nil
}

// checkUsers looks for a node among the users of what it was read from.
func (a *Attached) checkUsers(s *framework.Snapshot, slot int32, v *NodeVolumes) error {
	for key := range v.claims {
		facts := claimFactsOf(s, key)
		if x, _ := a.users.claims.by.Get(key); x.facts != facts || !x.slots.has(slot) {
			return fmt.Errorf("claim %s: %+v, want %+v", key, x, facts)
		}
	}
	for key := range v.volumes {
		if x, _ := a.users.volumes.by.Get(key); x.facts != volumeFactsOf(s, key) || !x.slots.has(slot) {
			return fmt.Errorf("volume %s: %+v, want %+v", key, x, volumeFactsOf(s, key))
		}
	}
	return nil
}

// check compares the claims of each volume with those that name it.
func (u *users) check() error {
	naming := map[string]map[string]bool{} // claims by volume
	for claim, x := range u.claims.by.All() {
		if volume := x.facts.volume; volume != "" {
			if naming[volume] == nil {
				naming[volume] = map[string]bool{}
			}
			naming[volume][claim] = true
		}
	}
	if got := u.bound.first.Len(); got != len(naming) {
		return fmt.Errorf("claims name %d volumes, want %d", got, len(naming))
	}
	linked := 0
	for volume, claims := range naming {
		before := ""
		claim, _ := u.bound.first.Get(volume)
		for n := range len(claims) {
			x, _ := u.bound.beside.Get(claim)
			if !claims[claim] || x.before != before || n == len(claims)-1 && x.after != "" {
				return fmt.Errorf("claim %q of volume %s, number %d of %d: beside it are %+v, want %q before it", claim, volume, n, len(claims), x, before)
			}
			before, claim = claim, x.after
		}
		if len(claims) > 1 {
			linked += len(claims)
		}
	}
	if got := u.bound.beside.Len(); got != linked {
		return fmt.Errorf("%d claims have others beside them, want %d", got, linked)
	}
	return nil
}

func (v *NodeVolumes) equal(w *NodeVolumes) bool {
	return v.Node == w.Node && maps.Equal(v.Used, w.Used) && maps.Equal(v.Counts, w.Counts) && maps.Equal(v.attached, w.attached) &&
		maps.Equal(v.claims, w.claims) && maps.Equal(v.owned, w.owned) && maps.Equal(v.volumes, w.volumes)
}

// Check implements [framework.Checker]: it reads all objects again.
func (c *catalog) Check(s *framework.Snapshot) error {
	anew := &catalog{spent: new(atomic.Int64)}
	anew.Rebuild(s)
	switch {
	case !maps.Equal(maps.Collect(c.volumes.All()), maps.Collect(anew.volumes.All())):
		return fmt.Errorf("volumes: %v, want %v", maps.Collect(c.volumes.All()), maps.Collect(anew.volumes.All()))
	case !reflect.DeepEqual(maps.Collect(c.reserved.All()), maps.Collect(anew.reserved.All())):
		return fmt.Errorf("volumes of claims: %v, want %v", maps.Collect(c.reserved.All()), maps.Collect(anew.reserved.All()))
	case !maps.Equal(maps.Collect(c.rooms.All()), maps.Collect(anew.rooms.All())):
		return fmt.Errorf("capacities: %v, want %v", maps.Collect(c.rooms.All()), maps.Collect(anew.rooms.All()))
	}
	if err := sameCrowds(&c.free, &anew.free); err != nil {
		return fmt.Errorf("free volumes: %w", err)
	}
	if err := sameCrowds(&c.offered, &anew.offered); err != nil {
		return fmt.Errorf("capacities: %w", err)
	}
	for class, l := range c.lists {
		same := func(v, w *volume) bool { return v.object == w.object }
		if want := anew.freeOf(class).all; !slices.EqualFunc(c.freeOf(class).all, want, same) {
			return fmt.Errorf("class %s has the free volumes %v, want %v", class, l.all, want)
		}
	}
	return nil
}

// sameCrowds returns an error if the number of objects of some class is not that of a new catalog.
func sameCrowds(m, anew *cow.Map[string, crowd]) error {
	if m.Len() != anew.Len() {
		return fmt.Errorf("%d classes, want %d", m.Len(), anew.Len())
	}
	for class, want := range anew.All() {
		if got, _ := m.Get(class); got.n != want.n {
			return fmt.Errorf("%d of class %s, want %d", got.n, class, want.n)
		}
	}
	return nil
}
