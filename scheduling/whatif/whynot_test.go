package whatif_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

func ExamplePlanner_WhyNot() {
	s := cluster(
		[]api.NodeBuilder{api.MakeNode("gpu", "32", "64Gi").Taint("gpu=yes:NoSchedule"), api.MakeNode("big", "32", "64Gi")},
		api.MakePod("train").Requests("19", "8Gi").Tolerates("gpu").Node("gpu").Obj(),
		api.MakePod("log").Requests("2", "1Gi").Tolerates("gpu").Priority(5).Node("gpu").Obj(),
	)
	why, err := planner(s).WhyNot(pod(s, api.MakePod("web").Requests("30", "4Gi").Obj()), "gpu")
	if err != nil {
		panic(err)
	}
	if err := why.WriteTable(os.Stdout); err != nil {
		panic(err)
	}
	var first whatif.Remedy = why.Remedies[0]
	var last whatif.Change = first.Changes[1]
	var kind whatif.ChangeKind = last.Kind
	fmt.Println(kind, last.Amount)
	// Output:
	// pod default/web goes to big, not to gpu
	// REJECTED BY       REASON                            NUMBERS
	// TaintToleration   node(s) had untolerated taint(s)  taint gpu=yes:NoSchedule
	// NodeResourcesFit  Insufficient cpu                  cpu: asked 30, free 11 of 32
	// what would put it there, each alone:
	// - tolerate the taint gpu=yes:NoSchedule, and request 11 of cpu instead of 30, and require the node by name
	// - tolerate the taint gpu=yes:NoSchedule, and remove pod default/train from gpu, and require the node by name
	// request 11000
}

func ExamplePlanner_WhyNot_scores() {
	s := cluster(
		[]api.NodeBuilder{api.MakeNode("a", "8", "16Gi"), api.MakeNode("b", "4", "16Gi")},
		api.MakePod("db").Requests("4", "2Gi").Node("a").Obj(),
	)
	why, err := planner(s).WhyNot(pod(s, api.MakePod("web").Requests("1", "1Gi").Obj()), "a")
	if err != nil {
		panic(err)
	}
	var worst whatif.ScoreGap = why.Scores[0]
	fmt.Println(worst.Plugin, worst.Node, worst.Chosen, worst.Gap)
	for _, r := range why.Remedies {
		fmt.Println(r)
	}
	// Output:
	// NodeResourcesFit 59 84 25
	// weight 0 of NodeResourcesFit instead of 1
	// weight 9 of NodeResourcesBalancedAllocation instead of 1
	// require the node by name
}

