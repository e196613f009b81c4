//go:build full

package gang

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Counts that were kept are forgotten when nodes, objects or the time of the snapshot
// change, and only then.
func TestCountsAreForgotten(t *testing.T) {
	s, _, err := framework.SnapshotOf(&api.Objects{Nodes: []*api.Node{api.MakeNode("n0", "4", "16Gi").Obj()}}, framework.Arrival)
	if err != nil {
		t.Fatal(err)
	}
	var r room
	r.follow(s)
	for _, tt := range []struct {
		what   string
		change func() error
		kept   bool
	}{
		{"nothing", func() error { return nil }, true},
		{"the time", func() error { s.SetNow(s.Now().Add(time.Hour)); return nil }, false},
		{"an object", func() error { return framework.Put(s, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "x"}}) }, false},
		{"the nodes", func() error { return s.AddNode(api.MakeNode("n1", "4", "16Gi").Obj()) }, false},
	} {
		r.counts[0] = 7
		if err := tt.change(); err != nil {
			t.Fatal(err)
		}
		r.follow(s)
		if kept := r.counts[0] == 7; kept != tt.kept {
			t.Errorf("%s changes: counts are kept: %t, want %t", tt.what, kept, tt.kept)
		}
	}
}
