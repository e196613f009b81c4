//go:build full

package scheduling

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"pgregory.net/rapid"
)

// numbered makes nodes n0, n1, ...
func numbered(tb testing.TB, n int) (*framework.Snapshot, []*framework.NodeInfo) {
	tb.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	for i := range n {
		if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Obj()); err != nil {
			tb.Fatal(err)
		}
	}
	var nodes []*framework.NodeInfo
	for _, node := range s.All() {
		nodes = append(nodes, node)
	}
	return s, nodes
}

// TestTakeInOrderAgreesWithTake: three extenders or more in turn, or a single one, whose refusals
// wait. Their verdicts may be in order or not, name nodes twice or name strangers.
func TestTakeInOrderAgreesWithTake(t *testing.T) {
	_, all := numbered(t, 7)
	rapid.Check(t, func(t *rapid.T) {
		e := &Extender{Name: "x"}
		count := rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "extenders")
		f := &incrementalPath{s: &Scheduler{plugins: plugins{extenders: make([]Extender, count)}}}
		nodes, plain := candidatesOf(all), candidatesOf(all)
		var got, want extenderAnswer
		for range count {
			var v ExtenderVerdict
			for _, name := range plain.names {
				if rapid.IntRange(0, 3).Draw(t, "take") > 0 {
					v.Nodes = append(v.Nodes, name)
				}
			}
			v.Emptied = rapid.Bool().Draw(t, "emptied")
			switch rapid.IntRange(0, 5).Draw(t, "how") {
			case 0:
				slices.Reverse(v.Nodes)
			case 1:
				v.Nodes = append(v.Nodes, rapid.SampledFrom([]string{"n0", "n3", "n6", "stranger"}).Draw(t, "more"))
			case 2:
				v.Nodes = append([]string{"n2"}, v.Nodes...)
			}
			v.Failed = map[string]string{"n1": "failed"}
			v.Unresolvable = map[string]string{"n1": "never", "n4": "never"}
			var gotErr, wantErr error
			asked, left := nodes, plain
			nodes, gotErr = f.takeInOrder(&got, e, nodes, v)
			plain, wantErr = want.take(e, plain, v)
			if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				t.Fatalf("takeInOrder(%v) fails with %v, want %v", v.Nodes, gotErr, wantErr)
			}
			if wantErr != nil { // of an ignorable extender: the next is asked about the same nodes
				nodes, plain = asked, left
				continue
			}
			if count == 1 {
				got.kept = nodes.slots
				f.noteRefusals(&got)
				got.kept = want.kept
			}
			same := slices.Equal(nodes.nodes, plain.nodes) && slices.Equal(nodes.slots, plain.slots) && slices.Equal(nodes.names, plain.names)
			if !same || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("takeInOrder(%v) = %v, %v, want %v, %v", v.Nodes, nodes, got, plain, want)
			}
		}
	})
}

