//go:build full

package work

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/preemption"
	"github.com/berth-sched/berth/scheduling/queue"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// A shape is what a hostile user may send, of any size.
type shape struct {
	name string
	// times multiplies the sizes; 0 is 1.
	times int
	// most is how many times the work may be for the larger size; 0 is the constant most.
	most int
	run  func(t *testing.T, n int)
}

var shapes = []shape{
	{name: "host ports", run: hostPorts},
	{name: "anchors in one bracket", run: anchorsInOneBracket},
	{name: "aliases in open nodes", run: aliasesInOpenNodes},
	{name: "pods with host ports on one node", run: podsWithHostPorts},
	{name: "tolerations", run: tolerations},
	{name: "names of resources", run: resourceNames},
	{name: "shared disks", run: sharedDisks},
	{name: "disks beside few", run: disksBesideFew},
	{name: "waiting claims", run: waitingClaims},
	{name: "claims of others", run: claimsOfOthers},
	{name: "claims of one volume", run: claimsOfOneVolume},
	{name: "mounts of one claim", run: mountsOfOneClaim},
	{name: "statuses of containers", run: containerStatuses},
	{name: "containers of an extended resource", run: extendedContainers},
	{name: "resource claims", run: resourceClaims},
	{name: "reports of devices", run: reportsOfDevices},
	{name: "rules for all devices", run: rulesForAllDevices},
	{name: "nodes of slices", run: nodesOfSlices},
	{name: "monitors of waiting pods", run: monitorsOfWaitingPods},
	{name: "budgets", run: disruptionBudgets},
	{name: "a group that preempts", run: groupPreempts},
	{name: "a group with terms that preempts", run: groupWithTermsPreempts},
	{name: "a group with claims that preempts", most: 10, run: groupWithClaimsPreempts}, // each pod has a class, and looks at each node
	{name: "pods nominated to one node", most: 13, run: nominatedPods},                  // each is looked for among all
	{name: "nominations elsewhere", run: nominationsElsewhere},
	{name: "gated groups", run: gatedGroups},
	{name: "groups whose claims do not exist", run: groupsWithoutClaims},
	{name: "groups that change", run: groupsThatChange},
	{name: "services of one label", run: servicesOfOneLabel},
	{name: "services and pods", run: servicesAndPods},
	{name: "waiting pods that change", run: waitingPodsThatChange},
	{name: "gated pods that change", run: gatedPodsThatChange},
	{name: "a large group", run: largeGroup},
	{name: "a group elsewhere", run: groupElsewhere},
	{name: "a group that leaves as a whole", run: groupThatLeavesAsAWhole},
	{name: "a drain behind one budget", run: drainBehindOneBudget},
	{name: "nodes for replicas in zones", run: nodesForZones, times: 2},
	{name: "a gang whose first pod has a long text", run: koordinatorTexts},
	{name: "terms that match everybody", run: termsThatMatchEverybody},
	{name: "terms of one pod", most: 4, run: termsOfOnePod},
	{name: "terms beside terms", run: termsBesideTerms},
	{name: "label keys of a term", run: labelKeys},
	{name: "terms that come", run: termsThatCome},
	{name: "trials beside terms", run: trialsBesideTerms},
	{name: "required affinity terms", run: requiredTerms},
	{name: "namespaces that terms select", run: selectedNamespaces},
	{name: "dropped constraints", run: droppedConstraints},
	{name: "many selectors", run: manySelectors},
	{name: "selectors that cost", most: 2, run: costlySelectors},
	{name: "claims that differ", run: claimsThatDiffer},
	{name: "a claim that is hard on all nodes", most: 2, run: hardClaim}, // they share the steps of four
	{name: "resource models", run: resourceModels},
	{name: "clusters that a workload names", run: namedClusters},
	{name: "zones that a workload names", run: namedZones},
	{name: "clusters in regions of their own", run: clustersInRegions},
	{name: "clusters under spread constraints", most: 9, run: spreadClusters},            // the search has a table of sums, of four million at most
	{name: "workloads with an affinity to each other", most: 18, run: workloadsTogether}, // each of them is on each cluster
	{name: "workloads that come one by one", run: workloadsOneByOne},
	{name: "pods of a DaemonSet that end one by one", run: daemonsThatEnd, most: 5},
	{name: "nodes to remove under budgets", run: removableUnderBudgets},
	{name: "pods of overused nodes", run: rebalanceOverused},
	{name: "victims that an extender repeats", run: repeatedVictims},
	{name: "pods of one node that change", run: podsOfOneNode},
	{name: "rising priorities", most: 18, run: risingPriorities}, // each pod that leaves wakes all that wait
}

