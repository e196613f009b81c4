package preemption_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// podGroup is a group of one priority, with a parent or "".
func podGroup(name string, priority int32, all bool, parent string) *api.PodGroup {
	g := &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name}}
	g.Spec.Priority = &priority
	if all {
		g.Spec.DisruptionMode = &api.DisruptionMode{All: &api.AllDisruptionMode{}}
	}
	if parent != "" {
		g.Spec.ParentCompositePodGroupName = &parent
	}
	return g
}

func composite(name string, priority int32, all bool) *api.CompositePodGroup {
	g := &api.CompositePodGroup{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name}}
	g.Spec.Priority = &priority
	if all {
		g.Spec.DisruptionMode = &api.DisruptionMode{All: &api.AllDisruptionMode{}}
	}
	return g
}

func inGroup(p *api.Pod, group string) *api.Pod {
	p.Namespace = "default"
	if group != "" {
		p.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &group}
	}
	return p
}

func putObject[T api.Object](t failer, s *framework.Snapshot, object *T) {
	t.Helper()
	if err := framework.Put(s, object); err != nil {
		t.Fatal(err)
	}
}

// A group that may only be disrupted as a whole leaves with its pods on other nodes, but
// only the node's own pods make room there. The group's priority counts, not the pods'.
func TestUnitsLeaveTogether(t *testing.T) {
	make2 := func(mode bool) (*framework.Snapshot, *outcome) {
		s := snapshotOf(t, []*api.Node{node("a", "4"), node("b", "4")}, []*api.Pod{
			inGroup(on("a", "a0", "2", 0).Obj(), "g"), inGroup(on("a", "a1", "2", 9).Obj(), "g"),
			inGroup(on("b", "b0", "2", 0).Obj(), "g"), on("b", "b1", "2", 9).Obj(),
		})
		putObject(t, s, podGroup("g", 3, mode, ""))
		return s, preempt(t, s, preemption.DefaultPreemption{PodGroups: true}, preemptor("2", 5).Obj())
	}
	_, o := make2(true)
	if o.err != nil || describe(o.candidates) != "a: a0, a1, b0; b: a0, a1, b0" {
		t.Errorf("candidates = %s, %v", describe(o.candidates), o.err)
	}
	_, o = make2(false)
	if o.err != nil || describe(o.candidates) != "a: a1; b: b0" {
		t.Errorf("one by one: candidates = %s, %v", describe(o.candidates), o.err)
	}
}

// A pod outside of every group is less important than one of a group, and the root's
// priority counts for all pods below it.
func TestUnitImportance(t *testing.T) {
	s := snapshotOf(t, []*api.Node{node("a", "6")}, []*api.Pod{
		inGroup(on("a", "lone", "1", 2).Started(at(0)).Obj(), ""), inGroup(on("a", "single", "1", 2).Started(at(1)).Obj(), "free"),
		inGroup(on("a", "x", "1", 0).Started(at(2)).Obj(), "x"), inGroup(on("a", "y", "1", 0).Started(at(3)).Obj(), "y"), inGroup(on("a", "y2", "1", 0).Started(at(4)).Obj(), "y"),
	})
	putObject(t, s, podGroup("x", 7, false, "c"))
	putObject(t, s, podGroup("y", 8, false, "c"))
	putObject(t, s, composite("c", 2, true))
	units := preemption.UnitsOf(s)
	slices.SortStableFunc(units, (*preemption.Unit).Compare)
	var got []string
	for _, u := range units {
		var pods []string
		for _, p := range u.Pods {
			pods = append(pods, p.Pod.Pod.Name+"@"+p.Node.Name())
		}
		got = append(got, fmt.Sprint(u.Group, u.Composite, u.Priority(), pods))
	}
	const want = "default/ctrue 2 [x@a y@a y2@a]; false 2 [single@a]; false 2 [lone@a]"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("units = %s\nwant %s", text, want)
	}
	for _, p := range s.Node("a").Pods {
		if got := preemption.PriorityOf(s, p); got != 2 {
			t.Errorf("PriorityOf(%s) = %d, want 2", p.Pod.Name, got)
		}
	}
}

// plainUnit is a unit in the plain transcription.
type plainUnit struct {
	pods                 []*framework.PodInfo
	priority, kind, size int
	first                int64
	at                   int
	violations           int
}

const unstarted = int64(1) << 62

