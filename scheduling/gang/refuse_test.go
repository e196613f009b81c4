package gang_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// entries are the ways in which a group is given to a Placer.
var entries = map[string]func(*gang.Placer, *framework.Snapshot, *gang.Group) error{
	"Place": func(p *gang.Placer, s *framework.Snapshot, g *gang.Group) error {
		_, err := p.Place(s, g)
		return err
	},
	"Try": func(p *gang.Placer, s *framework.Snapshot, g *gang.Group) error {
		_, err := p.Try(s, g)
		return err
	},
	"PlaceSet": func(p *gang.Placer, s *framework.Snapshot, g *gang.Group) error {
		_, err := p.PlaceSet(s, &gang.Set{Name: "s", Children: []gang.Child{g}})
		return err
	},
	"PlaceSome": func(p *gang.Placer, s *framework.Snapshot, g *gang.Group) error {
		_, err := p.PlaceSome(s, g)
		return err
	},
	"Attempt": func(p *gang.Placer, s *framework.Snapshot, g *gang.Group) error {
		_, err := p.Attempt(s, g)
		return err
	},
	"Propose": func(p *gang.Placer, s *framework.Snapshot, g *gang.Group) error {
		_, err := p.Propose(s, g)
		return err
	},
	"Preempt": func(p *gang.Placer, s *framework.Snapshot, g *gang.Group) error {
		_, err := p.Preempt(s, g)
		return err
	},
	"Capacity": func(p *gang.Placer, s *framework.Snapshot, g *gang.Group) error {
		_, err := p.Capacity(s, g, 0)
		return err
	},
}

// Every way refuses a group that nothing can be said about, names field and value, and
// changes nothing.
func TestRefused(t *testing.T) {
	type pods = []*framework.PodInfo
	for _, tt := range []struct {
		name  string
		group func(w pods) *gang.Group // w[2] is on r0-1
		want  string                   // in the text of the error
	}{
		{"a pod that counts", func(w pods) *gang.Group { return &gang.Group{Name: "g", Pods: pods{w[0], w[2]}} }, `pods[1]: "default/worker-2": counts on node r0-1 already`},
		{"a pod twice", func(w pods) *gang.Group { return &gang.Group{Name: "g", Pods: pods{w[0], w[0]}} }, `pods[1]: "default/worker-0": is the pod of pods[0], too`},
		{"a nil pod", func(w pods) *gang.Group { return &gang.Group{Name: "g", Pods: pods{w[0], nil}} }, `group g: pods[1]: pod: is nil`},
		{"a member on no node", func(w pods) *gang.Group {
			return &gang.Group{Name: "g", Pods: pods{w[0]}, Present: []gang.Member{{Pod: w[1], Node: "r0-0"}}}
		}, `present[0].node: "r0-0": pod default/worker-1 counts on no node`},
		{"a member on another node", func(w pods) *gang.Group {
			return &gang.Group{Name: "g", Pods: pods{w[0]}, Present: []gang.Member{{Pod: w[2], Node: "r0-0"}}}
		}, `present[0].node: "r0-0": pod default/worker-2 counts on node r0-1`},
		{"a member on an unknown node", func(w pods) *gang.Group {
			return &gang.Group{Name: "g", Pods: pods{w[0]}, Present: []gang.Member{{Pod: w[2], Node: "nope"}}}
		}, `present[0].node: "nope": is not in the snapshot`},
		{"a nil member", func(w pods) *gang.Group {
			return &gang.Group{Name: "g", Pods: pods{w[0]}, Present: []gang.Member{{Node: "r0-0"}}}
		}, `group g: present[0].pod: pod: is nil`},
		{"a negative minimum", func(w pods) *gang.Group { return &gang.Group{Name: "g", Pods: pods{w[0]}, Min: -1} }, `min: "-1": must not be negative`},
		{"slices that do not divide", func(w pods) *gang.Group {
			return &gang.Group{Name: "g", Pods: pods{w[0]}, Topology: []gang.Level{{Key: rack, Slice: 2}}}
		}, `topology[0].slice: "2": does not divide`},
		{"no group", func(pods) *gang.Group { return nil }, `is nil`},
	} {
		for way, call := range entries {
			for _, choice := range []gang.Choice{gang.Kubernetes137, gang.BestFit} {
				s := racks(2)
				w := workers(s, 3, "1")
				if err := s.AddPod(w[2], "r0-1"); err != nil {
					t.Fatal(err)
				}
				before := imageOf(s)
				err := call(placer(gang.Rules{Choice: choice}), s, tt.group(w))
				var invalid *api.InvalidError
				if !errors.As(err, &invalid) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s, %s by %v: %v\nwant an InvalidError with %s", tt.name, way, choice, err, tt.want)
				}
				unchanged(t, s, before, fmt.Sprintf("%s, %s by %v", tt.name, way, choice))
			}
		}
	}
	for way, call := range entries {
		var invalid *api.InvalidError
		if err := call(placer(gang.Rules{}), nil, &gang.Group{Name: "g"}); !errors.As(err, &invalid) {
			t.Errorf("%s of a nil snapshot: %v, want an InvalidError", way, err)
		}
	}
}

// A snapshot may have two pods of one name, and either of them is a member that is present.
func TestPresentOfTwo(t *testing.T) {
	s := racks(2)
	w := workers(s, 2, "1")
	for _, node := range []string{"r0-0", "r0-1"} {
		if err := s.AddPod(w[1], node); err != nil {
			t.Fatal(err)
		}
	}
	for _, node := range []string{"r0-0", "r0-1"} {
		g := &gang.Group{Name: "g", Pods: w[:1], Present: []gang.Member{{Pod: w[1], Node: node}}}
		if out, err := placer(gang.Rules{}).Try(s, g); err != nil || out.Status != gang.Placed {
			t.Errorf("Try with a member on %s: %+v, %v", node, out, err)
		}
	}
}

// A group of no object is nil, which every attempt refuses.
func TestGroupOfNothing(t *testing.T) {
	s := racks(1)
	if g := gang.GroupOf(s, nil, nil); g != nil {
		t.Errorf("GroupOf(nil object) = %+v, want nil", g)
	}
	if g := gang.GroupOf(nil, &api.PodGroup{}, nil); g != nil {
		t.Errorf("GroupOf(nil snapshot) = %+v, want nil", g)
	}
	if g := gang.GroupWith(nil, nil, nil); g != nil {
		t.Errorf("GroupWith(nil object) = %+v, want nil", g)
	}
}

// A minimum above the number of pods is short of pods, however much room there is.
func TestAttemptAboveThePods(t *testing.T) {
	for _, rules := range []gang.Rules{{}, {Choice: gang.BestFit}, {Choice: gang.BestFit, Exact: true}, {Choice: gang.BestFit, Exact: true, Search: 100}} {
		s := racks(2)
		alike := workers(s, 3, "1")
		mixed := append(workers(s, 2, "1"), info(s, api.MakePod("larger").Requests("2", "1Gi").Obj()))
		for _, pods := range [][]*framework.PodInfo{alike, mixed} {
			c, err := placer(rules).Attempt(s, &gang.Group{Name: "g", Pods: pods, Min: 5})
			if err != nil || c.Outcome == nil || c.Outcome.Status != gang.Short || c.Condition.Reason != api.PodGroupReasonUnschedulable {
				t.Errorf("%+v: Attempt = %+v, %v, want Short", rules, c, err)
			}
		}
	}
}