// A world is a cluster and a scheduler with kube-scheduler's profile.
type world struct {
	t     *testing.T
	snap  *framework.Snapshot
	sched *scheduling.Scheduler
}

func newWorld(t *testing.T, nodes ...*api.Node) *world {
	t.Helper()
	w := &world{t: t, snap: framework.NewSnapshot(framework.Arrival)}
	for _, n := range nodes {
		if err := w.snap.AddNode(n); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if w.sched, err = scheduling.New(scheduling.Kubernetes137()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) derive(p *api.Pod) *framework.PodInfo {
	w.t.Helper()
	info, err := w.snap.NewPodInfo(p)
	if err != nil {
		w.t.Fatal(err)
	}
	return info
}

func (w *world) add(p *framework.PodInfo, node string) {
	w.t.Helper()
	if err := w.snap.AddPod(p, node); err != nil {
		w.t.Fatal(err)
	}
}

// decide decides about a pod on both paths, explains the decision, and expects the pod to
// fit, or not.
func (w *world) decide(p *framework.PodInfo, fits bool) {
	w.t.Helper()
	for range 2 {
		if _, err := w.sched.Schedule(w.snap, p); (err == nil) != fits {
			w.t.Fatalf("pod %s: %v, want that it fits: %t", p.Pod.Key(), err, fits)
		}
	}
	if x := w.sched.Explain(w.snap, p); (x.Error == "") != fits {
		w.t.Fatalf("pod %s: %s, want that it fits: %t", p.Pod.Key(), x.Error, fits)
	}
	f, err := w.sched.Filtering(w.snap, p)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, n := range w.snap.All() {
		if _, err := f.Rejections(n); err != nil {
			w.t.Fatal(err)
		}
	}
}

// hostPorts is a pod with n host ports beside a pod with as many others, and a pod with
// the same.
func hostPorts(t *testing.T, n int) {
	w := newWorld(t, api.MakeNode("a", "4", "8Gi").Obj())
	pod := func(name string, ip string) *framework.PodInfo {
		b := api.MakePod(name).Container("c")
		for i := range n {
			b = b.Port(api.ContainerPort{HostPort: int32(1 + i), HostIP: ip})
		}
		return w.derive(b.Obj())
	}
	other := pod("other", "10.0.0.1")
	w.add(other, "a")
	w.decide(pod("beside", "10.0.0.2"), true)
	w.decide(pod("against", "10.0.0.1"), false)
	w.decide(pod("against all", ""), false)
	w.add(pod("beside", "10.0.0.2"), "a")
	if err := w.snap.RemovePod(other, "a"); err != nil {
		t.Fatal(err)
	}
}

// podsWithHostPorts are n pods on one node that come one after the other, and go. Their
// ports lie between those of the others.
func podsWithHostPorts(t *testing.T, n int) {
	w := newWorld(t, api.MakeNode("a", "4", "8Gi").Obj())
	var pods []*framework.PodInfo
	for i := range n {
		b := api.MakePod(fmt.Sprint("p-", i)).Container("c")
		for k := range 20 {
			b = b.Port(api.ContainerPort{HostPort: int32(1 + (17*i+1009*k)%65_000)})
		}
		pods = append(pods, w.derive(b.Obj()))
		w.add(pods[i], "a")
	}
	for _, p := range pods {
		if err := w.snap.RemovePod(p, "a"); err != nil {
			t.Fatal(err)
		}
	}
}

// tolerations is a pod that tolerates n taints of a node, and one that tolerates as many
// others.
func tolerations(t *testing.T, n int) {
	taint := func(i int, effect api.TaintEffect) api.Taint {
		return api.Taint{Key: fmt.Sprintf("key-%d", i), Value: "x", Effect: effect}
	}
	node := api.MakeNode("a", "4", "8Gi").Obj()
	for i := range n {
		node.Spec.Taints = append(node.Spec.Taints, taint(i, api.TaintEffectNoSchedule), taint(i, api.TaintEffectPreferNoSchedule))
	}
	w := newWorld(t, node)
	pod := func(name string, from int) *framework.PodInfo {
		b := api.MakePod(name).Obj()
		for i := range n {
			b.Spec.Tolerations = append(b.Spec.Tolerations, api.Toleration{Key: fmt.Sprintf("key-%d", from+n-1-i), Operator: api.TolerationOpExists})
		}
		return w.derive(b)
	}
	w.decide(pod("tolerates", 0), true)
	w.decide(pod("tolerates others", 1), false)
}

// groupPreempts is a group of n pods on nodes of ten such pods each, beside n pods of lower
// priority. Every second one has to leave.
func groupPreempts(t *testing.T, n int) {
	preempts(t, n, func(_ *world, _ int, b api.PodBuilder) api.PodBuilder { return b })
}

// groupWithTermsPreempts is groupPreempts, with an anti-affinity term for each pod of the
// group, which matches none of the others.
func groupWithTermsPreempts(t *testing.T, n int) {
	preempts(t, n, func(_ *world, _ int, b api.PodBuilder) api.PodBuilder {
		return b.PodAntiAffinity(api.LabelHostname, "app=loud")
	})
}

// groupWithClaimsPreempts is groupPreempts, with a claim for each pod of the group.
func groupWithClaimsPreempts(t *testing.T, n int) {
	preempts(t, n, func(w *world, i int, b api.PodBuilder) api.PodBuilder {
		name := fmt.Sprintf("claim-%d", i)
		v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: name}}
		v.Spec.ClaimRef = &api.ObjectReference{Namespace: "default", Name: name}
		c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}}}
		c.Spec.VolumeName = name
		if err := errors.Join(framework.Put(w.snap, v), framework.Put(w.snap, c)); err != nil {
			t.Fatal(err)
		}
		return b.Claim(name)
	})
}

