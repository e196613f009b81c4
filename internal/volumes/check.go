package volumes

import (
	"fmt"
	"slices"

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