// applied decides by hand, with code of its own, where the pod goes with the changes.
func applied(t *testing.T, s *framework.Snapshot, pod *framework.PodInfo, node string, changes []whatif.Change) string {
	t.Helper()
	s = s.Fork()
	p := api.Clone(pod.Pod)
	if p.Spec.NodeName != "" {
		p = api.Clone(pod.Pending().Pod)
	}
	profile := scheduling.Kubernetes137()
	var spread, affinity, anti []int
	for _, c := range changes {
		switch c.Kind {
		case whatif.ChangeRequest:
			lower(p, resource.Name(c.Name), c.Amount)
		case whatif.ChangeToleration:
			p.Spec.Tolerations = append(p.Spec.Tolerations, api.Toleration{Key: c.Name, Operator: "Equal", Value: c.To, Effect: c.Effect})
		case whatif.ChangeNodeLabel:
			n := api.Clone(s.Node(node).Node)
			if n.Labels == nil {
				n.Labels = map[string]string{}
			}
			n.Labels[c.Name] = c.To
			if c.Remove {
				delete(n.Labels, c.Name)
			}
			if err := s.UpdateNode(n); err != nil {
				t.Fatal(err)
			}
		case whatif.ChangeNodeSelector:
			delete(p.Spec.NodeSelector, c.Name)
		case whatif.ChangeNodeAffinity:
			p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
		case whatif.ChangeSpread:
			spread = append(spread, c.Index)
		case whatif.ChangeAffinity:
			affinity = append(affinity, c.Index)
		case whatif.ChangeAntiAffinity:
			anti = append(anti, c.Index)
		case whatif.ChangePodLabel:
			delete(p.Labels, c.Name)
		case whatif.ChangeHostPort:
			for _, list := range [][]api.Container{p.Spec.Containers, p.Spec.InitContainers} {
				for i := range list {
					for k := range list[i].Ports {
						if list[i].Ports[k].HostPort == int32(c.Amount) {
							list[i].Ports[k].HostPort = 0
						}
					}
				}
			}
		case whatif.ChangeRemove:
			n := s.Node(c.From)
			i := slices.IndexFunc(n.Pods, func(q *framework.PodInfo) bool { return q.Pod.Key() == c.Name })
			if err := s.RemovePod(n.Pods[i], c.From); err != nil {
				t.Fatal(err)
			}
		case whatif.ChangeWeight:
			if c.Amount == 0 {
				profile.Score = slices.DeleteFunc(slices.Clone(profile.Score), func(w scheduling.Weighted) bool { return w.Plugin.Name() == c.Name })
			} else if err := profile.Reweigh(c.Name, c.Amount); err != nil {
				t.Fatal(err)
			}
		case whatif.ChangePin:
			name := api.NodeSelectorRequirement{Key: "metadata.name", Operator: "In", Values: []string{node}}
			if p.Spec.Affinity == nil {
				p.Spec.Affinity = &api.Affinity{}
			}
			if p.Spec.Affinity.NodeAffinity == nil {
				p.Spec.Affinity.NodeAffinity = &api.NodeAffinity{}
			}
			r := &p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			if *r == nil {
				*r = &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{}}}
			}
			for i := range (*r).NodeSelectorTerms {
				(*r).NodeSelectorTerms[i].MatchFields = append((*r).NodeSelectorTerms[i].MatchFields, name)
			}
		default:
			t.Fatalf("unknown change %+v", c)
		}
	}
	slices.Sort(spread)
	for _, i := range slices.Backward(spread) {
		p.Spec.TopologySpreadConstraints = slices.Delete(p.Spec.TopologySpreadConstraints, i, i+1)
	}
	for _, i := range slices.Backward(slices.Sorted(slices.Values(affinity))) {
		l := &p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*l = slices.Delete(*l, i, i+1)
	}
	for _, i := range slices.Backward(slices.Sorted(slices.Values(anti))) {
		l := &p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*l = slices.Delete(*l, i, i+1)
	}
	info, err := s.NewPodInfo(p)
	if err != nil {
		t.Fatal(err)
	}
	sched, err := scheduling.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	d, _ := sched.Schedule(s, info)
	return d.Node
}

// lower makes the pod request an amount of a resource, in the units of vectors: it caps the
// requests of all containers at a number, and takes what is still too much off single ones,
// the last first. Where a pod saves is nothing to filters and scorers, which see the sum.
func lower(p *api.Pod, name resource.Name, amount int64) {
	at := func(q resource.Quantity) int64 {
		if name == resource.CPU {
			return q.MilliValue()
		}
		return q.Value()
	}
	with := func(amount int64) resource.Quantity {
		if name == resource.CPU {
			return resource.Milli(amount)
		}
		return resource.New(amount, resource.DecimalSI)
	}
	overhead := int64(0)
	if q, ok := p.Spec.Overhead[name]; ok {
		overhead = at(q)
	}
	if r := p.Spec.Resources; r != nil {
		if _, ok := r.Requests[name]; ok {
			r.Requests[name] = with(amount - overhead)
			return
		}
	}
	var lists []resource.List
	for _, containers := range [][]api.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range containers {
			if _, ok := containers[i].Resources.Requests[name]; ok {
				lists = append(lists, containers[i].Resources.Requests)
			}
		}
	}
	total := func() int64 { return at(api.PodRequests(p, api.RequestOptions{PodLevel: true})[name]) }
	var was []int64
	for _, l := range lists {
		was = append(was, at(l[name]))
	}
	capped := func(most int64) int64 {
		for i, l := range lists {
			l[name] = with(min(was[i], most))
		}
		return total()
	}
	lo, hi := int64(0), slices.Max(was) // the least cap that leaves enough
	for lo < hi {
		if middle := lo + (hi-lo)/2; capped(middle) >= amount {
			hi = middle
		} else {
			lo = middle + 1
		}
	}
	capped(lo)
	for _, l := range slices.Backward(lists) {
		if now := at(l[name]); now > 0 && total() > amount {
			l[name] = with(now - 1)
		}
	}
}

