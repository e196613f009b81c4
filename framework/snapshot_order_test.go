package framework_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestOrder writes clusters as "+a1 +b1 -a1 a2>b": a node named a1 comes in
// zone a, goes, and a2 is relabelled to zone b. A node whose zone is "_" has
// no zone label.
func TestOrder(t *testing.T) {
	tests := []struct {
		name, changes     string
		interleaved, flat string
	}{
		{"empty", "", "", ""},
		{"one zone", "+a1 +a2 +a3", "a1 a2 a3", "a1 a2 a3"},
		{"round by round", "+a1 +a2 +a3 +b1 +c1 +c2", "a1 b1 c1 a2 c2 a3", "a1 a2 a3 b1 c1 c2"},
		{"zones as first seen", "+c1 +a1 +b1 +a2", "c1 a1 b1 a2", "c1 a1 b1 a2"},
		{"no zone is a zone", "+_1 +a1 +_2 +a2", "_1 a1 _2 a2", "_1 a1 _2 a2"},
		{"a node goes", "+a1 +a2 +b1 +b2 -a1", "a2 b1 b2", "a2 b1 b2"},
		{"an emptied zone is forgotten", "+a1 +b1 +c1 -a1 +a2", "b1 c1 a2", "b1 c1 a2"},
		{"a zone that keeps a node keeps its place", "+a1 +a2 +b1 -a1 +a3", "a2 b1 a3", "a2 b1 a3"},
		{"a zone change appends", "+a1 +a2 +b1 +b2 a1>b", "a2 b1 b2 a1", "a1 a2 b1 b2"},
		{"a zone change forgets the emptied zone", "+a1 +b1 +c1 a1>c b1>a", "c1 b1 a1", "a1 b1 c1"},
		{"a zone change to no zone", "+a1 +a2 +b1 a1>_", "a2 b1 a1", "a1 a2 b1"},
		{"no change of zone keeps the place", "+a1 +a2 +b1 a1>a", "a1 b1 a2", "a1 a2 b1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for order, want := range map[framework.NodeOrder]string{framework.ZoneInterleaved: test.interleaved, framework.Arrival: test.flat, 99: test.interleaved} {
				s := framework.NewSnapshot(order)
				for _, change := range strings.Fields(test.changes) {
					apply(t, s, change)
				}
				if got := strings.Join(nodeNames(s), " "); got != want {
					t.Errorf("order %d of %q = %q, want %q", order, test.changes, got, want)
				}
			}
		})
	}
}

func apply(t *testing.T, s *framework.Snapshot, change string) {
	t.Helper()
	inZone := func(name, zone string) *api.Node {
		if zone == "_" {
			return plainNode(name)
		}
		return plainNode(name, api.LabelTopologyZone, zone)
	}
	name, zone, update := strings.Cut(change, ">")
	switch {
	case update:
		must(t, s.UpdateNode(inZone(name, zone)))
	case change[0] == '+':
		must(t, s.AddNode(inZone(change[1:], change[1:2])))
	default:
		must(t, s.RemoveNode(change[1:]))
	}
}

// A list of slots stays as it is while nodes come and go.
func TestOrderStays(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "a", "b", "c")
	order := s.Slots()
	must(t, s.RemoveNode("b"))
	must(t, s.AddNode(plainNode("d")))
	if got := fmt.Sprint(order); got != "[0 1 2]" {
		t.Errorf("an order taken earlier became %s", got)
	}
	if got := fmt.Sprint(s.Slots()); got != "[0 2 1]" {
		t.Errorf("Order() = %s, want [0 2 1]: d takes the slot of b and stands last", got)
	}
}

func TestZoneKey(t *testing.T) {
	const separator = ":\x00:"
	region, zone := api.LabelTopologyRegion, api.LabelTopologyZone
	oldRegion, oldZone := api.LabelFailureDomainRegion, api.LabelFailureDomainZone
	tests := []struct {
		name   string
		labels []string
		want   string
	}{
		{"none", nil, ""},
		{"both", []string{region, "r", zone, "z"}, "r" + separator + "z"},
		{"region only", []string{region, "r"}, "r" + separator},
		{"zone only", []string{zone, "z"}, separator + "z"},
		{"empty values", []string{region, "", zone, ""}, ""},
		{"old ones", []string{oldRegion, "or", oldZone, "oz"}, "or" + separator + "oz"},
		{"old before new", []string{oldRegion, "or", oldZone, "oz", region, "r", zone, "z"}, "or" + separator + "oz"},
		{"old and new mixed", []string{oldZone, "oz", region, "r", zone, "z"}, "r" + separator + "oz"},
		{"an empty old one hides the new", []string{oldZone, "", oldRegion, "", region, "r", zone, "z"}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := framework.NewSnapshot(framework.ZoneInterleaved)
			must(t, s.AddNode(plainNode("n", test.labels...)))
			if got := s.Node("n").ZoneKey(); got != test.want {
				t.Errorf("ZoneKey() = %q, want %q", got, test.want)
			}
		})
	}
	if region != "topology.kubernetes.io/region" || zone != "topology.kubernetes.io/zone" ||
		oldRegion != "failure-domain.beta.kubernetes.io/region" || oldZone != "failure-domain.beta.kubernetes.io/zone" {
		t.Error("the label names differ from Kubernetes'")
	}
}

// Many zones, one of them large, is the worst case for going round by round:
// who goes over all zones in each round does not come to an end here.
func TestOrderOfManyZones(t *testing.T) {
	if testing.Short() {
		t.Skip("builds 60,000 nodes")
	}
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	const half = 30_000
	for i := range 2 * half {
		zone := "big"
		if i >= half {
			zone = fmt.Sprint("z", i)
		}
		must(t, s.AddNode(plainNode(fmt.Sprint("n", i), api.LabelTopologyZone, zone)))
	}
	if got := s.At(half + 1).Name(); got != "n1" {
		t.Errorf("node after the first round = %s, want n1", got)
	}
}