// koordinatorTexts reads a gang of n pods. The first says in n words what the others say in one.
func koordinatorTexts(t *testing.T, n int) {
	w := newWorld(t)
	var pods []*framework.PodInfo
	for i := range n {
		names := 1
		if i == 0 {
			names = n
		}
		p := api.MakePod(fmt.Sprint("p", i)).Obj()
		p.Annotations = map[string]string{
			"gang.scheduling.koordinator.sh/name": "g", "gang.scheduling.koordinator.sh/min-available": "1",
			"gang.scheduling.koordinator.sh/groups": "[" + strings.Repeat(`"default/g", `, names-1) + `"default/g"]`,
		}
		pods = append(pods, w.derive(p))
	}
	if list, err := gang.KoordinatorGangs(pods, nil, nil); err != nil || len(list) != 1 {
		t.Fatalf("%d gangs, %v; want one", len(list), err)
	}
}

// preempts is groupPreempts for pods that with makes.
func preempts(t *testing.T, n int, with func(w *world, i int, b api.PodBuilder) api.PodBuilder) {
	const perNode = 10
	var nodes []*api.Node
	for i := range n/perNode + 1 {
		nodes = append(nodes, api.MakeNode(fmt.Sprintf("n%d", i), "15", "64Gi").Obj())
	}
	w := newWorld(t, nodes...)
	g := &gang.Group{Name: "g", Priority: 5}
	for i := range n {
		w.add(w.derive(api.MakePod(fmt.Sprintf("old-%d", i)).Requests("1", "1Gi").Obj()), fmt.Sprintf("n%d", i/perNode))
		g.Pods = append(g.Pods, w.derive(with(w, i, api.MakePod(fmt.Sprintf("new-%d", i)).Requests("1", "1Gi").Priority(5)).Obj()))
	}
	p, err := gang.New(w.sched, gang.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.Preempt(w.snap, g)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", e.Text)
	if victims := len(e.Victims()); n > 1 && (victims < n/4 || victims > 3*n/4) {
		t.Fatalf("%d of %d pods have to leave: %s", victims, n, e.Text)
	}
}

// nominatedPods are n pods nominated to one node, which has room for half of them: each is
// decided about with the others there. Those of the other half wait, and are tried twice.
func nominatedPods(t *testing.T, n int) {
	w := newWorld(t, api.MakeNode("a", fmt.Sprint(n/2), "64Gi").Resource(resource.Pods, fmt.Sprint(n)).Obj(), api.MakeNode("b", "1", "64Gi").Obj())
	var pods []*framework.PodInfo
	for i := range n {
		b := api.MakePod(fmt.Sprintf("p-%d", i)).Requests("1", "1Mi").Priority(5).Obj()
		b.Status.NominatedNodeName, b.UID = "a", api.UID(fmt.Sprint(i))
		pods = append(pods, w.derive(b))
		if err := w.snap.Nominate(pods[i], "a", ""); err != nil {
			t.Fatal(err)
		}
	}
	placed := 0
	for range 2 {
		for i, p := range pods {
			if p == nil {
				continue
			}
			d, err := w.sched.Schedule(w.snap, p)
			if err == nil {
				w.add(p, d.Node)
				placed++
			}
			if err == nil || i%2 == 0 { // the others wait
				w.snap.ClearNomination(p, "a")
				pods[i] = nil
			}
		}
	}
	if n > 1 && (placed < n/4 || placed == n) {
		t.Fatalf("%d of %d pods are placed", placed, n)
	}
}

// nominationsElsewhere are n pods nominated to nodes that do not exist, while n nodes come.
func nominationsElsewhere(t *testing.T, n int) {
	d := newDriver(t)
	for i := range n {
		d.Apply(lifecycle.Update(api.MakePod(fmt.Sprint("p", i)).Requests("1", "1Gi").Nominated(fmt.Sprint("none-", i)).Obj()))
	}
	for i := range n {
		d.Apply(lifecycle.Update(api.MakeNode(fmt.Sprint("n-", i), "1", "1Gi").Obj()))
	}
	d.Flush(context.Background())
	if nodes := d.Snapshot().Len(); nodes != n+1 {
		t.Fatalf("%d nodes, want %d", nodes, n+1)
	}
}

// newDriver returns a driver with groups and one small node.
func newDriver(t *testing.T) *lifecycle.Driver {
	t.Helper()
	return newDriverWith(t, scheduling.Kubernetes137(), nil)
}

func newDriverWith(t *testing.T, p scheduling.Profile, h *lifecycle.Handle) *lifecycle.Driver {
	t.Helper()
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{p}, Handle: h, Groups: &gang.Rules{}, Clock: virtualclock.New(time.Unix(0, 0)),
		Binder:       lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error { return nil }),
		ErrorHandler: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	d.Apply(lifecycle.Update(api.MakeNode("n", "1", "1Gi").Obj()))
	return d
}