// TestWhyNot checks every remedy on random clusters: applied by hand, it puts the pod
// on the node; without any of its changes, or with one unit less, it does not.
func TestWhyNot(t *testing.T) {
	kinds, cases, helped, several := map[whatif.ChangeKind]int{}, 0, 0, 0
	unseen := func() []whatif.ChangeKind {
		return slices.DeleteFunc([]whatif.ChangeKind{
			whatif.ChangeRequest, whatif.ChangeToleration, whatif.ChangeNodeLabel, whatif.ChangeNodeSelector, whatif.ChangeNodeAffinity,
			whatif.ChangeAffinity, whatif.ChangeAntiAffinity, whatif.ChangeRemove, whatif.ChangeWeight, whatif.ChangePin,
		}, func(kind whatif.ChangeKind) bool { return kinds[kind] > 0 })
	}
	for seed := range uint64(36) {
		if effort.Suffices(several >= 3 && len(unseen()) == 0) {
			break
		}
		s, pending := random(t, seed)
		p := planner(s)
		before := content(s)
		for _, pod := range pending[:min(2, len(pending))] {
			for i, n := range s.All() {
				if uint64(i)%4 != seed%4 {
					continue
				}
				why, err := p.WhyNot(pod, n.Name())
				if err != nil {
					continue // the pod cannot be decided
				}
				if why.Chosen == n.Name() {
					continue
				}
				cases++
				if len(why.Remedies) > 0 {
					helped++
				}
				t.Run(fmt.Sprintf("seed %d %s on %s", seed, pod.Pod.Name, n.Name()), func(t *testing.T) {
					for _, r := range why.Remedies {
						checkRemedy(t, s, pod, n.Name(), r)
						for _, c := range r.Changes {
							kinds[c.Kind]++
							if c.Kind == whatif.ChangeRequest && len(pod.Pod.Spec.Containers)+len(pod.Pod.Spec.InitContainers) > 1 {
								several++
							}
						}
						if got, err := p.Decide(pod, n.Name(), r.Changes...); err != nil || got != n.Name() {
							t.Errorf("Decide(%v) = %s, %v", r, got, err)
						}
					}
				})
			}
		}
		if content(s) != before {
			t.Errorf("seed %d: the snapshot changed", seed)
		}
	}
	t.Logf("%d cases, %d with remedies: %v", cases, helped, kinds)
	if several < effort.Of(3, 10) {
		t.Errorf("only %d requests of pods with several containers are lowered", several)
	}
	if helped < cases*8/10 {
		t.Errorf("%d of %d cases have remedies", helped, cases)
	}
	for _, kind := range unseen() {
		t.Errorf("no remedy has the change %s", kind)
	}
}

