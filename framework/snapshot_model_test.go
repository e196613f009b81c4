package framework_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// This file checks Snapshot against a model that is slow and obvious: plain
// lists and maps, copied as a whole for forks and transactions. A random
// program acts on both, and after each step everything that a snapshot shows
// is compared, for each fork that is alive.

// modelNode is a node with its pods in kube-scheduler's order.
type modelNode struct {
	node    *api.Node
	pods    []*framework.PodInfo
	charged int64 // what the extension holds for the node
	slot    int

	nominated []*framework.PodInfo
}

type modelZone struct {
	key   string
	names []string
}

type modelImage struct {
	size  int64
	nodes map[string]bool
}

type model struct {
	nodes      map[string]*modelNode
	zones      []modelZone // in the order in which they were first seen
	images     map[string]modelImage
	namespaces map[string]*api.Namespace
	services   map[string]*api.Service
}

func newModel() *model {
	return &model{
		nodes: map[string]*modelNode{}, images: map[string]modelImage{},
		namespaces: map[string]*api.Namespace{}, services: map[string]*api.Service{},
	}
}

func (m *model) clone() *model {
	c := newModel()
	c.namespaces, c.services = maps.Clone(m.namespaces), maps.Clone(m.services)
	for name, n := range m.nodes {
		copied := *n
		copied.pods, copied.nominated = slices.Clone(n.pods), slices.Clone(n.nominated)
		c.nodes[name] = &copied
	}
	for _, z := range m.zones {
		c.zones = append(c.zones, modelZone{z.key, slices.Clone(z.names)})
	}
	for name, i := range m.images {
		c.images[name] = modelImage{i.size, maps.Clone(i.nodes)}
	}
	return c
}