// plainCandidate is what has to leave a node, by arithmetic on CPUs alone.
func plainCandidate(s *framework.Snapshot, c *groupCluster, n *framework.NodeInfo) string {
	units, byKey := []*plainUnit{}, map[string]*plainUnit{}
	at := map[*framework.PodInfo]int{}
	for i, p := range n.Pods {
		at[p] = i
	}
	for _, m := range s.All() {
		for _, p := range m.Pods {
			group := p.Pod.SchedulingGroupName()
			key, u := p.Pod.Name, &plainUnit{priority: int(p.Priority), first: unstarted, at: -1}
			if p.Pod.Spec.SchedulingGroup != nil {
				u.kind = 1
			}
			if g := c.group(group); g != nil {
				u.priority = int(*g.Spec.Priority)
				if g.Spec.DisruptionMode != nil {
					key = "group " + group
				}
				if g.Spec.ParentCompositePodGroupName != nil && c.parent != nil {
					u.priority = int(*c.parent.Spec.Priority)
					if c.parent.Spec.DisruptionMode != nil {
						key, u.kind = "composite", 2
					}
				}
			}
			if byKey[key] == nil {
				byKey[key] = u
				units = append(units, u)
			}
			u = byKey[key]
			u.pods, u.size = append(u.pods, p), u.size+1
			if start := p.Pod.Status.StartTime; start != nil {
				u.first = min(u.first, start.UnixNano())
			}
			if i, ok := at[p]; ok && u.at < 0 {
				u.at = i
			}
		}
	}
	units = slices.DeleteFunc(units, func(u *plainUnit) bool { return u.at < 0 || u.priority >= int(*c.pod.Spec.Priority) })
	if len(units) == 0 {
		return ""
	}
	slices.SortFunc(units, func(x, y *plainUnit) int {
		return cmp.Or(y.priority-x.priority, y.kind-x.kind, y.size-x.size, cmp.Compare(x.first, y.first), x.at-y.at)
	})
	cpu := func(p *framework.PodInfo) int64 { return p.Requests[0] }
	wants := podInfo(c.t, s, c.pod).Requests[0]
	free := n.Allocatable[0] - n.Requested[0]
	share := func(u *plainUnit) (sum int64) {
		for _, p := range u.pods {
			if _, ok := at[p]; ok {
				sum += cpu(p)
			}
		}
		return sum
	}
	allowed := map[string]int{}
	for _, b := range c.budgets {
		allowed[b.Name] = int(b.Status.DisruptionsAllowed)
	}
	for _, u := range units {
		free += share(u)
		for _, p := range u.pods {
			if left, ok := allowed[p.Pod.Labels["app"]]; ok {
				allowed[p.Pod.Labels["app"]]--
				if left <= 0 {
					u.violations++
				}
			}
		}
	}
	if free < wants {
		return ""
	}
	var gone []*plainUnit
	for _, violating := range []bool{true, false} {
		for _, u := range units {
			if (u.violations > 0) != violating {
				continue
			}
			if free-share(u) >= wants {
				free -= share(u)
			} else {
				gone = append(gone, u)
			}
		}
	}
	slices.SortStableFunc(gone, func(x, y *plainUnit) int { return slices.Index(units, x) - slices.Index(units, y) })
	var names []string
	count := 0
	for _, u := range gone {
		count += u.violations
		for _, p := range u.pods {
			name := p.Pod.Name
			if u.violations > 0 {
				name += "!"
			}
			names = append(names, name)
		}
	}
	return fmt.Sprintf("%s: %s (%d)", n.Name(), strings.Join(names, ", "), count)
}

// groupCluster is full nodes with pods of groups.
type groupCluster struct {
	t       failer
	nodes   []*api.Node
	pods    []*api.Pod
	groups  []*api.PodGroup
	parent  *api.CompositePodGroup
	budgets []*api.PodDisruptionBudget
	pod     *api.Pod
}

func (c *groupCluster) group(name string) *api.PodGroup {
	for _, g := range c.groups {
		if g.Name == name {
			return g
		}
	}
	return nil
}

