//go:build full

package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

const rackLabel = "example.com/rack"

// groupTruth is a cluster with groups as the outside world sees it.
type groupTruth struct {
	d        *lifecycle.Driver
	nodes    map[string]*api.Node
	pods     map[string]*api.Pod // by name; spec.nodeName as the events said
	ours     map[string]string   // bound and not confirmed yet, with the node
	objects  map[string]*api.PodGroup
	stuck    map[string]bool // groups whose last attempt was an error
	failBind bool
	errors   []string
}

func (w *groupTruth) fault(format string, args ...any) {
	w.errors = append(w.errors, fmt.Sprintf(format, args...))
}

func (w *groupTruth) Bind(_ context.Context, pod *api.Pod, node string) error {
	if w.failBind {
		w.failBind = false
		return errors.New("the binder fails")
	}
	now := w.pods[pod.Name]
	switch {
	case now == nil || now.UID != pod.UID:
		return errors.New("no such pod")
	case now.Spec.NodeName != "" || w.ours[pod.Name] != "":
		w.fault("pod %s is bound to %s a second time", pod.Name, node)
	}
	w.ours[pod.Name] = node
	return nil
}

// Evict lets the victim end when it is told to.
func (w *groupTruth) Evict(_ context.Context, victim, _ *api.Pod) error {
	p := w.pods[victim.Name]
	if p == nil || p.UID != victim.UID || w.on(p) == "" {
		w.fault("%s is evicted, but is on no node", victim.Name)
		return nil
	}
	p = api.Clone(p)
	at := epoch
	p.DeletionTimestamp = &at
	p.Status.Conditions = append(p.Status.Conditions, api.PodCondition{Type: api.DisruptionTarget, Status: api.ConditionTrue, Reason: api.PodReasonPreemptionByScheduler})
	w.pods[p.Name] = p
	w.d.Apply(lifecycle.Update(p))
	return nil
}

func (w *groupTruth) ReportGroup(_ context.Context, g *api.PodGroup, c api.Condition) {
	w.stuck[g.Name] = c.Reason == api.PodGroupReasonSchedulerError
}

// refusing is a Reserve plugin that refuses pods that ask for it.
type refusing struct{}

func (refusing) Name() string { return "refusing" }

func (refusing) Reserve(c *framework.Cycle, _ *framework.NodeInfo) framework.Status {
	if c.Pod.Pod.Labels["reserve"] == "no" {
		return framework.UnschedulableStatus("not reserved")
	}
	return framework.Status{}
}

func (refusing) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

// on is the node of a pod, "" if it has none.
func (w *groupTruth) on(p *api.Pod) string {
	if p.Spec.NodeName != "" {
		return p.Spec.NodeName
	}
	return w.ours[p.Name]
}

// members lists the pods of a group that count on a node.
func (w *groupTruth) members(group string) (n int) {
	for _, p := range w.pods {
		if p.SchedulingGroupName() == group && w.nodes[w.on(p)] != nil {
			n++
		}
	}
	return n
}

// attempt makes an attempt. A group that stands afterwards has its minimum, and one that
// does not has not moved.
func (w *groupTruth) attempt() bool {
	before := map[string]int{}
	for name := range w.objects {
		before[name] = w.members(name)
	}
	failing := w.failBind
	a, ok := w.d.ScheduleOne(context.Background())
	if !ok {
		return false
	}
	name := strings.TrimPrefix(a.Group, "default/")
	for group, was := range before {
		now := w.members(group)
		switch {
		case group == name && a.State == lifecycle.Binding && now == was && !failing:
			w.fault("group %s is said to stand, and no pod of it has come", group)
		case group == name && a.State == lifecycle.Binding && !failing:
			if g := w.objects[group]; now < g.MinCount() {
				w.fault("group %s stands with %d of %d pods", group, now, g.MinCount())
			}
		case now > was && group != name:
			w.fault("pods of group %s came in an attempt for %q", group, a.Group)
		case now > was && a.State != lifecycle.Binding:
			w.fault("the attempt for group %s ended as %v, and %d pods of it have come", group, a.State, now-was)
		}
	}
	return true
}