func podGroup(i int) *api.PodGroup {
	return &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "hostile", Name: fmt.Sprint("g", i)}}
}

// gatedGroups are n groups of one user with a gated pod each, while n objects of others
// come.
func gatedGroups(t *testing.T, n int) {
	d := newDriver(t)
	for i := range n {
		p := api.MakePod(fmt.Sprint("p", i)).Namespace("hostile").Gates("example.com/never").Obj()
		name := fmt.Sprint("g", i)
		p.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &name}
		d.Apply(lifecycle.Update(podGroup(i)), lifecycle.Update(p))
	}
	d.Flush(context.Background())
	for i := range n {
		d.Apply(lifecycle.Update(&api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "honest", Name: fmt.Sprint("c", i)}}))
	}
	d.Flush(context.Background())
	if c := d.Counts(); c.Pending != n || c.Queue.Active > 0 {
		t.Fatalf("%+v, want %d pods pending and none active", c, n)
	}
}

// groupsWithoutClaims are n groups of one user whose pods need claims for devices that do not exist, while n
// such claims and n pods of others come and go.
func groupsWithoutClaims(t *testing.T, n int) {
	p, h := scheduling.Kubernetes137(), lifecycle.NewHandle()
	p.PreEnqueue = []framework.Plugin{filter.DynamicResources{Handle: h}}
	d := newDriverWith(t, p, h)
	for i := range n {
		p := api.MakePod(fmt.Sprint("p", i)).Namespace("hostile").Obj()
		name := fmt.Sprint("g", i)
		p.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &name}
		p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "c", ResourceClaimName: &name}}
		d.Apply(lifecycle.Update(podGroup(i)), lifecycle.Update(p))
	}
	for i := range n {
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Namespace: "honest", Name: fmt.Sprint("c", i)}}
		q := api.MakePod(fmt.Sprint("q", i)).Namespace("honest").Node("n").Obj()
		apply(d, lifecycle.Update(c), lifecycle.Update(q), lifecycle.Delete(q), lifecycle.Delete(c))
	}
	if c := d.Counts(); c.Pending != n || c.Queue.Active > 0 {
		t.Fatalf("%+v, want %d pods pending and none active", c, n)
	}
}

