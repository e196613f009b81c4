//go:build full

package scheduling_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// keyed prefers nodes with few pods. Its keys are made by a function.
type keyed struct {
	scores *int
	key    func(b []byte, n *framework.NodeInfo) []byte
}

func (keyed) Name() string { return "keyed" }

func (keyed) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldRequests, Reads: framework.ReadsNode | framework.ReadsPods}
}

func (k keyed) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	*k.scores++
	return max(0, 100-int64(len(n.Pods)))
}

func (k keyed) AppendNodeKey(b []byte, _ *framework.PodInfo, n *framework.NodeInfo) []byte {
	return k.key(b, n)
}

func byPods(b []byte, n *framework.NodeInfo) []byte { return append(b, byte(len(n.Pods))) }

// keyedRun places pods of one class on 40 nodes. Ten of them have a pod.
func keyedRun(t *testing.T, c scheduling.CacheConfig, key func([]byte, *framework.NodeInfo) []byte, pods int) (placed []string, scores []int, stats scheduling.Stats, err error) {
	t.Helper()
	var nodes []*api.Node
	for i := range 40 {
		nodes = append(nodes, api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Obj())
	}
	s := smallCluster(t, nodes...)
	for i := range 10 {
		if err := s.AddPod(podInfo(t, s, api.MakePod(fmt.Sprint("old", i)).Obj()), fmt.Sprint("n", 4*i)); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	sched := build(t, scheduling.Profile{Score: []scheduling.Weighted{{Plugin: keyed{&count, key}}}, TieRule: scheduling.First, Cache: c})
	for i := range pods {
		before := count
		d, err := sched.Place(s, podInfo(t, s, api.MakePod(fmt.Sprint("p", i)).Obj()))
		if err != nil {
			return nil, nil, sched.Stats(), err
		}
		placed, scores = append(placed, d.Node), append(scores, count-before)
	}
	return placed, scores, sched.Stats(), nil
}

// The first pod takes the reference path, which knows no keys. For the second, one node of
// each key is asked about: those with a pod, and those without.
func TestNodeKeys(t *testing.T) {
	want, _, _, err := keyedRun(t, scheduling.CacheConfig{Off: true}, byPods, 6)
	if err != nil {
		t.Fatal(err)
	}
	got, scores, stats, err := keyedRun(t, scheduling.CacheConfig{}, byPods, 6)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("placed on %v, want %v", got, want)
	}
	if fmt.Sprint(scores) != "[40 2 1 1 1 1]" || stats.Hits+stats.Misses != 5 {
		t.Errorf("%v scores asked for, %+v, want [40 2 1 1 1 1] and 5 decisions from kept answers", scores, stats)
	}
}

// Keys that are not true are found by Verify; ones that panic cost the class only.
func TestNodeKeysFail(t *testing.T) {
	for _, pods := range []int{1, 2} {
		_, _, _, err := keyedRun(t, scheduling.CacheConfig{Verify: true}, func(b []byte, _ *framework.NodeInfo) []byte { return b }, pods)
		if errors.As(err, new(*scheduling.DifferenceError)) != (pods == 2) {
			t.Errorf("%d pods, one key for all nodes: %v", pods, err)
		}
	}
	want, _, _, err := keyedRun(t, scheduling.CacheConfig{Off: true}, byPods, 3)
	if err != nil {
		t.Fatal(err)
	}
	got, _, stats, err := keyedRun(t, scheduling.CacheConfig{}, func([]byte, *framework.NodeInfo) []byte { panic("boom") }, 3)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) || stats.Faults != 0 || stats.Bypassed != 3 {
		t.Errorf("placed on %v, %+v, %v, want %v, 3 bypassed, no fault", got, stats, err, want)
	}
}
