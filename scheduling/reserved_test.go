package scheduling_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// seats gives each pod a seat of its node: the number of pods that came before it.
type seats struct{ name string }

func (p seats) Name() string { return p.name }

func (seats) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

func (seats) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

func (p seats) Reserves(_ *framework.Snapshot, pod *framework.PodInfo, n *framework.NodeInfo) string {
	if pod.Pod.Labels["fail"] != "" {
		panic("no seat")
	}
	if pod.Pod.Labels["stands"] != "" {
		return ""
	}
	seat := len(n.Pods)
	if !n.HasPod(pod) {
		seat++
	}
	return p.name + " " + strings.Repeat("I", seat)
}

// seatsWrapper hides the type of a plugin, as wrappers do.
type seatsWrapper struct{ framework.Plugin }

func (w seatsWrapper) Unwrap() framework.Plugin { return w.Plugin }

// TestReserved: a decision and its explanation have the words of the Reserve plugins, on
// both paths, and a panic fails the cycle by name.
func TestReserved(t *testing.T) {
	for _, off := range []bool{true, false} {
		s := framework.NewSnapshot(framework.Arrival)
		if err := s.AddNode(api.MakeNode("a", "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		sched, err := scheduling.New(scheduling.Profile{
			Reserve: []framework.Plugin{seats{"row"}, seatsWrapper{seats{"seat"}}, plainReserve{}},
			TieRule: scheduling.First, Cache: scheduling.CacheConfig{Off: off, Verify: !off},
		})
		if err != nil {
			t.Fatal(err)
		}
		place := func(name string, labels ...string) (scheduling.Decision, error) {
			p, err := s.NewPodInfo(api.MakePod(name).Labels(labels...).Obj())
			if err != nil {
				t.Fatal(err)
			}
			e := sched.Explain(s, p)
			d, err := sched.Place(s, p)
			if err == nil && (e.Nodes[0].Reserved != d.Reserved || d.Node != "a") {
				t.Errorf("%s: Explain says %+v, the decision %+v", name, e.Nodes, d)
			}
			var table strings.Builder
			if err := e.WriteTable(&table, 0); err != nil {
				t.Fatal(err)
			}
			if d.Reserved != "" && !strings.Contains(table.String(), "\nit gets "+d.Reserved+"\n") {
				t.Errorf("the table lacks %q:\n%s", d.Reserved, table.String())
			}
			return d, err
		}
		for i, want := range []string{"row I, seat I", "row II, seat II", "row III, seat III"} {
			if d, err := place(string(rune('p' + i))); d.Reserved != want || err != nil {
				t.Errorf("Reserved = %q, %v, want %q", d.Reserved, err, want)
			}
		}
		if d, err := place("standing", "stands", "yes"); d.Reserved != "" || err != nil {
			t.Errorf("Reserved = %q, %v, want nothing", d.Reserved, err)
		}
		if n := s.Node("a"); len(n.Pods) != 4 {
			t.Errorf("%d pods, want 4", len(n.Pods))
		}
		var failed *scheduling.PluginError
		if _, err := place("failing", "fail", "yes"); !errors.As(err, &failed) || failed.Point != "Reserves" || failed.Plugin != "row" || failed.Node != "a" {
			t.Errorf("a panic gives %v", err)
		}
		if n := s.Node("a"); len(n.Pods) != 4 {
			t.Errorf("after a panic %d pods, want 4", len(n.Pods))
		}
	}
}

// plainReserve says nothing.
type plainReserve struct{}

func (plainReserve) Name() string { return "plain" }

func (plainReserve) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

func (plainReserve) Unreserve(*framework.Cycle, *framework.NodeInfo) {}
