package framework_test

import (
	"fmt"
	"maps"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// twoNodes returns a snapshot of two nodes for the examples, and a pod.
func twoNodes() (*framework.Snapshot, *framework.PodInfo) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	for _, name := range []string{"n1", "n2"} {
		if err := s.AddNode(api.MakeNode(name, "4", "32Gi").Obj()); err != nil {
			panic(err)
		}
	}
	p, err := s.NewPodInfo(api.MakePod("web").Requests("500m", "1Gi").Obj())
	if err != nil {
		panic(err)
	}
	return s, p
}

// A snapshot holds nodes and the pods on them, and keeps the totals.
func ExampleSnapshot() {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	if err := s.AddNode(api.MakeNode("n1", "4", "32Gi").Obj()); err != nil {
		fmt.Println(err)
	}
	p, err := s.NewPodInfo(api.MakePod("web").Requests("500m", "1Gi").Obj())
	if err != nil {
		fmt.Println(err)
	}
	if err := s.AddPod(p, "n1"); err != nil {
		fmt.Println(err)
	}
	n := s.Node("n1")
	fmt.Println(len(n.Pods), "pod,", n.Requested.At(resource.IndexCPU), "of", n.Allocatable.At(resource.IndexCPU), "milli-CPU requested")
	fmt.Println(s.AddPod(p, "n7"))
	// Output:
	// 1 pod, 500 of 4000 milli-CPU requested
	// pod default/web: spec.nodeName: "n7": no such node
}

// A fork is an independent copy: what if there were a node more?
func ExampleSnapshot_Fork() {
	s, p := twoNodes()
	f := s.Fork()
	if err := f.AddNode(api.MakeNode("n3", "4", "32Gi").Obj()); err != nil {
		fmt.Println(err)
	}
	if err := f.AddPod(p, "n3"); err != nil {
		fmt.Println(err)
	}
	fmt.Println("fork:", f.Len(), "nodes,", len(f.Node("n3").Pods), "pod on n3")
	fmt.Println("original:", s.Len(), "nodes, n3 is there:", s.Node("n3") != nil)
	// Output:
	// fork: 3 nodes, 1 pod on n3
	// original: 2 nodes, n3 is there: false
}

// A transaction tries changes and takes them back: what if the pod were gone?
func ExampleSnapshot_Begin() {
	s, p := twoNodes()
	if err := s.AddPod(p, "n1"); err != nil {
		fmt.Println(err)
	}
	n := s.Node("n1")
	before := n.Generation()

	m := s.Begin()
	if err := s.RemovePodAt(p, n); err != nil {
		fmt.Println(err)
	}
	fmt.Println("without it:", n.Requested.At(resource.IndexCPU), "milli-CPU")
	s.Rollback(m)
	fmt.Println("afterwards:", n.Requested.At(resource.IndexCPU), "milli-CPU; as if nothing had happened:", n.Generation() == before)
	// Output:
	// without it: 0 milli-CPU
	// afterwards: 500 milli-CPU; as if nothing had happened: true
}

// A deferred Rollback is harmless after a Commit.
func ExampleMark() {
	s, p := twoNodes()
	place := func(keep bool) {
		var m framework.Mark = s.Begin()
		defer s.Rollback(m)
		if s.AddPod(p, "n1") == nil && keep {
			s.Commit(m)
		}
	}
	place(false)
	fmt.Println(len(s.Node("n1").Pods))
	place(true)
	fmt.Println(len(s.Node("n1").Pods))
	// Output:
	// 0
	// 1
}

// To keep something per node, ask what has changed since the last look.
func ExampleSnapshot_Changes() {
	s, p := twoNodes()
	seen := s.Version()
	if err := s.AddPod(p, "n2"); err != nil {
		fmt.Println(err)
	}
	slots, known := s.Changes(seen)
	if !known {
		slots = s.Slots() // too far behind: look at every node
	}
	for _, slot := range slots {
		fmt.Println(s.AtSlot(slot).Name(), "changed")
	}
	// Output: n2 changed
}

func ExampleSnapshot_All() {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	for _, name := range []string{"a1", "a2", "a3", "b1", "b2"} {
		if err := s.AddNode(api.MakeNode(name, "4", "32Gi").Zone(name[:1]).Obj()); err != nil {
			fmt.Println(err)
		}
	}
	for i, n := range s.All() {
		fmt.Println(i, n.Name())
	}
	// Output:
	// 0 a1
	// 1 b1
	// 2 a2
	// 3 b2
	// 4 a3
}

func ExampleNodeOrder() {
	for _, order := range []framework.NodeOrder{framework.ZoneInterleaved, framework.Arrival} {
		s := framework.NewSnapshot(order)
		for _, name := range []string{"a1", "a2", "b1"} {
			if err := s.AddNode(api.MakeNode(name, "4", "32Gi").Zone(name[:1]).Obj()); err != nil {
				fmt.Println(err)
			}
		}
		fmt.Println(nodeNames(s))
	}
	// Output:
	// [a1 b1 a2]
	// [a1 a2 b1]
}