// TestPrioritizeAgreesWithReference: scores in order or not, several for one node, for
// strangers, and so large that they saturate.
func TestPrioritizeAgreesWithReference(t *testing.T) {
	s, nodes := numbered(t, 6)
	pod, err := s.NewPodInfo(api.MakePod("p").Obj())
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var extenders []Extender
		for range rapid.IntRange(1, 3).Draw(t, "extenders") {
			var scores []HostScore
			for range rapid.IntRange(0, 8).Draw(t, "scores") {
				scores = append(scores, HostScore{fmt.Sprint("n", rapid.IntRange(0, 7).Draw(t, "host")), rapid.SampledFrom([]int64{0, 1, 7, -3, math.MaxInt64, math.MinInt64}).Draw(t, "score")})
			}
			if rapid.Bool().Draw(t, "all") {
				scores = scores[:0]
				for i := range nodes {
					scores = append(scores, HostScore{fmt.Sprint("n", i), rapid.Int64Range(0, 10).Draw(t, "of all")})
				}
			}
			if rapid.Bool().Draw(t, "in order") {
				slices.SortStableFunc(scores, func(a, b HostScore) int { return int(a.Host[1]) - int(b.Host[1]) })
			}
			e := Extender{Name: "x", Weight: rapid.SampledFrom([]int64{1, 3, math.MaxInt64}).Draw(t, "weight")}
			if rapid.IntRange(0, 4).Draw(t, "scores at all") > 0 {
				fails := rapid.IntRange(0, 5).Draw(t, "fails") == 0
				e.Prioritize = func(context.Context, *framework.PodInfo, []*framework.NodeInfo) ([]HostScore, error) {
					if fails {
						return scores, errors.New("boom")
					}
					return scores, nil
				}
			}
			if rapid.IntRange(0, 4).Draw(t, "interested") == 0 {
				e.Interested = func(*framework.PodInfo) bool { return false }
			}
			extenders = append(extenders, e)
		}
		of := func() *referencePath {
			r := &referencePath{plugins: &plugins{extenders: extenders}, feasible: nodes, totals: []int64{0, 1, 2, 3, 4, math.MaxInt64}}
			r.extended.left = candidatesOf(nodes)
			r.cycle.Reset(pod, s, 0, 0)
			return r
		}
		got, want := of(), of()
		(&incrementalPath{}).prioritize(got)
		want.prioritize()
		if !slices.Equal(got.totals, want.totals) || !slices.Equal(got.extended.answered, want.extended.answered) {
			t.Fatalf("totals are %v, answered %v, want %v, %v", got.totals, got.extended.answered, want.totals, want.extended.answered)
		}
	})
}

// TestCachedVerdictsOfAnotherOrigin: generations of unrelated snapshots must not be
// compared, so verdicts about nominated nodes are forgotten with the snapshot.
func TestCachedVerdictsOfAnotherOrigin(t *testing.T) {
	profile := Kubernetes137()
	profile.TieRule, profile.Cache.Verify = First, true
	sched, err := New(profile)
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range []string{"3800m", "100m"} {
		s, nodes := numbered(t, 2)
		q, err := s.NewPodInfo(api.MakePod("q").Requests(request, "1Gi").Priority(9).Obj())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Nominate(q, nodes[0].Name(), ""); err != nil {
			t.Fatal(err)
		}
		p, err := s.NewPodInfo(api.MakePod("p").Requests("1", "1Gi").Obj())
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			d, err := sched.Schedule(s, p)
			if want := map[string]string{"3800m": "n1", "100m": "n0"}[request]; err != nil || d.Node != want {
				t.Fatalf("beside a pod that wants %s: %q, %v, want %s", request, d.Node, err, want)
			}
		}
	}
	if stats := sched.Stats(); stats.Hits == 0 {
		t.Errorf("no decision was a hit: %+v", stats)
	}
}

// An extender that gives one reason against the nominated node alone, and another against it among others: the
// last counts on both paths.
func TestVerifyRefusedTwice(t *testing.T) {
	p := Kubernetes137()
	p.PostFilter, p.Cache.Verify = nil, true
	p.Extenders = []Extender{{Name: "x", Filter: func(_ context.Context, _ *framework.PodInfo, nodes []*framework.NodeInfo) (v ExtenderVerdict, err error) {
		v.Failed, v.Unresolvable = map[string]string{}, map[string]string{}
		for _, n := range nodes {
			switch {
			case n.Name() != "n1":
				v.Nodes = append(v.Nodes, n.Name())
			case len(nodes) == 1:
				v.Failed["n1"] = "alone"
			default:
				v.Unresolvable["n1"] = "with others"
			}
		}
		return v, nil
	}}}
	sched, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := numbered(t, 4)
	for i := range 3 {
		pod, err := s.NewPodInfo(api.MakePod(fmt.Sprint("p", i)).Requests("1", "1Gi").Nominated("n1").Obj())
		if err != nil {
			t.Fatal(err)
		}
		if d, err := sched.Schedule(s, pod); err != nil || d.Node == "n1" {
			t.Errorf("pod %d: %q, %v", i, d.Node, err)
		}
	}
}
