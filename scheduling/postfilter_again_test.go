//go:build full

package scheduling

import (
	"context"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestRefusedRoomIsBounded: pods of ever new classes find no node, and no room to make,
// while nothing changes.
func TestRefusedRoomIsBounded(t *testing.T) {
	snap := framework.NewSnapshot(framework.Arrival)
	if err := snap.AddNode(api.MakeNode("n", "1", "1Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	profile := Kubernetes137()
	profile.Cache.Verify = true // pods that differ would step aside
	s, err := New(profile)
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for i := range classesMost + 100 {
		p, err := snap.NewPodInfo(api.MakePod("p").Requests(fmt.Sprint(2+i), "1Gi").Obj())
		if err != nil {
			t.Fatal(err)
		}
		d, err := s.Schedule(snap, p)
		if err == nil {
			t.Fatalf("the pod fits on %s", d.Node)
		}
		if _, _, status, err := s.PostFilter(context.Background(), snap, p, d); err != nil || status.IsSuccess() {
			t.Fatal(status, err)
		}
		most = max(most, len(s.refusedRoom.by))
	}
	if most != classesMost {
		t.Errorf("%d answers were kept, want %d", most, classesMost)
	}
}