func ExampleSnapshot_Image() {
	s := framework.NewSnapshot(framework.Arrival)
	for _, name := range []string{"n1", "n2"} {
		if err := s.AddNode(api.MakeNode(name, "4", "32Gi").Image("120Mi", "nginx:1.27").Obj()); err != nil {
			fmt.Println(err)
		}
	}
	size, nodes := s.Image("nginx:1.27")
	fmt.Println(size>>20, "MiB on", nodes, "nodes")
	fmt.Println(s.Node("n1").HasImage("nginx:1.27"), s.Node("n1").HasImage("redis:8"))
	// Output:
	// 120 MiB on 2 nodes
	// true false
}

func ExampleNodeInfo() {
	s, p := twoNodes()
	if err := s.AddPod(p, "n1"); err != nil {
		fmt.Println(err)
	}
	n := s.Node("n1")
	free := n.Allocatable.At(resource.IndexMemory) - n.Requested.At(resource.IndexMemory)
	fmt.Println(free>>30, "GiB and", n.AllowedPods-int64(len(n.Pods)), "pods are free")
	// Output: 31 GiB and 109 pods are free
}

func ExamplePodInfo() {
	s := framework.NewSnapshot(framework.Arrival)
	p, err := s.NewPodInfo(api.MakePod("web").Requests("500m", "").HostPort(80).Priority(10).Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Requests.At(resource.IndexCPU), "milli-CPU,", p.Requests.At(resource.IndexMemory), "bytes requested")
	fmt.Println(p.ScoredRequests.At(resource.IndexMemory)>>20, "MiB counted in scores")
	fmt.Println(p.HostPorts, p.Priority)
	// Output:
	// 500 milli-CPU, 0 bytes requested
	// 200 MiB counted in scores
	// [{0.0.0.0 TCP 80}] 10
}

func ExamplePodImages() {
	p := api.MakePod("web").Image("nginx").Sidecar("proxy").Image("envoy:1.30").Obj()
	fmt.Println(api.PodImages(p))
	// Output: [envoy:1.30 nginx:latest]
}