// zoneOf is the zone key, from the words of the specification: the old label
// wins where it is present.
func zoneOf(n *api.Node) string {
	label := func(old, current string) string {
		if v, ok := n.Labels[old]; ok {
			return v
		}
		return n.Labels[current]
	}
	region := label("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
	zone := label("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
	if region+zone == "" {
		return ""
	}
	return region + ":\x00:" + zone
}

func (m *model) enter(zone, name string) {
	for i := range m.zones {
		if m.zones[i].key == zone {
			m.zones[i].names = append(m.zones[i].names, name)
			return
		}
	}
	m.zones = append(m.zones, modelZone{zone, []string{name}})
}

func (m *model) leave(name string) {
	for i := range m.zones {
		m.zones[i].names = slices.DeleteFunc(m.zones[i].names, func(s string) bool { return s == name })
	}
	m.zones = slices.DeleteFunc(m.zones, func(z modelZone) bool { return len(z.names) == 0 })
}

func (m *model) order() []string {
	names := []string{}
	for round := 0; len(names) < len(m.nodes); round++ {
		for _, z := range m.zones {
			if round < len(z.names) {
				names = append(names, z.names[round])
			}
		}
	}
	return names
}

func (m *model) countImages(n *api.Node) {
	for _, image := range n.Status.Images {
		for _, name := range image.Names {
			if _, ok := m.images[name]; !ok {
				m.images[name] = modelImage{image.SizeBytes, map[string]bool{}}
			}
			m.images[name].nodes[n.Name] = true
		}
	}
}

func (m *model) uncountImages(n *api.Node) {
	for name, image := range m.images {
		if delete(image.nodes, n.Name); len(image.nodes) == 0 {
			delete(m.images, name)
		}
	}
}

// chargesKey is the key of an extension that is all a plugin could need: a sum
// per node that changes on its own, a count that follows the pods, and a habit
// of touching another node when pods come and go.
var chargesKey = framework.NewExtensionKey(func(s *framework.Snapshot) *charges {
	c := &charges{sum: map[int]int64{}, pods: map[int]int{}}
	for _, n := range s.All() {
		c.NodeAdded(s, n)
		c.pods[n.Slot()] = len(n.Pods)
	}
	return c
})

type charges struct {
	sum  map[int]int64
	pods map[int]int
}

func (c *charges) Fork(*framework.Snapshot) framework.Extension {
	return &charges{maps.Clone(c.sum), maps.Clone(c.pods)}
}

func (c *charges) PodAdded(s *framework.Snapshot, n *framework.NodeInfo, _ *framework.PodInfo) {
	c.pods[n.Slot()]++
	s.Touch(s.At(0))
}

func (c *charges) PodRemoved(s *framework.Snapshot, n *framework.NodeInfo, _ *framework.PodInfo) {
	c.pods[n.Slot()]--
	s.Touch(s.At(0))
}

func (c *charges) NodeAdded(_ *framework.Snapshot, n *framework.NodeInfo) {
	c.sum[n.Slot()], c.pods[n.Slot()] = 0, 0
}

func (c *charges) NodeRemoved(_ *framework.Snapshot, n *framework.NodeInfo) {
	delete(c.sum, n.Slot())
	delete(c.pods, n.Slot())
}
func (c *charges) NodeUpdated(*framework.Snapshot, *framework.NodeInfo, *framework.NodeInfo) {}

func (c *charges) charge(s *framework.Snapshot, n *framework.NodeInfo, x int64) {
	s.Record(refund{n.Slot(), x})
	c.sum[n.Slot()] += x
	s.Touch(n)
}

type refund struct {
	slot int
	x    int64
}

func (r refund) Undo(s *framework.Snapshot) { chargesKey.Of(s).sum[r.slot] -= r.x }

// A world is one snapshot, its forks, and their models.
type world struct {
	order framework.NodeOrder
	forks []*subject
	pods  []*framework.PodInfo
	made  int // nodes and pods made so far

	// What each generation of the lineage stood for when it was first seen.
	contents, nodeObjects, nodeSets map[uint64]string
	objects, namespaces, services   map[uint64]string
}

// A subject is a snapshot under test.
type subject struct {
	snapshot *framework.Snapshot
	model    *model
	open     []transaction
	ended    []framework.Mark
	seen     []sighting
	extended bool // the extension exists
}

type transaction struct {
	mark        framework.Mark
	before      *model
	generations map[string]uint64
}

// A sighting is what someone who will ask for changes remembers.
type sighting struct {
	version uint64
	slots   map[int]uint64 // generation by slot
}

func TestSnapshotModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{
			order:    rapid.SampledFrom([]framework.NodeOrder{framework.ZoneInterleaved, framework.Arrival}).Draw(t, "order"),
			contents: map[uint64]string{}, nodeObjects: map[uint64]string{}, nodeSets: map[uint64]string{},
			objects: map[uint64]string{}, namespaces: map[uint64]string{}, services: map[uint64]string{},
		}
		w.forks = []*subject{{snapshot: framework.NewSnapshot(w.order), model: newModel()}}
		// Beyond 256 nodes there is more than one chunk.
		for range rapid.SampledFrom([]int{0, 1, 3, 6, 258}).Draw(t, "nodes") {
			w.forks[0].addNode(t, w, w.drawNode(t, w.nextName()))
		}
		t.Repeat(map[string]func(*rapid.T){
			"":                 w.check,
			"addNode":          func(t *rapid.T) { s := w.any(t); s.addNode(t, w, w.drawNode(t, w.drawName(t))) },
			"updateNode":       func(t *rapid.T) { s := w.any(t); s.updateNode(t, w, w.drawNode(t, s.drawNodeName(t))) },
			"removeNode":       func(t *rapid.T) { s := w.any(t); s.removeNode(t, s.drawNodeName(t)) },
			"addPods":          w.addPods,
			"whatIf":           w.whatIf,
			"removePod":        func(t *rapid.T) { w.any(t).removePod(t, w) },
			"touch":            func(t *rapid.T) { w.any(t).touch(t) },
			"charge":           func(t *rapid.T) { w.any(t).charge(t) },
			"nominate":         func(t *rapid.T) { w.any(t).nominate(t, w.drawPod(t)) },
			"clear nomination": func(t *rapid.T) { w.any(t).clearNomination(t) },
			"put":              func(t *rapid.T) { w.any(t).put(t) },
			"delete":           func(t *rapid.T) { w.any(t).delete(t) },
			"begin":            func(t *rapid.T) { w.any(t).begin() },
			"end":              func(t *rapid.T) { w.any(t).end(t) },
			"endAgain":         func(t *rapid.T) { w.any(t).endAgain(t) },
			"fork":             w.fork,
			"drop":             w.drop,
			"sight":            func(t *rapid.T) { w.any(t).sight() },
		})
	})
}

