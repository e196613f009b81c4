package scoring_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// list reads name, text, name, text, ... as a resource list.
func list(pairs ...string) resource.List {
	l := resource.List{}
	for i := 0; i < len(pairs); i += 2 {
		l[resource.Name(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

// failer is the common interface of tests, benchmarks and property checks.
type failer interface {
	Helper()
	Fatal(args ...any)
}

func podInfo(tb failer, s *framework.Snapshot, p *api.Pod) *framework.PodInfo {
	tb.Helper()
	info, err := s.NewPodInfo(p)
	if err != nil {
		tb.Fatal(err)
	}
	return info
}

// snapshotOf returns a snapshot of the nodes and of the pods assigned to one.
func snapshotOf(tb failer, nodes []*api.Node, pods ...*api.Pod) *framework.Snapshot {
	tb.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range nodes {
		if err := s.AddNode(n); err != nil {
			tb.Fatal(err)
		}
	}
	for _, p := range pods {
		if err := s.AddPod(podInfo(tb, s, p), p.Spec.NodeName); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

func nodesOf(s *framework.Snapshot) []*framework.NodeInfo {
	var nodes []*framework.NodeInfo
	for _, n := range s.All() {
		nodes = append(nodes, n)
	}
	return nodes
}

// rawScores runs a score plugin over all nodes, as a profile would. Without
// success there are no scores.
func rawScores(c *framework.Cycle, p framework.Plugin) ([]int64, framework.Status) {
	nodes := nodesOf(c.Snapshot)
	var scorer framework.NodeScorer
	if pre, ok := p.(framework.PreScorePlugin); ok {
		var status framework.Status
		if scorer, status = pre.PreScore(c, nodes); !status.IsSuccess() {
			return nil, status
		}
	} else {
		scorer = p.(framework.ScorePlugin)
	}
	scores := make([]int64, len(nodes))
	for i, n := range nodes {
		scores[i] = scorer.Score(c.Pod, n)
	}
	return scores, framework.Status{}
}

// scoresOf returns the raw scores of a pod.
func scoresOf(tb failer, s *framework.Snapshot, p framework.Plugin, pod *api.Pod) ([]int64, framework.Status) {
	tb.Helper()
	var c framework.Cycle
	c.Reset(podInfo(tb, s, pod), s, 0, 0)
	return rawScores(&c, p)
}

// wantScores compares raw scores and, if the plugin normalizes, normalized ones.
func wantScores(t *testing.T, s *framework.Snapshot, p framework.Plugin, pod *api.Pod, raw, normalized []int64) {
	t.Helper()
	got, status := scoresOf(t, s, p, pod)
	if !status.IsSuccess() {
		t.Fatalf("PreScore of %s = %v, want Success", p.Name(), status)
	}
	if diff := cmp.Diff(raw, got); diff != "" {
		t.Errorf("raw scores of %s (-want +got):\n%s", p.Name(), diff)
	}
	by, ok := p.(framework.RangeNormalizer)
	if !ok {
		return
	}
	smallest, largest := slices.Min(got), slices.Max(got)
	for i := range got {
		got[i] = by.NormalizeScore(got[i], smallest, largest)
	}
	if diff := cmp.Diff(normalized, got); diff != "" {
		t.Errorf("normalized scores of %s (-want +got):\n%s", p.Name(), diff)
	}
}

func wantSkip(t *testing.T, s *framework.Snapshot, p framework.Plugin, pod *api.Pod) {
	t.Helper()
	if _, status := scoresOf(t, s, p, pod); !status.IsSkip() {
		t.Errorf("PreScore of %s = %v, want Skip", p.Name(), status)
	}
}