// groupsThatChange are n groups of one user. One changes before each of n attempts of other
// pods that would have to preempt.
func groupsThatChange(t *testing.T, n int) {
	d := newDriver(t)
	for i := range n {
		d.Apply(lifecycle.Update(podGroup(i)))
	}
	for i := range n {
		p := api.MakePod(fmt.Sprint("p", i)).Namespace("honest").Requests("2", "1Gi").Priority(5).Obj()
		d.Apply(lifecycle.Update(podGroup(i)), lifecycle.Update(p))
		if a, ok := d.ScheduleOne(context.Background()); !ok || a.State != lifecycle.Failed {
			t.Fatalf("%+v, want an attempt that fails", a)
		}
		d.Apply(lifecycle.Delete(p))
	}
}

// servicesOfOneLabel are n services of one user that come and go, all for the same pods.
func servicesOfOneLabel(t *testing.T, n int) {
	w := newWorld(t, api.MakeNode("a", "4", "8Gi").Obj())
	pod := w.derive(api.MakePod("p").Namespace("honest").Labels("app", "web").Requests("1", "1Gi").Obj())
	for i := range n {
		s := &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "hostile", Name: fmt.Sprint("s", i)}}
		s.Spec.Selector = map[string]string{"app": "web"}
		if err := framework.Put(w.snap, s); err != nil {
			t.Fatal(err)
		}
		if i == 0 || i == n-1 {
			w.decide(pod, true)
		}
	}
	for i := range n {
		framework.Delete[api.Service](w.snap, fmt.Sprint("hostile/s", n-1-i))
	}
	w.decide(pod, true)
}

// servicesAndPods places n pods that differ in their labels. n services select all of them.
func servicesAndPods(t *testing.T, n int) {
	w := newZones(t)
	for i := range n {
		s := &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: fmt.Sprint("s", i)}}
		s.Spec.Selector = map[string]string{"app": "web"}
		put(w, s)
	}
	for i := range n {
		if _, err := w.sched.Place(w.snap, w.derive(api.MakePod(fmt.Sprint("p", i)).Labels("app", "web", "own", fmt.Sprint(i)).Obj())); err != nil {
			t.Fatal(err)
		}
	}
}

// resourceNames is a pod that requests n resources that no node has, and that changes.
func resourceNames(t *testing.T, n int) {
	w := newWorld(t, api.MakeNode("a", "4", "8Gi").Obj(), api.MakeNode("b", "4", "8Gi").Obj())
	pod := func(from int) *framework.PodInfo {
		b := api.MakePod("p").Requests("1", "1Gi").Obj()
		for i := range n {
			b.Spec.Containers[0].Resources.Requests[resource.Name(fmt.Sprintf("example.com/r-%d", from+i))] = resource.MustParse("1")
		}
		return w.derive(b)
	}
	guests := pod(0) // the first 64 names get numbers
	w.decide(guests, false)
	before, after := pod(100), pod(101)
	queue.PodChanges(before, after)
	queue.PodChanges(after, before)
	w.add(before, "a")
	changed := api.MakeNode("a", "4", "8Gi").Obj()
	changed.Status.Allocatable = maps.Clone(changed.Status.Allocatable)
	changed.Status.Allocatable["example.com/r-500"] = resource.MustParse("1")
	if err := w.snap.UpdateNode(changed); err != nil {
		t.Fatal(err)
	}
	w.add(w.derive(api.MakePod("q").Requests("1", "1Gi").Obj()), "a")
}

// containerStatuses is a pod with n containers, each with the status of a running one.
func containerStatuses(t *testing.T, n int) {
	w := newWorld(t, api.MakeNode("a", "4", "8Gi").Obj())
	p := api.MakePod("p").Requests("1m", "1Mi").Obj()
	for i := range n {
		c := p.Spec.Containers[0]
		c.Name = fmt.Sprint("c-", i)
		p.Spec.Containers = append(p.Spec.Containers, c)
		// The last one differs, so all are read.
		s := api.ContainerStatus{Name: c.Name, AllocatedResources: maps.Clone(c.Resources.Requests)}
		if i == n-1 {
			s.AllocatedResources[resource.CPU] = resource.MustParse("2m")
		}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s)
	}
	w.derive(p)
}