// compare derives from the truth what the driver must hold.
func (w *groupTruth) compare() {
	s := w.d.Snapshot()
	want := map[string][]string{}
	counts := lifecycle.Counts{Nodes: len(w.nodes), Pods: len(w.pods), Queue: w.d.Counts().Queue, Pending: w.d.Counts().Pending}
	for _, p := range w.pods {
		switch node := w.on(p); {
		case w.nodes[node] != nil:
			want[node] = append(want[node], p.Name)
			counts.Assigned++
			if p.Spec.NodeName == "" {
				counts.Assumed++
			}
		case node != "":
			counts.UnknownNode++
		}
	}
	if got := w.d.Counts(); got != counts || got.Pending > len(w.pods)-got.Assigned-got.UnknownNode {
		w.fault("Counts() = %+v, want %+v", got, counts)
	}
	for name := range w.nodes {
		n := s.Node(name)
		if n == nil {
			w.fault("node %s is not in the snapshot", name)
			continue
		}
		have := []string{}
		var sum resource.Vector
		for _, p := range n.Pods {
			have = append(have, p.Pod.Name)
			sum = sum.Add(p.UsedRequests)
		}
		slices.Sort(have)
		slices.Sort(want[name])
		if !slices.Equal(have, append([]string{}, want[name]...)) || !sum.Equal(n.Requested) {
			w.fault("node %s holds %v and %v, want %v and %v", name, have, n.Requested, want[name], sum)
		}
	}
	if err := s.Check(); err != nil {
		w.fault("Check: %v", err)
	}
}