func drawGroups(t *rapid.T) *groupCluster {
	c := &groupCluster{t: t}
	priority := rapid.Int32Range(0, 4)
	for i := range rapid.IntRange(0, 3).Draw(t, "groups") {
		parent := rapid.SampledFrom([]string{"", "c"}).Draw(t, "parent")
		c.groups = append(c.groups, podGroup(fmt.Sprint("g", i), priority.Draw(t, "group priority"), rapid.Bool().Draw(t, "all"), parent))
	}
	if rapid.Bool().Draw(t, "composite") {
		c.parent = composite("c", priority.Draw(t, "root priority"), rapid.Bool().Draw(t, "all of all"))
	}
	starts := 0
	for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
		name := fmt.Sprintf("n%d", i)
		size := rapid.IntRange(4, 12).Draw(t, "size")
		c.nodes = append(c.nodes, node(name, fmt.Sprint(size)))
		for k := 0; size > 0; k++ {
			cpu := min(size, rapid.IntRange(1, 4).Draw(t, "cpu"))
			size -= cpu
			p := on(name, fmt.Sprintf("%s-%02d", name, k), fmt.Sprint(cpu), priority.Draw(t, "priority"))
			if app := rapid.SampledFrom([]string{"", "web", "db"}).Draw(t, "app"); app != "" {
				p = p.Labels("app", app)
			}
			if rapid.IntRange(0, 3).Draw(t, "started") > 0 {
				starts += rapid.IntRange(1, 9).Draw(t, "later")
				p = p.Started(at(starts * rapid.SampledFrom([]int{1, -1}).Draw(t, "sign")))
			}
			c.pods = append(c.pods, inGroup(p.Obj(), rapid.SampledFrom([]string{"", "g0", "g1", "g2"}).Draw(t, "group")))
		}
	}
	for _, app := range []string{"web", "db"} {
		if rapid.Bool().Draw(t, "budget") {
			c.budgets = append(c.budgets, budget(app, rapid.Int32Range(0, 3).Draw(t, "allowed")))
		}
	}
	c.pod = preemptor(fmt.Sprint(rapid.IntRange(1, 8).Draw(t, "wanted")), priority.Draw(t, "pod priority")).Obj()
	return c
}

func (c *groupCluster) snapshot() *framework.Snapshot {
	s := snapshotOf(c.t, c.nodes, c.pods, c.budgets...)
	for _, g := range c.groups {
		putObject(c.t, s, g)
	}
	if c.parent != nil {
		putObject(c.t, s, c.parent)
	}
	return s
}

// The candidates with units, on all nodes, are those of a plain transcription.
func TestUnitsAgainstPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawGroups(t)
		s := c.snapshot()
		before := state(s)
		o := preempt(t, s, preemption.DefaultPreemption{PodGroups: true}, c.pod)
		if after := state(s); after != before || o.err != nil {
			t.Fatalf("%v; the snapshot changed from\n%s\nto\n%s", o.err, before, after)
		}
		var got, want []string
		for _, k := range o.candidates {
			got = append(got, fmt.Sprintf("%s (%d)", describe([]*preemption.Candidate{k}), k.Violations))
		}
		for _, n := range s.All() {
			if text := plainCandidate(s, c, n); text != "" {
				want = append(want, text)
			}
		}
		if strings.Join(got, "; ") != strings.Join(want, "; ") {
			t.Fatalf("candidates = %s\nwant %s", strings.Join(got, "; "), strings.Join(want, "; "))
		}
		if (o.status.Code() == framework.Success) != (len(want) > 0) {
			t.Fatalf("PostFilter = %v with candidates %v", o.status, want)
		}
		if len(want) == 0 {
			return
		}
		// A dry run moves all pods of a unit, PostFilter only those of one node.
		i := slices.IndexFunc(o.candidates, func(k *preemption.Candidate) bool { return k.Node == o.Nominated })
		if i < 0 || victims(o.Victims) != victims(o.candidates[i].Victims) {
			t.Fatalf("PostFilter chose %s: %s, candidates are %s", o.Nominated, victims(o.Victims), describe(o.candidates))
		}
	})
}

// What filters sum up over nodes changes with the pods of a unit that are elsewhere.
func TestUnitsOfOtherNodes(t *testing.T) {
	nodes := []*api.Node{api.MakeNode("a", "2", "64Gi").Zone("z").Obj(), api.MakeNode("b", "4", "64Gi").Zone("z").Obj()}
	s := snapshotOf(t, nodes, []*api.Pod{
		inGroup(on("a", "a0", "2", 0).Obj(), "g"), inGroup(on("b", "b0", "1", 0).Labels("app", "x").Obj(), "g"),
	})
	putObject(t, s, podGroup("g", 0, true, ""))
	pod := preemptor("1", 5).PodAntiAffinity(api.LabelTopologyZone, "app=x").Obj()
	o := preempt(t, s, preemption.DefaultPreemption{PodGroups: true}, pod)
	if o.err != nil || describe(o.candidates) != "a: a0, b0; b: a0, b0" {
		t.Errorf("candidates = %s, %v, %v", describe(o.candidates), o.failed, o.err)
	}
	putObject(t, s, podGroup("g", 0, false, ""))
	o = preempt(t, s, preemption.DefaultPreemption{PodGroups: true}, pod)
	if o.err != nil || describe(o.candidates) != "b: b0" {
		t.Errorf("one by one: candidates = %s, %v", describe(o.candidates), o.err)
	}
}