// TestWhyNotFewest checks by hand and against every set of pods that no fewer could be
// removed.
func TestWhyNotFewest(t *testing.T) {
	node := api.MakeNode("n", "8", "64Gi")
	small := api.MakePod("").Requests("1", "1Gi").Node("n")
	s := cluster([]api.NodeBuilder{node}, small.Name("s0").Obj(), small.Name("s1").Obj(), small.Name("s2").Obj(), small.Name("s3").Obj(),
		small.Name("big").Requests("4", "1Gi").Priority(7).Obj())
	why, err := planner(s).WhyNot(pod(s, api.MakePod("web").Requests("4", "1Gi").Obj()), "n")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(why.Remedies[len(why.Remedies)-1]); got != "remove pod default/big from n" {
		t.Errorf("the pod to remove: %s, want the big one and not four small ones; all: %v", got, why.Remedies)
	}
	r := rand.New(rand.NewPCG(5, 17))
	removals, several, better, least := 0, 0, 0, effort.Of(40, 100)
	for range 150 {
		if effort.Suffices(removals >= least && several >= least/2) {
			break
		}
		var pods []*api.Pod
		for i := range 4 + r.IntN(6) {
			p := api.MakePod(fmt.Sprint("p", i)).Requests(fmt.Sprintf("%dm", 500*(1+r.IntN(5))), fmt.Sprintf("%dGi", 1+r.IntN(8))).
				Labels("app", []string{"a", "b", "web"}[r.IntN(3)]).Priority(int32(r.IntN(3))).Node([]string{"n", "n", "m"}[r.IntN(3)])
			if r.IntN(4) == 0 {
				p = p.HostPort(int32(8080 + r.IntN(2)))
			}
			pods = append(pods, p.Obj())
		}
		s := cluster([]api.NodeBuilder{api.MakeNode("n", "8", "24Gi").Zone("z0"), api.MakeNode("m", "4", "64Gi").Zone("z1")}, pods...)
		asks := api.MakePod("web").Labels("app", "web").Requests(fmt.Sprintf("%dm", 500*(4+r.IntN(12))), fmt.Sprintf("%dGi", 2+r.IntN(20)))
		switch r.IntN(4) {
		case 0:
			asks = asks.PodAntiAffinity(api.LabelHostname, "app=a")
		case 1:
			asks = asks.Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=web")
		case 2:
			asks = asks.HostPort(8080)
		}
		p := planner(s)
		web := pod(s, asks.Obj())
		why, err := p.WhyNot(web, "n")
		if err != nil {
			t.Fatal(err)
		}
		for _, remedy := range why.Remedies {
			var others []whatif.Change
			count := 0
			for _, c := range remedy.Changes {
				if c.Kind == whatif.ChangeRemove {
					count++
				} else {
					others = append(others, c)
				}
			}
			if count == 0 {
				continue
			}
			if removals++; count > 1 {
				several++
			}
			if remedy.Unproved {
				t.Errorf("%v is not proved, with %d pods", remedy, len(pods))
			}
			var here []string
			for _, q := range s.Node("n").Pods {
				here = append(here, q.Pod.Key())
			}
			for set := range 1 << len(here) {
				if bits.OnesCount(uint(set)) >= count {
					continue
				}
				changes := slices.Clone(others)
				for i, name := range here {
					if set>>i&1 != 0 {
						changes = append(changes, whatif.Change{Kind: whatif.ChangeRemove, Name: name, From: "n"})
					}
				}
				better++
				if got, err := p.Decide(web, "n", changes...); err != nil || got == "n" {
					t.Errorf("%v: fewer pods suffice: %v, %v", remedy, changes, err)
				}
			}
		}
	}
	t.Logf("%d remedies remove pods, %d several; %d smaller sets tried", removals, several, better)
	if removals < least || several < least/2 {
		t.Error("the test shows too little")
	}
}