// TestGroupsStateMachine runs random histories of groups and single pods: arrivals,
// deletions, failing bindings, refused reservations, preemption, nodes that go and come.
// Nothing is ever half placed or lost. In the end there is room for all, and all stand.
func TestGroupsStateMachine(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		w := &groupTruth{
			nodes: map[string]*api.Node{}, pods: map[string]*api.Pod{}, ours: map[string]string{},
			objects: map[string]*api.PodGroup{}, stuck: map[string]bool{},
		}
		clock := virtualclock.New(epoch)
		profile := scheduling.Kubernetes137()
		profile.Cache.Verify = true
		profile.Reserve = append(profile.Reserve, refusing{})
		rules := groups.Rules{Choice: rapid.SampledFrom([]groups.Choice{groups.Kubernetes137, groups.BestFit}).Draw(t, "choice")}
		d, err := lifecycle.New(lifecycle.Config{
			Profiles: []scheduling.Profile{profile}, Groups: &rules, Binder: w, Clock: clock,
			ErrorHandler: func(err error) { w.fault("problem: %v", err) },
		})
		if err != nil {
			t.Fatal(err)
		}
		w.d = d
		serial := 0
		put := func(p *api.Pod) {
			w.pods[p.Name] = p
			d.Apply(lifecycle.Update(p))
		}
		forget := func(p *api.Pod) {
			delete(w.pods, p.Name)
			delete(w.ours, p.Name)
			d.Apply(lifecycle.Delete(p))
		}
		aPod := func(when func(*api.Pod) bool) *api.Pod {
			var list []*api.Pod
			for _, name := range slices.Sorted(maps.Keys(w.pods)) {
				if when(w.pods[name]) {
					list = append(list, w.pods[name])
				}
			}
			if len(list) == 0 {
				t.Skip("no such pod")
			}
			return rapid.SampledFrom(list).Draw(t, "pod")
		}
		node := func(name, cpu string) {
			n := api.MakeNode(name, cpu, "64Gi").Labels(rackLabel, "r"+name[1:2]).Obj()
			w.nodes[name] = n
			d.Apply(lifecycle.Update(n))
		}
		nodeName := func() string { return fmt.Sprintf("n%d", rapid.IntRange(0, 3).Draw(t, "node")) }
		groupName := func() string { return rapid.SampledFrom([]string{"g0", "g1", "g2"}).Draw(t, "group") }
		priority := map[string]int32{"": 0, "g0": 0, "g1": 5, "g2": 10}
		object := func(name string, least int32) {
			p := priority[name]
			g := podGroup(name, least, p)
			if old := w.objects[name]; old != nil { // topology may not change
				g.Spec.SchedulingConstraints, g.Spec.DisruptionMode = old.Spec.SchedulingConstraints, old.Spec.DisruptionMode
			} else {
				if rapid.Bool().Draw(t, "topology") {
					g.Spec.SchedulingConstraints = &api.PodGroupSchedulingConstraints{Topology: []api.TopologyConstraint{{Key: rackLabel}}}
				}
				if rapid.Bool().Draw(t, "all") {
					g.Spec.DisruptionMode = &api.DisruptionMode{All: &api.AllDisruptionMode{}}
				}
			}
			w.objects[name] = g
			d.Apply(lifecycle.Update(g))
		}
		confirm := func(p *api.Pod) {
			at := w.ours[p.Name]
			delete(w.ours, p.Name)
			put(onNode(p, at))
		}
		t.Repeat(map[string]func(*rapid.T){
			"node comes or changes": func(t *rapid.T) {
				node(nodeName(), rapid.SampledFrom([]string{"1", "2", "4"}).Draw(t, "cpu"))
			},
			"node goes": func(*rapid.T) {
				name := nodeName()
				if n := w.nodes[name]; n != nil {
					delete(w.nodes, name)
					d.Apply(lifecycle.Delete(n))
				}
			},
			"group": func(t *rapid.T) { object(groupName(), rapid.Int32Range(1, 3).Draw(t, "min")) },
			"group goes": func(*rapid.T) {
				name := groupName()
				if g := w.objects[name]; g != nil {
					delete(w.objects, name)
					d.Apply(lifecycle.Delete(g))
				}
			},
			"pod comes": func(t *rapid.T) {
				serial++
				group := rapid.SampledFrom([]string{"", "g0", "g1", "g2", "g1", "g2"}).Draw(t, "of")
				p := groupPod(fmt.Sprintf("p%02d", serial), group, rapid.SampledFrom([]string{"500m", "1", "2"}).Draw(t, "cpu"), priority[group])
				if p.UID = api.UID("u-" + p.Name); group == "" {
					p.Spec.SchedulingGroup = nil
				}
				if rapid.IntRange(0, 7).Draw(t, "reserve") == 0 {
					p.Labels = map[string]string{"reserve": "no"}
				}
				put(p)
			},
			"pod goes":    func(*rapid.T) { forget(aPod(func(*api.Pod) bool { return true })) },
			"victim ends": func(*rapid.T) { forget(aPod(func(p *api.Pod) bool { return p.DeletionTimestamp != nil })) },
			"confirm":     func(*rapid.T) { confirm(aPod(func(p *api.Pod) bool { return w.ours[p.Name] != "" })) },
			"time": func(t *rapid.T) {
				clock.Advance(time.Duration(rapid.IntRange(0, 100).Draw(t, "seconds")) * time.Second)
			},
			"binder fails": func(*rapid.T) { w.failBind = true },
			"schedule":     func(*rapid.T) { w.attempt() },
			"": func(t *rapid.T) {
				d.Flush(ctx)
				w.compare()
				if len(w.errors) > 0 {
					t.Fatal(w.errors)
				}
			},
		})
		// Room for all of them, and nothing in the way.
		w.failBind = false
		for _, name := range slices.Sorted(maps.Keys(w.pods)) {
			switch p := w.pods[name]; {
			case p.DeletionTimestamp != nil, p.Labels["reserve"] == "no" && w.on(p) == "":
				forget(p)
			case w.ours[name] != "":
				confirm(p)
			}
		}
		for i := range 4 {
			node(fmt.Sprintf("n%d", i), "64")
		}
		for _, g := range []string{"g0", "g1", "g2"} {
			object(g, 1)
		}
		for range 8 {
			for w.attempt() {
			}
			clock.Advance(time.Minute)
			d.Flush(ctx)
		}
		w.compare()
		for _, name := range slices.Sorted(maps.Keys(w.pods)) {
			if p := w.pods[name]; w.on(p) == "" && !w.stuck[p.SchedulingGroupName()] {
				w.fault("pod %s of group %q has no node in the end", name, p.SchedulingGroupName())
			}
		}
		if len(w.errors) > 0 {
			t.Fatal(w.errors)
		}
	})
}