func ExampleSnapshotOf() {
	o, err := api.Decode([]byte(`
		{"kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}}
		{"kind": "Pod", "metadata": {"name": "db"}, "spec": {"nodeName": "n1", "containers": [{"name": "main"}]}}
		{"kind": "Pod", "metadata": {"name": "lost"}, "spec": {"nodeName": "n2", "containers": [{"name": "main"}]}}
		{"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "main"}]}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	s, pending, err := framework.SnapshotOf(o, framework.ZoneInterleaved)
	fmt.Println(s, "with", podNames(s.Node("n1")))
	fmt.Println("to place:", pending[0].Pod.Key())
	fmt.Println("wrong:", err)
	// Output:
	// snapshot of 1 nodes with [db]
	// to place: default/web
	// wrong: pod default/lost: spec.nodeName: "n2": no such node
}

// budget counts starts per node, which a plugin wants to bound.
type budget struct{ starts map[int]int }

func (b *budget) Fork(*framework.Snapshot) framework.Extension {
	return &budget{maps.Clone(b.starts)}
}

func (b *budget) start(s *framework.Snapshot, n *framework.NodeInfo) {
	s.Record(unstart{b, n.Slot()}) // how to take it back
	b.starts[n.Slot()]++
	s.Touch(n) // answers kept for the node no longer hold
}

type unstart struct {
	budget *budget
	slot   int
}

func (u unstart) Undo(*framework.Snapshot) { u.budget.starts[u.slot]-- }

var budgetKey = framework.NewExtensionKey(func(*framework.Snapshot) *budget {
	return &budget{map[int]int{}}
})

// What a plugin owns per node lives in the snapshot: forks and transactions
// cover it.
func ExampleExtension() {
	s, _ := twoNodes()
	n := s.Node("n1")
	budgetKey.Of(s).start(s, n)

	m := s.Begin()
	budgetKey.Of(s).start(s, n)
	fmt.Println("in a transaction:", budgetKey.Of(s).starts[n.Slot()])
	s.Rollback(m)
	fmt.Println("rolled back:", budgetKey.Of(s).starts[n.Slot()])

	f := s.Fork()
	budgetKey.Of(f).start(f, n)
	fmt.Println("in a fork:", budgetKey.Of(f).starts[n.Slot()], "and still", budgetKey.Of(s).starts[n.Slot()])
	// Output:
	// in a transaction: 2
	// rolled back: 1
	// in a fork: 2 and still 1
}

// appCount counts the pods of each app in the whole cluster.
type appCount struct{ pods map[string]int }

func (a *appCount) Fork(*framework.Snapshot) framework.Extension {
	return &appCount{maps.Clone(a.pods)}
}

func (a *appCount) PodAdded(_ *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	a.pods[p.Pod.Labels["app"]]++
}

func (a *appCount) PodRemoved(_ *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	a.pods[p.Pod.Labels["app"]]--
}

// An extension that watches pods needs no record for a rollback: it is told
// the opposite event.
func ExamplePodWatcher() {
	count := framework.NewExtensionKey(func(s *framework.Snapshot) *appCount {
		a := &appCount{map[string]int{}}
		for _, n := range s.All() {
			for _, p := range n.Pods {
				a.PodAdded(s, n, p)
			}
		}
		return a
	})
	s, _ := twoNodes()
	p, err := s.NewPodInfo(api.MakePod("db").Labels("app", "db").Obj())
	if err != nil {
		fmt.Println(err)
	}
	m := s.Begin()
	fmt.Println(count.Of(s).pods["db"])
	if err := s.AddPod(p, "n1"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(count.Of(s).pods["db"])
	s.Rollback(m)
	fmt.Println(count.Of(s).pods["db"])
	// Output:
	// 0
	// 1
	// 0
}

func (a *appCount) Check(s *framework.Snapshot) error {
	want := map[string]int{}
	for _, n := range s.All() {
		for _, p := range n.Pods {
			want[p.Pod.Labels["app"]]++
		}
	}
	for app, pods := range a.pods {
		if pods != want[app] {
			return fmt.Errorf("app %s: %d pods are counted, want %d", app, pods, want[app])
		}
	}
	return nil
}

// An extension that can check itself is asked by Check of the snapshot, and by a
// scheduler that verifies.
func ExampleChecker() {
	count := framework.NewExtensionKey(func(*framework.Snapshot) *appCount { return &appCount{map[string]int{}} })
	s, _ := twoNodes()
	p, err := s.NewPodInfo(api.MakePod("db").Labels("app", "db").Obj())
	if err != nil {
		fmt.Println(err)
	}
	count.Of(s)
	if err := s.AddPod(p, "n1"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(s.Check())
	count.Of(s).pods["db"]++
	fmt.Println(s.Check())
	// Output:
	// <nil>
	// app db: 2 pods are counted, want 1
}

// rackCount counts the nodes of each rack.
type rackCount struct{ nodes map[string]int }

func (r *rackCount) Fork(*framework.Snapshot) framework.Extension {
	return &rackCount{maps.Clone(r.nodes)}
}

func (r *rackCount) NodeAdded(_ *framework.Snapshot, n *framework.NodeInfo) {
	r.nodes[n.Node.Labels["rack"]]++
}

func (r *rackCount) NodeRemoved(_ *framework.Snapshot, n *framework.NodeInfo) {
	r.nodes[n.Node.Labels["rack"]]--
}

func (r *rackCount) NodeUpdated(s *framework.Snapshot, old, n *framework.NodeInfo) {
	r.NodeRemoved(s, old)
	r.NodeAdded(s, n)
}

func ExampleNodeWatcher() {
	racks := framework.NewExtensionKey(func(s *framework.Snapshot) *rackCount {
		r := &rackCount{map[string]int{}}
		for _, n := range s.All() {
			r.NodeAdded(s, n)
		}
		return r
	})
	s, _ := twoNodes()
	fmt.Println(racks.Of(s).nodes)
	if err := s.UpdateNode(api.MakeNode("n1", "4", "32Gi").Labels("rack", "r7").Obj()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(racks.Of(s).nodes)
	// Output:
	// map[:2]
	// map[:1 r7:1]
}

// Pod finds a pod, and its node, by name.
func ExampleSnapshot_Pod() {
	s, p := twoNodes()
	if err := s.AddPod(p, "n2"); err != nil {
		fmt.Println(err)
	}
	pod, node := s.Pod("default/web")
	fmt.Println(pod == p, node.Name())
	pod, node = s.Pod("default/db")
	fmt.Println(pod == nil, node == nil)
	// Output:
	// true n2
	// true true
}

// A program that must not count a pod twice says so once.
func ExampleSnapshot_RefuseDuplicates() {
	s, p := twoNodes()
	s.RefuseDuplicates()
	fmt.Println(s.AddPod(p, "n1"))
	fmt.Println(s.AddPod(p, "n2"))
	// Output:
	// <nil>
	// pod default/web: spec.nodeName: "n2": the pod is there already: on node n1
}

// A pod that runs names its node. To place it elsewhere, take its pending form.
func ExamplePodInfo_Pending() {
	s, _ := twoNodes()
	p, err := s.NewPodInfo(api.MakePod("db").Node("n1").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := s.AddPod(p, p.Pod.Spec.NodeName); err != nil {
		fmt.Println(err)
	}
	fmt.Println(s.RemovePod(p, "n1")) // the node is drained
	again := p.Pending()
	fmt.Printf("%q %q\n", p.Pod.Spec.NodeName, again.Pod.Spec.NodeName)
	fmt.Println(s.AddPod(again, "n2"))
	// Output:
	// <nil>
	// "n1" ""
	// <nil>
}