// extendedContainers is a pod with n containers and n init containers that request n each of
// a resource with a class behind it.
func extendedContainers(t *testing.T, n int) {
	w := newWorld(t, api.MakeNode("a", "4", "8Gi").Obj())
	c := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}
	c.Spec.ExtendedResourceName = new("example.com/gpu")
	if err := framework.Put(w.snap, c); err != nil {
		t.Fatal(err)
	}
	p := api.MakePod("p").Obj()
	for i := range n {
		request := func(name string, count int) api.Container {
			c := api.Container{Name: fmt.Sprint(name, i)}
			c.Resources.Requests = resource.List{"example.com/gpu": resource.New(int64(count), resource.DecimalSI)}
			return c
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, request("init-", n))
		p.Spec.Containers = append(p.Spec.Containers, request("c-", 1))
	}
	if _, err := w.sched.Schedule(w.snap, w.derive(p)); err == nil {
		t.Fatal("the pod fits where there are no devices")
	}
}

// resourceClaims is a pod with n claims that ask for nothing.
func resourceClaims(t *testing.T, n int) {
	w := newWorld(t, api.MakeNode("a", "4", "8Gi").Obj())
	p := api.MakePod("p").Requests("1m", "1Mi").Obj()
	for i := range n {
		name := fmt.Sprint("claim-", i)
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Namespace: p.Namespace, Name: name}}
		if err := framework.Put(w.snap, c); err != nil {
			t.Fatal(err)
		}
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, api.PodResourceClaim{Name: name, ResourceClaimName: &name})
	}
	if _, err := w.sched.Place(w.snap, w.derive(p)); err != nil {
		t.Fatal(err)
	}
}

// disruptionBudgets are n budgets of one user, while another's pod preempts among n pods.
func disruptionBudgets(t *testing.T, n int) {
	const perNode = 10
	w := newWorld(t)
	for i := range n/perNode + 1 {
		cpu := min(n-i*perNode, perNode) // all nodes are full
		if err := w.snap.AddNode(api.MakeNode(fmt.Sprintf("n%d", i), fmt.Sprint(cpu), "64Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		w.add(w.derive(api.MakePod(fmt.Sprintf("p-%d", i)).Namespace("honest").Labels("app", "web").Requests("1", "1Gi").Obj()), fmt.Sprintf("n%d", i/perNode))
		b := &api.PodDisruptionBudget{ObjectMeta: api.ObjectMeta{Namespace: "hostile", Name: fmt.Sprintf("b-%d", i)}}
		b.Spec.Selector = &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		if err := framework.Put(w.snap, b); err != nil {
			t.Fatal(err)
		}
	}
	pod := w.derive(api.MakePod("urgent").Namespace("honest").Requests("9", "1Gi").Priority(10).Obj())
	d, err := w.sched.Schedule(w.snap, pod)
	if err != nil && n > perNode {
		_, _, status, err := w.sched.PostFilter(context.Background(), w.snap, pod, d)
		if err != nil || !status.IsSuccess() {
			t.Fatal(status, err)
		}
	}
	budgets := preemption.BudgetsOf(w.snap)
	for _, node := range w.snap.All() {
		for _, p := range node.Pods {
			budgets.Charge(p.Pod)
		}
	}
}

// termsThatMatchEverybody is n pods with terms that differ and match everybody, and n
// decisions about others, while one of those pods goes and comes.
func termsThatMatchEverybody(t *testing.T, n int) {
	zoned := func(name, zone string) *api.Node {
		return api.MakeNode(name, "64", "256Gi").Resource("pods", "100000").Zone(zone).Labels(api.LabelHostname, name).Obj()
	}
	nodes := []*api.Node{zoned("hostile", "a"), zoned("moving", "a")}
	for i := range 10 {
		nodes = append(nodes, zoned(fmt.Sprint("n", i), fmt.Sprint("z", i%3)))
	}
	w := newWorld(t, nodes...)
	pod := func(i int) *framework.PodInfo {
		term := api.PodAffinityTerm{
			TopologyKey: api.LabelTopologyZone, NamespaceSelector: &api.LabelSelector{},
			LabelSelector: &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{
				{Key: "h", Operator: api.LabelSelectorOpNotIn, Values: []string{fmt.Sprint(i)}},
			}},
		}
		p := api.MakePod(fmt.Sprint("h", i)).Namespace("hostile").Obj()
		p.Spec.Affinity = &api.Affinity{
			PodAffinity: &api.PodAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution:  []api.PodAffinityTerm{term},
				PreferredDuringSchedulingIgnoredDuringExecution: []api.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term}},
			},
			PodAntiAffinity: &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{term}},
		}
		return w.derive(p)
	}
	for i := range n {
		w.add(pod(i), "hostile")
	}
	moving := pod(n)
	w.add(moving, "moving")
	for i := range n {
		p := w.derive(api.MakePod(fmt.Sprint("p", i)).Namespace("innocent").Labels("app", "web").
			Requests("100m", "128Mi").PreferPodAntiAffinity(100, api.LabelHostname, "app=web").Obj())
		d, err := w.sched.Schedule(w.snap, p)
		if err != nil {
			t.Fatal(err)
		}
		if w.snap.Node(d.Node).Node.Labels[api.LabelTopologyZone] == "a" {
			t.Fatalf("pod %s is to be on %s, where terms keep it away", p.Pod.Key(), d.Node)
		}
		if err := w.snap.RemovePod(moving, "moving"); err != nil {
			t.Fatal(err)
		}
		w.add(moving, "moving")
	}
}

