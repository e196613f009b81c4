package volumes

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestCheckFindsFaults plants a fault in each thing that Check finds anew.
func TestCheckFindsFaults(t *testing.T) {
	volume := func(name string) *api.PersistentVolume {
		return &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: name}}
	}
	for name, plant := range map[string]func(s *framework.Snapshot, a *Assumed){
		"another object": func(_ *framework.Snapshot, a *Assumed) {
			a.volumes.entries["v"] = reserved[api.PersistentVolume]{put: a.volumes.entries["v"].put, now: volume("v")}
		},
		"another volume": func(_ *framework.Snapshot, a *Assumed) {
			a.volumes.entries["v"] = reserved[api.PersistentVolume]{put: volume("w"), now: a.volumes.entries["v"].now}
		},
		"a pod that is unknown": func(_ *framework.Snapshot, a *Assumed) {
			r := a.volumes.entries["v"]
			r.left = []podID{{key: "default/q"}}
			a.volumes.entries["v"] = r
		},
		"a pod without objects": func(_ *framework.Snapshot, a *Assumed) { a.pods.entries[podID{key: "default/q"}] = holding{} },
	} {
		t.Run(name, func(t *testing.T) {
			s := framework.NewSnapshot(framework.Arrival)
			put := volume("v")
			if err := framework.Put(s, put); err != nil {
				t.Fatal(err)
			}
			p, err := s.NewPodInfo(api.MakePod("p").Obj())
			if err != nil {
				t.Fatal(err)
			}
			claim := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "c"}}
			found := Found{Bindings: []Binding{{Volume: put, Claim: claim}}}
			if err := Assume(s, p, "n", &found); err != nil {
				t.Fatal(err)
			}
			a := assumedKey.Of(s)
			if err := s.Check(); err != nil || len(a.volumes.entries) != 1 {
				t.Fatalf("Check() = %v with %d reserved volumes, want none with 1", err, len(a.volumes.entries))
			}
			if plant(s, a); s.Check() == nil {
				t.Error("Check() finds nothing")
			}
		})
	}
}