func (w *world) any(t *rapid.T) *subject {
	return w.forks[rapid.IntRange(0, len(w.forks)-1).Draw(t, "fork")]
}

func (w *world) fork(t *rapid.T) {
	if len(w.forks) == 4 {
		t.Skip("enough forks")
	}
	s := w.any(t)
	w.forks = append(w.forks, &subject{snapshot: s.snapshot.Fork(), model: s.model.clone(), extended: s.extended})
}

func (w *world) drop(t *rapid.T) {
	if len(w.forks) == 1 {
		t.Skip("the last one")
	}
	i := rapid.IntRange(0, len(w.forks)-1).Draw(t, "fork")
	w.forks = slices.Delete(w.forks, i, i+1)
}

func (w *world) nextName() string {
	w.made++
	return fmt.Sprintf("n%d", w.made)
}

// drawName returns a new name, or now and then one used before.
func (w *world) drawName(t *rapid.T) string {
	if w.made > 0 && rapid.IntRange(0, 3).Draw(t, "old name") == 0 {
		return fmt.Sprintf("n%d", rapid.IntRange(1, w.made).Draw(t, "name"))
	}
	return w.nextName()
}

func (w *world) drawNode(t *rapid.T, name string) *api.Node {
	n := plainNode(name)
	if zone := rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "zone"); zone != "" {
		n.Labels[api.LabelTopologyZone] = zone
	}
	if rapid.IntRange(0, 4).Draw(t, "old label") == 0 {
		n.Labels[api.LabelFailureDomainZone] = rapid.SampledFrom([]string{"", "b"}).Draw(t, "old zone")
	}
	if rapid.Bool().Draw(t, "device") {
		n.Status.Allocatable["example.com/gpu"] = resource.MustParse("8")
	}
	for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"x:1", "y:1", "z:1"}), 0, 3).Draw(t, "images") {
		n.Status.Images = append(n.Status.Images, api.ContainerImage{
			Names: []string{name, name + "@digest"}, SizeBytes: rapid.Int64Range(1, 9).Draw(t, "size"),
		})
	}
	return n
}

func (w *world) drawPod(t *rapid.T) *framework.PodInfo {
	if len(w.pods) > 0 && rapid.IntRange(0, 2).Draw(t, "again") == 0 {
		return rapid.SampledFrom(w.pods).Draw(t, "pod")
	}
	w.made++
	p := plainPod(fmt.Sprintf("p%d", w.made))
	if rapid.Bool().Draw(t, "no uid") {
		p.UID = ""
	}
	if rapid.Bool().Draw(t, "has priority") {
		p.Spec.Priority = new(rapid.Int32Range(-2, 2).Draw(t, "priority"))
	}
	requests := p.Spec.Containers[0].Resources.Requests
	for _, name := range rapid.SliceOf(rapid.SampledFrom([]string{"cpu", "memory", "example.com/gpu", "hugepages-2Mi"})).Draw(t, "requests") {
		requests[resource.Name(name)] = resource.MustParse(rapid.SampledFrom([]string{"0", "1", "1500m", "3", "4611686018427387904", "9223372036854775000"}).Draw(t, name))
	}
	for _, port := range rapid.SliceOfN(rapid.Int32Range(80, 82), 0, 3).Draw(t, "ports") {
		p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, api.ContainerPort{HostPort: port})
	}
	info, err := w.forks[0].snapshot.NewPodInfo(p)
	if err != nil {
		t.Fatal(err)
	}
	w.pods = append(w.pods, info)
	return info
}

// drawNodeName prefers the first nodes, so that some see much.
func (s *subject) drawNodeName(t *rapid.T) string {
	names := s.model.order()
	if len(names) == 0 {
		t.Skip("no nodes")
	}
	if rapid.IntRange(0, 3).Draw(t, "any") > 0 {
		names = names[:min(2, len(names))]
	}
	return rapid.SampledFrom(names).Draw(t, "node")
}

func (w *world) addPods(t *rapid.T) {
	s := w.any(t)
	name := s.drawNodeName(t)
	for range rapid.IntRange(1, 4).Draw(t, "pods") {
		s.addPod(t, w.drawPod(t), name)
	}
}