// sharedDisks is a pod with n disks, claims and monitors of a Ceph block device beside a
// pod with as many others, and a pod that shares the last disk.
func sharedDisks(t *testing.T, n int) {
	w := newWorld(t, api.MakeNode("a", "4", "8Gi").Obj())
	pod := func(name string, from int) *framework.PodInfo {
		p := api.MakePod(name).Obj()
		var rbd api.Volume
		rbd.Name, rbd.RBD = "rbd", &api.RBDVolumeSource{RBDPool: "p", RBDImage: "i", ReadOnly: true}
		for i := range n {
			var v api.Volume
			v.Name = fmt.Sprint("v", i)
			v.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: fmt.Sprintf("vol-%d", from+i)}
			p.Spec.Volumes = append(p.Spec.Volumes, v)
			rbd.RBD.CephMonitors = append(rbd.RBD.CephMonitors, fmt.Sprint("m", from+i))
		}
		p.Spec.Volumes = append(p.Spec.Volumes, rbd)
		return w.derive(p)
	}
	w.add(pod("there", 0), "a")
	w.decide(pod("beside", n), true)
	w.decide(pod("against", n-1), false)
}

// disksBesideFew is a pod with n disks, and n pods on one node with one disk each.
func disksBesideFew(t *testing.T, n int) {
	w := newWorld(t, api.MakeNode("a", "4", "8Gi").Resource("pods", "100000").Obj())
	volume := func(name string) (v api.Volume) {
		v.Name, v.ISCSI = name, &api.ISCSIVolumeSource{IQN: name}
		return v
	}
	large := api.MakePod("large").Obj()
	for i := range n {
		small := api.MakePod(fmt.Sprint("small-", i)).Obj()
		small.Spec.Volumes = []api.Volume{volume(fmt.Sprint("small-", i))}
		w.add(w.derive(small), "a")
		large.Spec.Volumes = append(large.Spec.Volumes, volume(fmt.Sprint("large-", i)))
	}
	w.decide(w.derive(large), true)
}

// waitingClaims is a pod with n claims of different sizes that wait for volumes, and as many
// volumes. Every second one is for the node by its label.
func waitingClaims(t *testing.T, n int) {
	w := newWorld(t, api.MakeNode("a", "4", "8Gi").Labels(api.LabelHostname, "a").Obj())
	class := &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "local"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: new(api.VolumeBindingWaitForFirstConsumer)}
	if err := framework.Put(w.snap, class); err != nil {
		t.Fatal(err)
	}
	p := api.MakePod("p")
	for i := range n {
		name := fmt.Sprint("x", i)
		size := resource.List{resource.Storage: resource.MustParse(fmt.Sprint(1+i%10, "Gi"))}
		v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: name}}
		v.Spec.StorageClassName, v.Spec.Capacity, v.Status.Phase = "local", size, api.VolumeAvailable
		if i%2 == 0 {
			v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
				MatchExpressions: []api.NodeSelectorRequirement{{Key: api.LabelHostname, Operator: api.NodeSelectorOpIn, Values: []string{"a"}}},
			}}}}
		}
		c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name}}
		c.Spec.StorageClassName, c.Spec.Resources.Requests = new("local"), size
		if err := errors.Join(framework.Put(w.snap, v), framework.Put(w.snap, c)); err != nil {
			t.Fatal(err)
		}
		p = p.Claim(name)
	}
	w.decide(w.derive(p.Obj()), true)
}