// TestWhyNotUnproved checks that an answer whose search was cut short says so: there are
// many pods, all of different sizes, and many must go.
func TestWhyNotUnproved(t *testing.T) {
	var pods []*api.Pod
	for i := range 40 { // some give much CPU, the others much memory
		cpu, memory := 1900+i*37%101, 100+i
		if i%2 == 0 {
			cpu, memory = 100+i, 1900+i*53%103
		}
		pods = append(pods, api.MakePod(fmt.Sprintf("p%02d", i)).Requests(fmt.Sprint(cpu, "m"), fmt.Sprint(memory, "Mi")).Priority(int32(i%7)).Node("n").Obj())
	}
	s := cluster([]api.NodeBuilder{api.MakeNode("n", "48", "48Gi")}, pods...)
	why, err := planner(s).WhyNot(pod(s, api.MakePod("web").Requests("25", "25Gi").Obj()), "n")
	if err != nil {
		t.Fatal(err)
	}
	last := why.Remedies[len(why.Remedies)-1]
	if !last.Unproved || !strings.HasSuffix(last.String(), "(perhaps fewer pods suffice)") {
		t.Errorf("of 40 pods, %d are removed, and that is called proved", len(last.Changes))
	}
}

func checkRemedy(t *testing.T, s *framework.Snapshot, pod *framework.PodInfo, node string, r whatif.Remedy) {
	t.Helper()
	if got := applied(t, s, pod, node, r.Changes); got != node {
		t.Errorf("with %v the pod goes to %q", r, got)
	}
	for i, c := range r.Changes {
		if got := applied(t, s, pod, node, slices.Delete(slices.Clone(r.Changes), i, i+1)); got == node {
			t.Errorf("%v: without change %d the pod goes there too", r, i)
		}
		less := c
		switch c.Kind {
		case whatif.ChangeRequest:
			less.Amount++
			checkHighest(t, s, pod, node, r, i)
		case whatif.ChangeWeight:
			less.Amount--
			if c.Amount < c.Was {
				less.Amount = c.Amount + 1
			}
		default:
			continue
		}
		changes := slices.Clone(r.Changes)
		changes[i] = less
		if got := applied(t, s, pod, node, changes); got == node {
			t.Errorf("%v: with %v, one unit less, the pod goes there too", r, less)
		}
	}
}

// checkHighest tries requests between that of a change and the pod's own: the node may not
// be feasible with one of them.
func checkHighest(t *testing.T, s *framework.Snapshot, pod *framework.PodInfo, node string, r whatif.Remedy, at int) {
	t.Helper()
	c := r.Changes[at]
	pinned := []whatif.Change{}
	if !slices.ContainsFunc(r.Changes, func(c whatif.Change) bool { return c.Kind == whatif.ChangePin }) {
		pinned = append(pinned, whatif.Change{Kind: whatif.ChangePin})
	}
	step := max(1, (c.Was-c.Amount)/25)
	for amount := c.Amount + 1; amount < c.Was; amount += step {
		changes := slices.Concat(r.Changes, pinned)
		changes[at].Amount = amount
		if got := applied(t, s, pod, node, changes); got == node {
			t.Errorf("%v: %d of %s fits too", r, amount, c.Name)
			return
		}
	}
}

// quota is a filter that lets only pods that require their node by name ask more than two
// CPUs.
type quota struct{}

func (quota) Name() string { return "Quota" }

func (quota) Filter(p *framework.PodInfo, _ *framework.NodeInfo) framework.Status {
	a := p.Pod.Spec.Affinity
	if p.Requests.At(resource.IndexCPU) > 2000 && (a == nil || a.NodeAffinity == nil) {
		return framework.UnschedulableStatus("more than two CPUs")
	}
	return framework.Status{}
}

// TestWhyNotSettles checks that a request is raised again if a later change, here the pin,
// makes more of it possible.
func TestWhyNotSettles(t *testing.T) {
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "4", "16Gi"), api.MakeNode("b", "64", "256Gi")})
	profile := scheduling.Kubernetes137()
	profile.Filter = append(slices.Clone(profile.Filter), quota{})
	p, err := whatif.New(profile, s)
	if err != nil {
		t.Fatal(err)
	}
	web := pod(s, api.MakePod("web").Requests("8", "1Gi").Obj())
	why, err := p.WhyNot(web, "a")
	if err != nil {
		t.Fatal(err)
	}
	want := "request 4 of cpu instead of 8, and require the node by name"
	if got := fmt.Sprint(why.Remedies); got != "["+want+"]" {
		t.Errorf("remedies %s, want %s", got, want)
	}
}

