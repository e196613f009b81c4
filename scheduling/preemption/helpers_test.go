package preemption_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// failer is the common interface of tests, benchmarks and property checks.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// at is a time that many seconds after a fixed one.
func at(seconds int) time.Time { return time.Unix(1_700_000_000+int64(seconds), 0) }

// snapshotOf returns a snapshot of the nodes, of the pods assigned to one and of the
// budgets.
func snapshotOf(tb failer, nodes []*api.Node, pods []*api.Pod, budgets ...*api.PodDisruptionBudget) *framework.Snapshot {
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
	for _, b := range budgets {
		if err := framework.Put(s, b); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

func podInfo(tb failer, s *framework.Snapshot, p *api.Pod) *framework.PodInfo {
	tb.Helper()
	info, err := s.NewPodInfo(p)
	if err != nil {
		tb.Fatal(err)
	}
	return info
}

// spy is a DefaultPreemption that keeps the result of a dry run on every node.
type spy struct {
	preemption.DefaultPreemption
	candidates []*preemption.Candidate
	failed     map[string]framework.Status
}

func (s *spy) PostFilter(ctx context.Context, c *framework.Cycle, v framework.Verdicts) (framework.PostFiltered, framework.Status) {
	s.candidates, s.failed = s.DryRun(c, v)
	return s.DefaultPreemption.PostFilter(ctx, c, v)
}

// outcome is the result for a pod without room.
type outcome struct {
	spy
	framework.PostFiltered
	status framework.Status
	err    error
}

// filters are the default filters of the tests.
func filters() []framework.Plugin {
	return []framework.Plugin{
		filter.NodeUnschedulable{}, filter.NodeAffinity{}, filter.NodePorts{}, filter.NodeResourcesFit{}, filter.InterPodAffinity{},
	}
}

// preempt schedules the pod, which must not fit, and runs PostFilter.
func preempt(tb failer, s *framework.Snapshot, plugin preemption.DefaultPreemption, pod *api.Pod, more ...framework.Plugin) *outcome {
	tb.Helper()
	o := &outcome{spy: spy{DefaultPreemption: plugin}}
	profile := scheduling.Profile{Name: "test", Filter: append(filters(), more...), PostFilter: []framework.Plugin{&o.spy}}
	sched, err := scheduling.New(profile)
	if err != nil {
		tb.Fatal(err)
	}
	info := podInfo(tb, s, pod)
	d, err := sched.Schedule(s, info)
	var fit *scheduling.FitError
	if !errors.As(err, &fit) {
		tb.Fatalf("Schedule(%s) = %q, %v; want a FitError", pod.Name, d.Node, err)
	}
	o.PostFiltered, _, o.status, o.err = sched.PostFilter(context.Background(), s, info, d)
	return o
}

// describe writes candidates as "node: victim, victim!; ...", with a mark on each
// victim that breaks a budget.
func describe(candidates []*preemption.Candidate) string {
	var list []string
	for _, c := range candidates {
		list = append(list, c.Node+": "+victims(c.Victims))
	}
	return strings.Join(list, "; ")
}

func victims(list []framework.Victim) string {
	var names []string
	for _, v := range list {
		name := v.Pod.Pod.Name
		if v.ViolatesBudget {
			name += "!"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// budget allows that many disruptions of the pods with app=name.
func budget(name string, allowed int32) *api.PodDisruptionBudget {
	return &api.PodDisruptionBudget{
		ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name},
		Spec:       api.PodDisruptionBudgetSpec{Selector: &api.LabelSelector{MatchLabels: map[string]string{"app": name}}},
		Status:     api.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
	}
}

// node has the given CPU and much memory.
func node(name, cpu string) *api.Node { return api.MakeNode(name, cpu, "64Gi").Obj() }

// on makes a pod with the given CPU on a node.
func on(node, name, cpu string, priority int32) api.PodBuilder {
	return api.MakePod(name).UID(api.UID(name)).Requests(cpu, "1Mi").Priority(priority).Node(node)
}

// preemptor makes a pod with the given CPU to place.
func preemptor(cpu string, priority int32) api.PodBuilder {
	return api.MakePod("preemptor").UID("preemptor").Requests(cpu, "1Mi").Priority(priority)
}

func objs(builders ...api.PodBuilder) []*api.Pod {
	var pods []*api.Pod
	for _, b := range builders {
		pods = append(pods, b.Obj())
	}
	return pods
}

// TestHelpers checks the helpers: without a pod of lower priority there is no
// candidate.
func TestHelpers(t *testing.T) {
	s := snapshotOf(t, []*api.Node{node("n", "1")}, objs(on("n", "a", "1", 5)))
	o := preempt(t, s, preemption.DefaultPreemption{}, preemptor("1", 5).Obj())
	if o.err != nil || len(o.candidates) != 0 || fmt.Sprint(o.failed) != "map[n:UnschedulableAndUnresolvable: No preemption victims found for incoming pod]" {
		t.Errorf("PostFilter = %v, %v, %v", o.candidates, o.failed, o.err)
	}
}