// whatIf removes pods of a node, as preemption does, and takes it back.
func (w *world) whatIf(t *rapid.T) {
	s := w.any(t)
	s.begin()
	for range rapid.IntRange(1, 3).Draw(t, "removed") {
		s.removePod(t, w)
	}
	s.end(t)
}

func (s *subject) addNode(t *rapid.T, w *world, n *api.Node) {
	err := s.snapshot.AddNode(n)
	if _, there := s.model.nodes[n.Name]; there || len(s.open) > 0 {
		if err == nil {
			t.Fatalf("AddNode(%s) = nil, want an error", n.Name)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	s.model.nodes[n.Name] = &modelNode{node: n, slot: s.snapshot.Node(n.Name).Slot()}
	s.model.enter(w.bucket(n), n.Name)
	s.model.countImages(n)
}

// bucket is the zone that the order goes by.
func (w *world) bucket(n *api.Node) string {
	if w.order == framework.Arrival {
		return ""
	}
	return zoneOf(n)
}

func (s *subject) updateNode(t *rapid.T, w *world, n *api.Node) {
	err := s.snapshot.UpdateNode(n)
	if len(s.open) > 0 {
		if err == nil {
			t.Fatalf("UpdateNode(%s) in a transaction = nil, want an error", n.Name)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	have := s.model.nodes[n.Name]
	if w.bucket(n) != w.bucket(have.node) {
		s.model.leave(n.Name)
		s.model.enter(w.bucket(n), n.Name)
	}
	s.model.uncountImages(have.node)
	s.model.countImages(n)
	have.node = n
}

func (s *subject) removeNode(t *rapid.T, name string) {
	err := s.snapshot.RemoveNode(name)
	if len(s.open) > 0 {
		if err == nil {
			t.Fatalf("RemoveNode(%s) in a transaction = nil, want an error", name)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	s.model.uncountImages(s.model.nodes[name].node)
	s.model.leave(name)
	delete(s.model.nodes, name)
}

func (s *subject) addPod(t *rapid.T, p *framework.PodInfo, name string) {
	var err error
	if rapid.Bool().Draw(t, "by name") {
		err = s.snapshot.AddPod(p, name)
	} else {
		err = s.snapshot.AddPodAt(p, s.snapshot.Node(name))
	}
	n := s.model.nodes[name]
	if err != nil {
		t.Fatal(err)
	}
	n.pods = append(n.pods, p)
}

func (n *modelNode) totals() (resource.Vector, [2]int64) {
	var sum resource.Vector
	var nonZero [2]int64
	for _, p := range n.pods {
		for i, x := range p.UsedRequests {
			sum = sum.With(i, resource.SatAdd(sum.At(i), x))
		}
		nonZero[0] = resource.SatAdd(nonZero[0], p.UsedNonZero[0])
		nonZero[1] = resource.SatAdd(nonZero[1], p.UsedNonZero[1])
	}
	return sum, nonZero
}

func (s *subject) removePod(t *rapid.T, w *world) {
	name := s.drawNodeName(t)
	n := s.model.nodes[name]
	if len(w.pods) == 0 {
		t.Skip("no pods")
	}
	p := rapid.SampledFrom(w.pods).Draw(t, "pod")
	if len(n.pods) > 0 && rapid.IntRange(0, 9).Draw(t, "there") > 0 {
		p = rapid.SampledFrom(n.pods).Draw(t, "pod there")
	}
	i := len(n.pods) - 1
	for i >= 0 && n.pods[i] != p {
		i--
	}
	var err error
	if rapid.Bool().Draw(t, "by name") {
		err = s.snapshot.RemovePod(p, name)
	} else {
		err = s.snapshot.RemovePodAt(p, s.snapshot.Node(name))
	}
	if i < 0 {
		if err == nil {
			t.Fatalf("%s is not on %s, but there is no error", p.Pod.Name, name)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	last := len(n.pods) - 1
	n.pods[i] = n.pods[last]
	n.pods = n.pods[:last]
}

func (s *subject) touch(t *rapid.T) {
	n := s.snapshot.Node(s.drawNodeName(t))
	before := n.Generation()
	s.snapshot.Touch(n)
	if after := s.snapshot.Node(n.Name()).Generation(); after == before {
		t.Fatalf("Touch left the generation of %s at %d", n.Name(), before)
	}
}

func (s *subject) charge(t *rapid.T) {
	name := s.drawNodeName(t)
	x := rapid.Int64Range(1, 5).Draw(t, "x")
	s.extended = true
	chargesKey.Of(s.snapshot).charge(s.snapshot, s.snapshot.Node(name), x)
	s.model.nodes[name].charged += x
}

func (s *subject) nominate(t *rapid.T, p *framework.PodInfo) {
	name, from := s.drawNodeName(t), ""
	for _, n := range s.model.order() {
		if slices.Contains(s.model.nodes[n].nominated, p) {
			from = n
		}
	}
	if err := s.snapshot.Nominate(p, name, from); err != nil {
		t.Fatal(err)
	}
	if old := s.model.nodes[from]; old != nil {
		old.nominated = slices.DeleteFunc(old.nominated, func(q *framework.PodInfo) bool { return q == p })
	}
	n := s.model.nodes[name]
	n.nominated = append(n.nominated, p)
}

func (s *subject) clearNomination(t *rapid.T) {
	name := s.drawNodeName(t)
	n := s.model.nodes[name]
	if len(n.nominated) == 0 {
		t.Skip("nobody is nominated")
	}
	i := rapid.IntRange(0, len(n.nominated)-1).Draw(t, "nominated")
	s.snapshot.ClearNomination(n.nominated[i], name)
	s.snapshot.ClearNomination(n.nominated[i], name) // once more does nothing
	n.nominated = slices.Delete(n.nominated, i, i+1)
}

func (s *subject) put(t *rapid.T) {
	name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "object")
	meta := api.ObjectMeta{Name: name}
	var err error
	if rapid.Bool().Draw(t, "service") {
		s.model.services[name] = &api.Service{ObjectMeta: meta}
		err = framework.Put(s.snapshot, s.model.services[name])
	} else {
		s.model.namespaces[name] = &api.Namespace{ObjectMeta: meta}
		err = framework.Put(s.snapshot, s.model.namespaces[name])
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s *subject) delete(t *rapid.T) {
	name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "object")
	delete(s.model.services, name)
	framework.Delete[api.Service](s.snapshot, name)
	if rapid.Bool().Draw(t, "namespace, too") {
		delete(s.model.namespaces, name)
		framework.Delete[api.Namespace](s.snapshot, name)
	}
}

func (s *subject) begin() {
	tx := transaction{mark: s.snapshot.Begin(), before: s.model.clone(), generations: map[string]uint64{}}
	for _, n := range s.snapshot.All() {
		tx.generations[n.Name()] = n.Generation()
	}
	s.open = append(s.open, tx)
}

// end ends any open transaction, and with it those inside it.
func (s *subject) end(t *rapid.T) {
	if len(s.open) == 0 {
		t.Skip("no transaction")
	}
	i := len(s.open) - 1
	if rapid.IntRange(0, 4).Draw(t, "outer") == 0 {
		i = rapid.IntRange(0, i).Draw(t, "transaction")
	}
	tx := s.open[i]
	for _, tx := range s.open[i:] {
		s.ended = append(s.ended, tx.mark)
	}
	s.open = s.open[:i]
	if rapid.Bool().Draw(t, "commit") {
		s.snapshot.Commit(tx.mark)
	} else {
		s.snapshot.Rollback(tx.mark)
		s.model = tx.before
		for name, want := range tx.generations {
			if got := s.snapshot.Node(name).Generation(); got != want {
				t.Fatalf("generation of %s after a rollback = %d, want %d as before", name, got, want)
			}
		}
	}
}

// endAgain ends transactions that have ended: nothing may change.
func (s *subject) endAgain(*rapid.T) {
	for _, m := range s.ended {
		s.snapshot.Rollback(m)
		s.snapshot.Commit(m)
	}
}

func (s *subject) sight() {
	seen := sighting{s.snapshot.Version(), map[int]uint64{}}
	for _, n := range s.snapshot.All() {
		seen.slots[n.Slot()] = n.Generation()
	}
	s.seen = append(s.seen, seen)
}

func (w *world) check(t *rapid.T) {
	for _, s := range w.forks {
		s.check(t, w)
	}
}

func (s *subject) check(t *rapid.T, w *world) {
	if err := s.snapshot.Check(); err != nil {
		t.Fatal(err)
	}
	order := s.model.order()
	if diff := cmp.Diff(order, nodeNames(s.snapshot)); diff != "" {
		t.Fatalf("order of nodes (-want +got):\n%s", diff)
	}
	if got := s.snapshot.Len(); got != len(order) {
		t.Fatalf("Len() = %d, want %d", got, len(order))
	}
	for i := range w.made + 1 {
		name := fmt.Sprintf("n%d", i)
		if got, want := s.snapshot.Node(name) != nil, s.model.nodes[name] != nil; got != want {
			t.Fatalf("node %s is there: %t, want %t", name, got, want)
		}
	}
	slots := s.snapshot.Slots()
	for i, name := range order {
		n := s.snapshot.Node(name)
		if n != s.snapshot.At(i) || n != s.snapshot.AtSlot(slots[i]) || n != s.snapshot.AtSlot(n.Slot()) {
			t.Fatalf("node %s is not the same by name, place and slot", name)
		}
		s.checkNode(t, w, s.model.nodes[name], n)
	}
	s.checkImages(t)
	s.checkObjects(t, w)
	s.checkChanges(t)
	var set strings.Builder
	for _, name := range slices.Sorted(slices.Values(order)) {
		fmt.Fprintf(&set, "%s=%p ", name, s.model.nodes[name].node)
	}
	agree(t, "NodeSet", w.nodeSets, s.snapshot.NodeSet(), set.String())
}

func (s *subject) checkNode(t *rapid.T, w *world, want *modelNode, n *framework.NodeInfo) {
	name := want.node.Name
	if n.Node != want.node || n.Slot() != want.slot || n.ZoneKey() != zoneOf(want.node) {
		t.Fatalf("node %s: object %p, slot %d, zone %q; want %p, %d, %q", name, n.Node, n.Slot(), n.ZoneKey(), want.node, want.slot, zoneOf(want.node))
	}
	if !slices.Equal(n.Pods, want.pods) {
		t.Fatalf("pods of %s = %v, want %v", name, podNames(n), podNames(&framework.NodeInfo{Pods: want.pods}))
	}
	sum, nonZero := want.totals()
	if !n.Requested.Equal(sum) || n.NonZeroRequested != nonZero {
		t.Fatalf("totals of %s = %v, %v, want %v, %v", name, n.Requested, n.NonZeroRequested, sum, nonZero)
	}
	if schema := s.snapshot.Schema(); !n.Allocatable.Equal(schema.Vector(want.node.Status.Allocatable)) || n.AllowedPods != 10 {
		t.Fatalf("%s gives %v and %d pods, want %v and 10", name, n.Allocatable, n.AllowedPods, want.node.Status.Allocatable)
	}
	if !slices.Equal(n.Nominated, want.nominated) {
		t.Fatalf("nominated to %s are %v, want %v", name, podNames(&framework.NodeInfo{Pods: n.Nominated}), podNames(&framework.NodeInfo{Pods: want.nominated}))
	}
	ports := map[api.HostPort]int{}
	content := &strings.Builder{}
	fmt.Fprintf(content, "%p %d", want.node, want.charged)
	for _, p := range want.pods {
		fmt.Fprintf(content, " %p", p)
		for _, port := range p.HostPorts {
			ports[port]++
		}
	}
	for _, p := range want.nominated {
		fmt.Fprintf(content, " nominated %p", p)
	}
	for _, port := range n.UsedPorts {
		ports[port]--
	}
	for port, missing := range ports {
		if missing != 0 {
			t.Fatalf("%s: %v is missing %d times in %v", name, port, missing, n.UsedPorts)
		}
	}
	if s.extended {
		c := chargesKey.Of(s.snapshot)
		if c.sum[n.Slot()] != want.charged || c.pods[n.Slot()] != len(want.pods) {
			t.Fatalf("extension at %s: sum %d, pods %d, want %d, %d", name, c.sum[n.Slot()], c.pods[n.Slot()], want.charged, len(want.pods))
		}
	}
	agree(t, "Generation", w.contents, n.Generation(), content.String())
	agree(t, "NodeGeneration", w.nodeObjects, n.NodeGeneration(), fmt.Sprintf("%p", want.node))
}

// agree checks that a number always stands for the same content.
func agree(t *rapid.T, what string, seen map[uint64]string, generation uint64, content string) {
	if before, ok := seen[generation]; ok && before != content {
		t.Fatalf("%s %d stands for\n  %s\nand for\n  %s", what, generation, before, content)
	}
	seen[generation] = content
}

func (s *subject) checkImages(t *rapid.T) {
	for _, name := range []string{"x:1", "y:1", "z:1", "x:1@digest", "none:1"} {
		want := s.model.images[name]
		if size, nodes := s.snapshot.Image(name); size != want.size || nodes != len(want.nodes) {
			t.Fatalf("Image(%s) = size %d on %d nodes, want size %d on %d nodes", name, size, nodes, want.size, len(want.nodes))
		}
		for node := range s.model.nodes {
			if got := s.snapshot.Node(node).HasImage(name); got != want.nodes[node] {
				t.Fatalf("HasImage(%s) on %s = %t, want %t", name, node, got, want.nodes[node])
			}
		}
	}
}

func (s *subject) checkObjects(t *rapid.T, w *world) {
	nominations := 0
	for _, n := range s.model.nodes {
		nominations += len(n.nominated)
	}
	if got := s.snapshot.Nominations(); got != nominations {
		t.Fatalf("Nominations() = %d, want %d", got, nominations)
	}
	var slots []int
	for slot := range s.snapshot.SlotLimit() {
		if n := s.snapshot.AtSlot(slot); n != nil && len(n.Nominated) > 0 {
			slots = append(slots, slot)
		}
	}
	if got := s.snapshot.NominatedSlots(); !slices.Equal(got, slots) {
		t.Fatalf("NominatedSlots() = %v, want %v", got, slots)
	}
	priority := rapid.Int32Range(-3, 3).Draw(t, "below which priority")
	below := 0
	for _, n := range s.model.nodes {
		for _, p := range n.pods {
			if p.Priority < priority {
				below++
			}
		}
	}
	if got := s.snapshot.PodsBelow(priority); got != below {
		t.Fatalf("PodsBelow(%d) = %d, want %d", priority, got, below)
	}
	agree(t, "Objects", w.objects, s.snapshot.Objects(),
		compareObjects(t, w.namespaces, s.snapshot, s.model.namespaces)+compareObjects(t, w.services, s.snapshot, s.model.services))
}

// compareObjects compares the objects of a kind, and returns their content.
func compareObjects[T api.Object](t *rapid.T, versions map[uint64]string, s *framework.Snapshot, want map[string]*T) string {
	content := ""
	list := framework.List[T](s)
	for i, name := range slices.Sorted(maps.Keys(want)) {
		if i >= len(list) || list[i] != want[name] || framework.Lookup[T](s, name) != want[name] {
			t.Fatalf("%T %s is not where it belongs", want[name], name)
		}
		content += fmt.Sprintf("%p ", want[name])
	}
	if len(list) != len(want) || framework.Lookup[T](s, "none") != nil {
		t.Fatalf("%d objects of a kind, want %d", len(list), len(want))
	}
	agree(t, "ObjectsVersion", versions, framework.ObjectsVersion[T](s), content)
	return content + "; "
}

// checkChanges checks that the reported slots include every change.
func (s *subject) checkChanges(t *rapid.T) {
	for _, seen := range s.seen {
		changed, ok := s.snapshot.Changes(seen.version)
		if !ok {
			t.Fatalf("Changes(%d) at version %d has forgotten", seen.version, s.snapshot.Version())
		}
		reported := map[int]bool{}
		for _, slot := range changed {
			reported[slot] = true
		}
		for slot := range s.snapshot.SlotLimit() {
			before := seen.slots[slot]
			var now uint64
			if n := s.snapshot.AtSlot(slot); n != nil {
				now = n.Generation()
			}
			if before != now && !reported[slot] {
				t.Fatalf("slot %d went from generation %d to %d since version %d, but Changes has only %v", slot, before, now, seen.version, changed)
			}
		}
	}
}