func TestWhyNotRefuses(t *testing.T) {
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "4", "16Gi")}, api.MakePod("r").Node("a").Obj())
	p := planner(s)
	web := pod(p.Snapshot(), api.MakePod("web").Obj())
	if _, err := p.WhyNot(web, "x"); err == nil {
		t.Error("an unknown node is no error")
	}
	if _, err := p.WhyNot(nil, "a"); err == nil {
		t.Error("a nil pod is no error")
	}
	for _, c := range []whatif.Change{{Kind: "magic"}, {Kind: whatif.ChangeRemove, Name: "default/x", From: "a"}, {Kind: whatif.ChangeRemove, Name: "default/r", From: "b"}} {
		if _, err := p.Decide(web, "a", c); err == nil {
			t.Errorf("change %+v is no error", c)
		}
	}
	if _, err := p.Pod("default/x"); err == nil {
		t.Error("an unknown pod is no error")
	}
	if got, err := p.Pod("default/r"); err != nil || got.Pod.Spec.NodeName != "" {
		t.Errorf("Pod = %v, %v", got, err)
	}
}

// A pod that runs does not count against itself: its own requests, label and port are
// no reasons, and no remedy removes it.
func TestWhyNotRunning(t *testing.T) {
	web := api.MakePod("web").Labels("app", "web").Requests("3", "1Gi").HostPort(80).
		PodAntiAffinity(api.LabelHostname, "app=web").Node("b").Obj()
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "16", "16Gi"), api.MakeNode("b", "4", "16Gi").Labels(api.LabelHostname, "b")}, web)
	p := planner(s)
	nodes := func() string { // without the version, which the index of pods changes
		_, text, _ := strings.Cut(content(p.Snapshot()), "\n")
		return text
	}
	before := nodes()
	running, _ := s.Pod("default/web")
	for range 2 {
		why, err := p.WhyNot(running, "b")
		if err != nil {
			t.Fatal(err)
		}
		if why.Chosen != "a" || len(why.Rejections) > 0 || len(why.Scores) == 0 || len(why.Remedies) == 0 {
			t.Errorf("WhyNot(web, b) = %+v, want scores only", why)
		}
		for _, r := range why.Remedies {
			name, err := p.Decide(running, "b", r.Changes...)
			if err != nil || name != "b" {
				t.Errorf("%s: %q, %v; want b", r, name, err)
			}
		}
	}
	if after := nodes(); after != before {
		t.Errorf("the snapshot changed from\n%s to\n%s", before, after)
	}
}

// The answers about a gated pod name its gates.
func TestGates(t *testing.T) {
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "4", "16Gi"), api.MakeNode("b", "4", "16Gi").Taint("x=y:NoSchedule")})
	web := pod(s, api.MakePod("web").Requests("1", "1Gi").Gates("shop/quota", "shop/image").Obj())
	p := planner(s)
	why, err := p.WhyNot(web, "b")
	if err != nil {
		t.Fatal(err)
	}
	room, err := p.Headroom(web, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := "the pod waits for its scheduling gates to be removed: shop/quota, shop/image\n"
	var text strings.Builder
	if err := why.WriteTable(&text); err != nil || !strings.Contains(text.String(), want) {
		t.Errorf("WhyNot: %q, %v; want %q", text.String(), err, want)
	}
	text.Reset()
	if err := room.WriteTable(&text); err != nil || !strings.Contains(text.String(), want) {
		t.Errorf("Headroom: %q, %v; want %q", text.String(), err, want)
	}
	if len(why.Rejections) != 1 || room.Total != 4 {
		t.Errorf("%d rejections, %d fit; want 1 and 4, as without gates", len(why.Rejections), room.Total)
	}
}

