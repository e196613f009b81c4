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
			r, _ := a.volumes.Get("v")
			a.volumes.Set("v", reserved[api.PersistentVolume]{put: r.put, now: volume("v")})
		},
		"another volume": func(_ *framework.Snapshot, a *Assumed) {
			r, _ := a.volumes.Get("v")
			a.volumes.Set("v", reserved[api.PersistentVolume]{put: volume("w"), now: r.now})
		},
		"a pod that is unknown": func(_ *framework.Snapshot, a *Assumed) {
			r, _ := a.volumes.Get("v")
			r.left = []podID{{key: "default/q"}}
			a.volumes.Set("v", r)
		},
		"a pod without objects": func(_ *framework.Snapshot, a *Assumed) { a.pods.Set(podID{key: "default/q"}, holding{}) },
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
			if err := s.Check(); err != nil || a.volumes.Len() != 1 {
				t.Fatalf("Check() = %v with %d reserved volumes, want none with 1", err, a.volumes.Len())
			}
			if plant(s, a); s.Check() == nil {
				t.Error("Check() finds nothing")
			}
		})
	}
}
