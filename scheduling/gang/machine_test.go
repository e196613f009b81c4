//go:build full

package gang_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/gang"
)

// A machine asks all questions about a cluster that changes between them, by one placer
// that keeps what it knows. Forks and transactions come and go.
type machine struct {
	s     *framework.Snapshot
	p     *gang.Placer
	rules gang.Rules

	aside  *framework.Snapshot // a fork, with its own placer
	asideP *gang.Placer
	open   []framework.Mark
	before []image // of the open transactions
	serial int
	asked  map[string]int
}

func newMachine(t *rapid.T, asked map[string]int) *machine {
	m := &machine{s: drawCluster(t, 8), rules: drawRules(t), asked: asked}
	m.rules.Workers = rapid.SampledFrom([]int{0, 0, 3}).Draw(t, "workers")
	m.p = placer(m.rules)
	late := api.VolumeBindingWaitForFirstConsumer
	m.put(t, framework.Put(m.s, &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "local"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &late}))
	class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "device"}}
	class.Spec.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.driver == "example.com"`}}}
	m.put(t, framework.Put(m.s, class))
	for i := range 3 {
		v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("volume-", i)}}
		v.Spec.StorageClassName, v.Status.Phase = "local", api.VolumeAvailable
		v.Spec.Capacity = map[resource.Name]resource.Quantity{"storage": resource.MustParse("1Gi")}
		v.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOnce}
		m.put(t, framework.Put(m.s, v))
		name := fmt.Sprint("n", i)
		slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: name}}
		slice.Spec = api.ResourceSliceSpec{Driver: "example.com", NodeName: &name, Pool: api.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}, Devices: []api.Device{{Name: "a"}, {Name: "b"}}}
		m.put(t, framework.Put(m.s, slice))
	}
	// The first questions about devices, and about resources that a class may stand behind,
	// make what is kept of them, and renew all nodes.
	claim := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "first", UID: "uid-first"}}
	claim.Spec.Devices.Requests = []api.DeviceRequest{{Name: "one", Exactly: &api.ExactDeviceRequest{DeviceClassName: "device", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1}}}
	m.put(t, errors.Join(framework.Put(m.s, claim), framework.Put(m.s, &api.PersistentVolumeClaim{ObjectMeta: claim.ObjectMeta})))
	first := api.MakePod("first").UID("uid-first").Request("example.com/gpu", "1").Obj()
	first.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "held", ResourceClaimName: &claim.Name}}
	_, _, err := m.p.Scheduler().ClassKey(m.s, info(m.s, first))
	m.put(t, err)
	return m
}

func (m *machine) put(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// next is a name that no pod has yet.
func (m *machine) next(what string) string {
	m.serial++
	return fmt.Sprintf("%s-%d", what, m.serial)
}

// group draws a group, some of whose pods hold claims that nobody else has, and some of
// whose members run.
func (m *machine) group(t *rapid.T, levels []gang.Level) *gang.Group {
	g := drawGroup(t, m.s, 5, levels)
	g.Name, g.Priority = m.next("g"), int32(rapid.SampledFrom([]int{0, 10}).Draw(t, "priority"))
	held := rapid.SampledFrom([]string{"", "", "", "volume", "device"}).Draw(t, "held")
	for i, pod := range g.Pods {
		p := *pod.Pod
		p.Name, p.UID = fmt.Sprintf("%s-%d", g.Name, i), api.UID(fmt.Sprintf("uid-%s-%d", g.Name, i))
		p.Spec.Priority = &g.Priority
		if held != "" && rapid.Bool().Draw(t, "holds") {
			name := p.Name
			meta := api.ObjectMeta{Namespace: p.Namespace, Name: name, UID: api.UID("uid-" + held + name)}
			if held == "volume" {
				c, class := &api.PersistentVolumeClaim{ObjectMeta: meta}, "local"
				c.Spec.StorageClassName, c.Spec.AccessModes = &class, []api.PersistentVolumeAccessMode{api.ReadWriteOnce}
				c.Spec.Resources.Requests = map[resource.Name]resource.Quantity{"storage": resource.MustParse("1Gi")}
				m.put(t, framework.Put(m.s, c))
				v := api.Volume{Name: "held"}
				v.PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: name}
				p.Spec.Volumes = []api.Volume{v}
			} else {
				c := &api.ResourceClaim{ObjectMeta: meta}
				c.Spec.Devices.Requests = []api.DeviceRequest{{Name: "one", Exactly: &api.ExactDeviceRequest{DeviceClassName: "device", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1}}}
				m.put(t, framework.Put(m.s, c))
				p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "held", ResourceClaimName: &name}}
			}
		}
		g.Pods[i] = info(m.s, &p)
	}
	if !slices.ContainsFunc(levels, func(l gang.Level) bool { return l.Slice > 0 }) && rapid.IntRange(0, 4).Draw(t, "runs") == 0 {
		if at, p := m.pod(t); p != nil {
			g.Present = []gang.Member{{Pod: p, Node: at.Name()}}
		}
	}
	return g
}

// pod draws a pod on a node, nil if there is none.
func (m *machine) pod(t *rapid.T) (*framework.NodeInfo, *framework.PodInfo) {
	if m.s.Len() == 0 {
		return nil, nil
	}
	n := m.s.At(rapid.IntRange(0, m.s.Len()-1).Draw(t, "node"))
	if len(n.Pods) == 0 {
		return n, nil
	}
	return n, n.Pods[rapid.IntRange(0, len(n.Pods)-1).Draw(t, "pod")]
}

// try asks about a group, by several ways that must agree and change nothing.
func (m *machine) try(t *rapid.T, g *gang.Group) *gang.Outcome {
	before, position := imageOf(m.s), m.p.Scheduler().Position()
	out, err := m.p.Try(m.s, g)
	m.put(t, err)
	unchanged(t, m.s, before, "Try")
	if m.p.Scheduler().Position() != position {
		t.Fatal("Try has used up the scheduler's position")
	}
	m.outcome(t, g, out)
	one := m.rules
	one.Workers = 0
	for name, p := range map[string]*gang.Placer{"by a fork": m.p.Fork(), "by a new placer": placer(one), "without caches": plain(one)} {
		again, err := p.Try(m.s.Fork(), g)
		m.put(t, err)
		if a, b := outcomeText(again), outcomeText(out); a != b {
			t.Fatalf("Try %s = %s, want %s", name, a, b)
		}
	}
	return out
}

// outcome checks what must hold of an outcome.
func (m *machine) outcome(t *rapid.T, g *gang.Group, out *gang.Outcome) {
	m.asked[fmt.Sprint("a group is ", out.Status)]++
	if len(g.Present) == 0 {
		checkOutcome(t, m.s, g, out)
	}
	if out.Status == gang.Placed {
		if m.rules.Choice == gang.Kubernetes137 && g.Min > 1 {
			less := *g
			less.Min--
			if out, err := m.p.Try(m.s, &less); err != nil || out.Status != gang.Placed {
				t.Fatalf("with a minimum of %d it is placed, with %d it is not: %v, %v", g.Min, less.Min, out, err)
			}
		}
		return
	}
	if out.Proved {
		m.asked["a no is proved"]++
		for _, rules := range []gang.Rules{{Choice: gang.BestFit, Order: gang.Both, Search: 200}, {Choice: gang.LeastFree, Search: 200}, {Choice: gang.MostPacked, Order: gang.LargestFirst}} {
			if other, err := placer(rules).Try(m.s, g); err != nil || other.Status == gang.Placed {
				t.Fatalf("%v proves %q, and %v places %v, %v", m.rules.Choice, out.Text, rules.Choice, other.Placed, err)
			}
		}
	}
	if len(g.Topology) != 1 || g.Topology[0].Mode != gang.Required || g.Topology[0].Slice > 0 || m.rules.Choice == gang.Kubernetes137 {
		return
	}
	tried, err := placer(gang.Rules{Detailed: true}).Try(m.s, g)
	m.put(t, err)
	for _, bounded := range out.Trials {
		if bounded.Bound == "" {
			continue
		}
		m.asked["a domain is ruled out"]++
		for _, other := range tried.Trials {
			if other.Name() == bounded.Name() && other.Succeeded {
				t.Fatalf("domain %s is ruled out (%s), but %v fit", other.Name(), bounded.Bound, other.Placed)
			}
		}
	}
}

func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"Try": func(t *rapid.T) { m.try(t, m.group(t, drawLevels(t, m.rules.Choice))) },
		"Place": func(t *rapid.T) {
			g := m.group(t, drawLevels(t, m.rules.Choice))
			want, before := m.try(t, g), imageOf(m.s)
			out, err := m.p.Place(m.s, g)
			m.put(t, err)
			if a, b := outcomeText(out), outcomeText(want); a != b {
				t.Fatalf("Place = %s, want %s", a, b)
			}
			if out.Status != gang.Placed {
				unchanged(t, m.s, before, "a Place that failed")
				return
			}
			for _, at := range out.Placed {
				if _, n := m.s.Pod(at.Pod); n == nil || n.Name() != at.Node {
					t.Fatalf("%s is not on %s", at.Pod, at.Node)
				}
			}
		},
		"Place and roll back": func(t *rapid.T) {
			g, before := m.group(t, drawLevels(t, m.rules.Choice)), imageOf(m.s)
			mark := m.s.Begin()
			out, err := m.p.Place(m.s, g)
			m.put(t, err)
			m.s.Rollback(mark)
			unchanged(t, m.s, before, fmt.Sprintf("a Place (%v) and a rollback", out.Status))
		},
		"Place and release": func(t *rapid.T) {
			g := m.group(t, drawLevels(t, m.rules.Choice))
			out, err := m.p.Place(m.s, g)
			m.put(t, err)
			for i := len(out.Placed) - 1; i >= 0; i-- {
				at := out.Placed[i]
				m.put(t, m.p.Scheduler().Release(m.s, g.Pods[at.Index()], at.Node))
			}
			for _, pod := range g.Pods {
				if _, n := m.s.Pod(pod.Pod.Key()); n != nil {
					t.Fatalf("%s is still on %s", pod.Pod.Key(), n.Name())
				}
			}
			m.put(t, m.s.Check())
		},
		"PlaceSet": m.placeSet,
		"Preempt":  m.preempt,
		"Capacity": m.capacity,
		"a malformed group": func(t *rapid.T) {
			g := m.group(t, nil)
			twice := rapid.Bool().Draw(t, "twice")
			if twice {
				g.Pods = append(g.Pods, g.Pods[0])
			} else {
				g.Min = len(g.Pods) + len(g.Present) + 1
			}
			before := imageOf(m.s)
			calls := []func() error{
				func() error { _, err := m.p.Try(m.s, g); return err },
				func() error { _, err := m.p.Place(m.s, g); return err },
				func() error { _, err := m.p.Preempt(m.s, g); return err },
				func() error { _, err := m.p.Capacity(m.s, g, 1); return err },
			}
			if twice { // a set may do without a group that is short of pods
				calls = append(calls, func() error {
					_, err := m.p.PlaceSet(m.s, &gang.Set{Name: "s", Children: []gang.Child{g}})
					return err
				})
			}
			for _, call := range calls {
				var invalid *api.InvalidError
				if err := call(); !errors.As(err, &invalid) || invalid.Field == "" {
					t.Fatalf("a malformed group: %v, want an InvalidError", err)
				}
			}
			unchanged(t, m.s, before, "a malformed group")
		},
		"a pod comes": func(t *rapid.T) {
			if m.s.Len() == 0 {
				return
			}
			name := m.s.At(rapid.IntRange(0, m.s.Len()-1).Draw(t, "node")).Name()
			p := drawPod(t, m.s, m.next("single"))
			m.put(t, m.s.AddPod(p, name))
		},
		"a pod leaves": func(t *rapid.T) {
			if n, p := m.pod(t); p != nil {
				m.put(t, m.p.Scheduler().Release(m.s, p, n.Name()))
			}
		},
		"a pod is nominated": func(t *rapid.T) {
			if m.s.Len() == 0 || m.s.Nominations() > 2 {
				return
			}
			n := m.s.At(rapid.IntRange(0, m.s.Len()-1).Draw(t, "node"))
			m.put(t, m.s.Nominate(info(m.s, api.MakePod(m.next("nominee")).Priority(5).Requests("1", "1Gi").Nominated(n.Name()).Obj()), n.Name(), ""))
		},
		"nominations end": func(t *rapid.T) {
			for _, slot := range slices.Clone(m.s.NominatedSlots()) {
				for _, p := range slices.Clone(m.s.AtSlot(slot).Nominated) {
					m.s.ClearNomination(p, m.s.AtSlot(slot).Name())
				}
			}
		},
		"a node comes": func(t *rapid.T) {
			if len(m.open) > 0 || m.s.Len() > 10 {
				return
			}
			name := m.next("node")
			m.put(t, m.s.AddNode(api.MakeNode(name, "4", "16Gi").Labels(api.LabelHostname, name, block, "b0", rack, rapid.SampledFrom([]string{"r0", "r1"}).Draw(t, "rack")).Obj()))
		},
		"a node changes": func(t *rapid.T) {
			if len(m.open) > 0 || m.s.Len() == 0 {
				return
			}
			n := *m.s.At(rapid.IntRange(0, m.s.Len()-1).Draw(t, "node")).Node
			n.Spec.Unschedulable = !n.Spec.Unschedulable
			m.put(t, m.s.UpdateNode(&n))
		},
		"a fork goes on": func(t *rapid.T) {
			if len(m.open) > 0 {
				return
			}
			m.aside, m.asideP = m.s, m.p
			m.s, m.p = m.s.Fork(), m.p.Fork()
		},
		"the other fork": func(t *rapid.T) {
			if len(m.open) == 0 && m.aside != nil {
				m.s, m.p, m.aside, m.asideP = m.aside, m.asideP, m.s, m.p
			}
		},
		"Begin": func(t *rapid.T) {
			if len(m.open) < 3 {
				m.before = append(m.before, imageOf(m.s))
				m.open = append(m.open, m.s.Begin())
			}
		},
		"Rollback": func(t *rapid.T) {
			if last := len(m.open) - 1; last >= 0 {
				m.s.Rollback(m.open[last])
				unchanged(t, m.s, m.before[last], "a transaction")
				m.open, m.before = m.open[:last], m.before[:last]
			}
		},
		"Commit": func(t *rapid.T) {
			if last := len(m.open) - 1; last >= 0 {
				m.s.Commit(m.open[last])
				m.open, m.before = m.open[:last], m.before[:last]
			}
		},
	}
}

func (m *machine) placeSet(t *rapid.T) {
	set := &gang.Set{Name: m.next("set"), Topology: rapid.SampledFrom([]string{"", block, rack}).Draw(t, "topology")}
	for range rapid.IntRange(1, 3).Draw(t, "children") {
		g := m.group(t, drawLevels(t, m.rules.Choice))
		g.Present = nil
		set.Children = append(set.Children, g)
	}
	if rapid.Bool().Draw(t, "inner") {
		set.Children[0] = &gang.Set{Name: m.next("set"), Children: []gang.Child{set.Children[0]}}
	}
	set.Min = rapid.IntRange(0, len(set.Children)).Draw(t, "min")
	before, fork := imageOf(m.s), m.s.Fork()
	out, err := m.p.PlaceSet(m.s, set)
	m.put(t, err)
	again, err := placer(m.rules).PlaceSet(fork, set)
	m.put(t, err)
	if a, b := fmt.Sprint(again.Status, again.Text, again.Domain, again.Stand), fmt.Sprint(out.Status, out.Text, out.Domain, out.Stand); a != b {
		t.Fatalf("PlaceSet on a fork = %s, want %s", a, b)
	}
	m.asked[fmt.Sprint("a set is ", out.Status)]++
	if out.Status != gang.Placed {
		if len(m.open) == 0 { // to fork is to own other parts
			unchanged(t, m.s, before, "a PlaceSet that failed")
		}
		for _, c := range out.Children {
			if c.Group != nil && (c.Group.Proved || len(c.Group.Placed) > 0) {
				t.Fatalf("a child of a set that does not stand: %+v", c.Group)
			}
		}
		return
	}
	stand := 0
	for i, c := range out.Children {
		if c.Set != nil {
			c = c.Set.Children[0]
		}
		child := set.Children[i]
		if inner, ok := child.(*gang.Set); ok {
			child = inner.Children[0]
		}
		g := child.(*gang.Group)
		for k, pod := range g.Pods {
			_, n := m.s.Pod(pod.Pod.Key())
			if is := slices.ContainsFunc(c.Group.Placed, func(p gang.Placement) bool { return p.Index() == k && n != nil && p.Node == n.Name() }); is != (n != nil) {
				t.Fatalf("%s is on a node: %t, and in the outcome: %t", pod.Pod.Key(), n != nil, is)
			}
			if n != nil && set.Topology != "" && n.Node.Labels[set.Topology] != out.Domain[0].Value {
				t.Fatalf("%s is on %s, outside %v", pod.Pod.Key(), n.Name(), out.Domain)
			}
		}
		if c.Group.Status == gang.Placed {
			stand++
		}
	}
	if need := set.Min; stand < need || need == 0 && stand < len(set.Children) {
		t.Fatalf("%d of %d children stand, want %d", stand, len(set.Children), set.Min)
	}
}

func (m *machine) preempt(t *rapid.T) {
	g := m.group(t, drawLevels(t, m.rules.Choice))
	before := imageOf(m.s)
	e, err := m.p.Preempt(m.s, g)
	m.put(t, err)
	unchanged(t, m.s, before, "Preempt")
	m.asked[fmt.Sprint("preemption is ", e.Status)]++
	if e.Status != framework.Success || e.Ongoing {
		return
	}
	victims := e.Victims()
	stands := func(back int) bool {
		mark := m.s.Begin()
		defer m.s.Rollback(mark)
		for _, u := range e.Units {
			if u.Priority >= g.Priority {
				t.Fatalf("a victim has the priority %d, the group %d", u.Priority, g.Priority)
			}
		}
		for i, v := range victims {
			if i != back {
				m.put(t, m.s.RemovePod(v.Pod, v.Node))
			}
		}
		for _, at := range e.Nominated {
			f, err := m.p.Scheduler().Filtering(m.s, g.Pods[at.Index()])
			m.put(t, err)
			n := m.s.Node(at.Node)
			if v, err := f.Node(n); err != nil || !v.Status.IsSuccess() {
				return false
			}
			if err := f.Place(g.Pods[at.Index()], n); err != nil {
				return false
			}
		}
		return true
	}
	if !stands(-1) {
		t.Fatalf("without its victims the group does not stand on %v", e.Nominated)
	}
	for i := range victims {
		if m.rules.Choice != gang.Kubernetes137 && stands(i) {
			t.Fatalf("victim %s could stay", victims[i].Pod.Pod.Key())
		}
	}
}

func (m *machine) capacity(t *rapid.T) {
	shape := m.group(t, drawLevels(t, m.rules.Choice))
	shape.Present = nil
	const limit = 3
	before := imageOf(m.s)
	c, err := m.p.Capacity(m.s, shape, limit)
	m.put(t, err)
	unchanged(t, m.s, before, "Capacity")
	if c.Fits > c.AtMost || c.Fits > limit || c.Exact && c.Fits != c.AtMost {
		t.Fatalf("Capacity = %+v", c)
	}
	m.asked[fmt.Sprintf("capacity, exact: %t", c.Exact)]++
	if slices.ContainsFunc(shape.Pods, func(p *framework.PodInfo) bool { return p.HasClaims() || p.HasVolumes() }) {
		return // gangs of other pods have other claims
	}
	mark := m.s.Begin()
	defer m.s.Rollback(mark)
	least, fits := shape.Min, 0
	if least == 0 {
		least = len(shape.Pods)
	}
	for ; fits < limit; fits++ {
		gang1 := *shape
		gang1.Name, gang1.Pods = fmt.Sprintf("%s~%d", shape.Name, fits), nil
		for _, pod := range shape.Pods[:least] {
			named, err := pod.Named(fmt.Sprintf("%s~%d", pod.Pod.Name, fits))
			m.put(t, err)
			gang1.Pods = append(gang1.Pods, named)
		}
		out, err := m.p.Place(m.s, &gang1)
		m.put(t, err)
		if out.Status != gang.Placed {
			break
		}
	}
	if fits != c.Fits {
		t.Fatalf("%d gangs can be placed one after the other, Capacity says %+v", fits, c)
	}
}

// The pure call over a cluster that changes: every property of the contract holds after
// every step, under Verify.
func TestMachine(t *testing.T) {
	asked, want := map[string]int{}, map[string]int{}
	for _, name := range []string{
		"a group is Placed", "a group is Short", "a no is proved", "a domain is ruled out", "a set is Placed", "a set is Short",
		"preemption is Success", "preemption is Unschedulable", "capacity, exact: true", "capacity, exact: false",
	} {
		want[name] = 1
	}
	enough.Check(t, asked, want, func(t *rapid.T) {
		m := newMachine(t, asked)
		t.Repeat(m.actions())
		for len(m.open) > 0 {
			m.actions()["Rollback"](t)
		}
		if err := m.s.Check(); err != nil {
			t.Fatal(err)
		}
	})
}