// A node beyond the sample is not compared, and the answer says so.
func TestWhyNotUnseen(t *testing.T) {
	var nodes []api.NodeBuilder
	for i := range 120 {
		nodes = append(nodes, api.MakeNode(fmt.Sprintf("n%03d", i), "4", "16Gi"))
	}
	s := cluster(nodes)
	web := pod(s, api.MakePod("web").Requests("1", "1Gi").Obj())
	for _, percentage := range []int{scheduling.AllNodes, 10} {
		profile := scheduling.Kubernetes137()
		profile.Percentage = percentage
		p, err := whatif.New(profile, s)
		if err != nil {
			t.Fatal(err)
		}
		unseen := 0
		for _, n := range nodes {
			why, err := p.WhyNot(web, n.Obj().Name)
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			if err := why.WriteTable(&text); err != nil {
				t.Fatal(err)
			}
			if said := strings.Contains(text.String(), why.Node+" was not looked at"); said != why.Unseen {
				t.Errorf("Unseen %v, but the table is\n%s", why.Unseen, text.String())
			}
			if why.Unseen {
				unseen++
			}
		}
		want := 0
		if percentage == 10 {
			want = 20 // the least sample is 100 nodes
		}
		if unseen != want {
			t.Errorf("percentage %d: %d nodes are unseen, want %d", percentage, unseen, want)
		}
	}
}

// With a pin, spread constraints count fewer domains, so fewer pods have to go; and a resource that devices stand for is not
// short.
func TestWhyNotFewestOfOthers(t *testing.T) {
	on := func(name, cpu string) api.PodBuilder { return api.MakePod(name).Requests(cpu, "1Gi").Node("n") }
	check := func(t *testing.T, s *framework.Snapshot, web *api.Pod, want string) {
		t.Helper()
		why, err := planner(s).WhyNot(pod(s, web), "n")
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, r := range why.Remedies {
			removed := 0
			for _, c := range r.Changes {
				if c.Kind == whatif.ChangeRemove {
					removed++
				}
			}
			found = found || removed == 1 && strings.Contains(r.String(), want) && !r.Unproved
			if removed > 1 && !r.Unproved {
				t.Errorf("%v is said to be proved", r)
			}
		}
		if !found {
			t.Errorf("no remedy removes %s alone: %v", want, why.Remedies)
		}
	}
	t.Run("pin", func(t *testing.T) {
		s := cluster([]api.NodeBuilder{api.MakeNode("n", "4", "24Gi").Zone("z0"), api.MakeNode("m", "64", "64Gi").Zone("z1")},
			on("p0", "1").Labels("app", "web").Obj(), on("p1", "1").Labels("app", "web").Obj(), on("p2", "2").Obj())
		check(t, s, api.MakePod("web").Labels("app", "web").Requests("2", "1Gi").Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=web").Obj(), "default/p2")
	})
	t.Run("devices", func(t *testing.T) {
		s := cluster([]api.NodeBuilder{api.MakeNode("n", "4", "24Gi")}, on("a", "1").Obj(), on("b", "1").Obj(), on("big", "2").Priority(1).Obj())
		put(s, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}, Spec: api.DeviceClassSpec{ExtendedResourceName: new("x.io/g")}})
		slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "s"}}
		slice.Spec = api.ResourceSliceSpec{
			Driver: "d.io", NodeName: new("n"), Devices: []api.Device{{Name: "0"}},
			Pool: api.ResourcePool{Name: "n", Generation: 1, ResourceSliceCount: 1},
		}
		put(s, slice)
		check(t, s, api.MakePod("web").Requests("2", "1Gi").Request("x.io/g", "1").Obj(), "default/big")
	})
}