// A scheduler that verifies finds no difference while groups and their pods change: no
// answer of a node is kept that depends on pods of another.
func TestUnitsAreNotKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawGroups(t)
		s := c.snapshot()
		profile := scheduling.Kubernetes137()
		profile.PostFilter = []framework.Plugin{preemption.DefaultPreemption{PodGroups: true}}
		profile.Cache.Verify = true
		kept, err := scheduling.New(profile)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			switch rapid.IntRange(0, 4).Draw(t, "change") {
			case 0:
				putObject(t, s, podGroup("g0", rapid.Int32Range(0, 4).Draw(t, "priority"), rapid.Bool().Draw(t, "all"), ""))
			case 1:
				framework.Delete[api.PodGroup](s, "default/g0")
			case 4: // a pod of no group, or of one that may be there later
				p := on("", fmt.Sprint("late", i), "100m", rapid.Int32Range(0, 4).Draw(t, "priority")).Obj()
				p.Spec.NodeName = s.At(rapid.IntRange(0, s.Len()-1).Draw(t, "node")).Name()
				group := rapid.SampledFrom([]string{"", "g0"}).Draw(t, "group")
				if err := s.AddPod(podInfo(t, s, inGroup(p, group)), p.Spec.NodeName); err != nil {
					t.Fatal(err)
				}
			case 2:
				if n := s.AtSlot(s.Slots()[rapid.IntRange(0, s.Len()-1).Draw(t, "node")]); len(n.Pods) > 0 {
					if err := s.RemovePod(n.Pods[0], n.Name()); err != nil {
						t.Fatal(err)
					}
				}
			}
			pod := podInfo(t, s, c.pod)
			ask := func(sched *scheduling.Scheduler) string {
				sched.Seek(scheduling.Position{})
				d, err := sched.Schedule(s, pod)
				if err == nil {
					return "fits on " + d.Node
				}
				found, _, status, err := sched.PostFilter(context.Background(), s, pod, d)
				if err != nil {
					t.Fatal(err)
				}
				return found.Nominated + ": " + victims(found.Victims) + " " + status.Message()
			}
			fresh, err := scheduling.New(profile)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := ask(kept), ask(fresh); got != want {
				t.Fatalf("after earlier attempts: %s\nfrom nothing: %s", got, want)
			}
		}
	})
}

// A node that gets a pod of a group is asked again in every attempt, also if all nodes have
// refused before: the group's object may change.
func TestUnitsComeLater(t *testing.T) {
	s := snapshotOf(t, []*api.Node{node("a", "4")}, []*api.Pod{on("a", "low", "2", 0).Obj(), on("a", "high", "2", 9).Obj()})
	putObject(t, s, podGroup("g", 9, false, ""))
	profile := scheduling.Kubernetes137()
	profile.PostFilter = []framework.Plugin{preemption.DefaultPreemption{PodGroups: true}}
	sched, err := scheduling.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	pod := podInfo(t, s, preemptor("3", 5).Obj())
	attempt := func(want string) {
		t.Helper()
		d, err := sched.Schedule(s, pod)
		if err == nil {
			t.Fatalf("the pod fits on %s", d.Node)
		}
		found, _, status, err := sched.PostFilter(context.Background(), s, pod, d)
		if err != nil || victims(found.Victims) != want {
			t.Fatalf("victims = %q, %v, %v, want %q", victims(found.Victims), status, err, want)
		}
	}
	attempt("")
	attempt("") // without a look at the node
	if err := s.RemovePod(s.Node("a").Pods[1], "a"); err != nil {
		t.Fatal(err)
	}
	if err := s.AddPod(podInfo(t, s, inGroup(on("a", "member", "2", 0).Obj(), "g")), "a"); err != nil {
		t.Fatal(err)
	}
	attempt("")
	putObject(t, s, podGroup("g", 0, false, ""))
	attempt("member, low")
}
