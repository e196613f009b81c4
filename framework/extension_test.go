package framework_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// diary is an extension that writes down what it is told, and what the
// snapshot shows at that moment.
type diary struct{ lines []string }

func (d *diary) Fork(*framework.Snapshot) framework.Extension {
	return &diary{slices.Clone(d.lines)}
}

func (d *diary) write(s *framework.Snapshot, what string, n *framework.NodeInfo) {
	there := "gone"
	if s.AtSlot(n.Slot()) == n {
		there = "there"
	}
	d.lines = append(d.lines, fmt.Sprintf("%s on %s (%s): %s", what, n.Name(), there, strings.Join(podNames(n), " ")))
}

func (d *diary) PodAdded(s *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	d.write(s, "+"+p.Pod.Name, n)
}

func (d *diary) PodRemoved(s *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	d.write(s, "-"+p.Pod.Name, n)
}

func (d *diary) NodeAdded(s *framework.Snapshot, n *framework.NodeInfo)   { d.write(s, "added", n) }
func (d *diary) NodeRemoved(s *framework.Snapshot, n *framework.NodeInfo) { d.write(s, "removed", n) }

func (d *diary) NodeUpdated(s *framework.Snapshot, old, n *framework.NodeInfo) {
	d.write(s, fmt.Sprintf("updated from %q to %q", old.Node.Labels["v"], n.Node.Labels["v"]), n)
}

var diaryKey = framework.NewExtensionKey(func(s *framework.Snapshot) *diary {
	return &diary{[]string{fmt.Sprintf("built for %d nodes", s.Len())}}
})

func TestExtensionIsTold(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n1")
	a, b := podInfo(t, s, plainPod("a")), podInfo(t, s, plainPod("b"))
	must(t, s.AddPod(a, "n1")) // before anyone listens
	d := diaryKey.Of(s)
	must(t, s.AddNode(plainNode("n2")))
	must(t, s.AddPod(b, "n2"))
	m := s.Begin()
	must(t, s.RemovePod(a, "n1"))
	must(t, s.AddPod(a, "n2"))
	s.Rollback(m)
	must(t, s.UpdateNode(plainNode("n2", "v", "2")))
	must(t, s.RemoveNode("n2"))
	want := []string{
		"built for 1 nodes",
		"added on n2 (there): ",
		"+b on n2 (there): b",
		"-a on n1 (there): ",
		"+a on n2 (there): b a",
		"-a on n2 (there): b",
		"+a on n1 (there): a",
		`updated from "" to "2" on n2 (there): b`,
		"-b on n2 (there): ",
		"removed on n2 (gone): ",
	}
	if diff := cmp.Diff(want, d.lines); diff != "" {
		t.Errorf("what the extension was told (-want +got):\n%s", diff)
	}
}

func TestExtensionOfForks(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n1")
	early := s.Fork()
	d := diaryKey.Of(s)
	if diaryKey.Of(s) != d {
		t.Error("two calls gave two extensions")
	}
	if e := diaryKey.Of(early); e == d || len(e.lines) != 1 {
		t.Error("a fork made before the extension does not have its own")
	}
	p := podInfo(t, s, plainPod("p"))
	must(t, s.AddPod(p, "n1"))
	f := s.Fork()
	must(t, f.RemovePod(p, "n1"))
	if got := len(d.lines); got != 2 {
		t.Errorf("the original heard of %d events, want 2", got)
	}
	if got := len(diaryKey.Of(f).lines); got != 3 {
		t.Errorf("the fork's extension has %d events, want 3", got)
	}
	other := framework.NewExtensionKey(func(*framework.Snapshot) *diary { return &diary{} })
	if other.Of(s) == d {
		t.Error("two keys share an extension")
	}
}

// An extension that wants to know nothing is not told anything.
type silent struct{}

func (silent) Fork(*framework.Snapshot) framework.Extension { return silent{} }

func TestExtensionWithoutWatching(t *testing.T) {
	key := framework.NewExtensionKey(func(*framework.Snapshot) silent { return silent{} })
	s := snapshotOf(t, framework.Arrival, "n1")
	key.Of(s)
	must(t, s.AddPod(podInfo(t, s, plainPod("p")), "n1"))
	must(t, s.RemoveNode("n1"))
}

// Touch gives a new generation and is taken back by a rollback; the
// extension's own changes are undone through Record, in reverse order.
func TestTouchAndRecord(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n1", "n2")
	n := s.Node("n1")
	c := chargesKey.Of(s)
	c.charge(s, n, 5)
	before, other := n.Generation(), s.Node("n2").Generation()

	m := s.Begin()
	c.charge(s, n, 7)
	c.charge(s, s.Node("n2"), 1)
	if n.Generation() == before || c.sum[n.Slot()] != 12 {
		t.Errorf("after a charge: generation %d, sum %d", n.Generation(), c.sum[n.Slot()])
	}
	s.Rollback(m)
	if n.Generation() != before || s.Node("n2").Generation() != other || c.sum[n.Slot()] != 5 {
		t.Errorf("after the rollback: generations %d, %d, sum %d, want %d, %d, 5", n.Generation(), s.Node("n2").Generation(), c.sum[n.Slot()], before, other)
	}
	s.Record(refund{n.Slot(), 100}) // no transaction: nothing to take back later
	m = s.Begin()
	s.Rollback(m)
	if c.sum[n.Slot()] != 5 {
		t.Errorf("sum = %d, want 5: a change before Begin was taken back", c.sum[n.Slot()])
	}
}

// Touching a node that has gone, or another snapshot's, does nothing.
func TestTouchUnknown(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n1")
	n := s.Node("n1")
	must(t, s.RemoveNode("n1"))
	far := snapshotOf(t, framework.Arrival, manyNames(300)...).At(299)
	version := s.Version()
	s.Touch(n)
	s.Touch(far)
	must(t, s.AddNode(plainNode("n2"))) // takes the slot of n1
	before := s.Node("n2").Generation()
	s.Touch(n)
	if got := s.Node("n2").Generation(); got != before || s.Version() != version+1 {
		t.Errorf("touching n1, which has gone, changed n2: generation %d, was %d; version %d, was %d", got, before, s.Version(), version)
	}
}

func manyNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("node-%05d", i)
	}
	return names
}

// A partly is an extension that needs to be told only of pods with some parts.
type partly struct {
	parts framework.PodParts
	told  []string
}

func (x *partly) Fork(*framework.Snapshot) framework.Extension { return &partly{parts: x.parts} }

func (x *partly) WatchedParts() framework.PodParts { return x.parts }

func (x *partly) PodAdded(_ *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	x.told = append(x.told, "+"+p.Pod.Name)
}

func (x *partly) PodRemoved(_ *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	x.told = append(x.told, "-"+p.Pod.Name)
}

// A snapshot does not tell of pods that concern no extension, in a rollback or a fork neither, and tells of all
// once one of the extensions needs that.
func TestWatchedParts(t *testing.T) {
	ports, all := framework.PartHostPorts, framework.PodParts(0)
	withPort := plainPod("port")
	withPort.Spec.Containers[0].Ports = []api.ContainerPort{{HostPort: 80}}
	history := func(s *framework.Snapshot) {
		m := s.Begin()
		for _, p := range []*framework.PodInfo{podInfo(t, s, plainPod("plain")), podInfo(t, s, withPort)} {
			must(t, s.AddPod(p, "n1"))
		}
		s.Rollback(m)
	}
	one := framework.NewExtensionKey(func(*framework.Snapshot) *partly { return &partly{parts: ports} })
	two := framework.NewExtensionKey(func(*framework.Snapshot) *partly { return &partly{parts: framework.PartVolumes} })

	s := snapshotOf(t, framework.Arrival, "n1")
	x := one.Of(s)
	two.Of(s)
	check := func(when string, x *partly, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, x.told); diff != "" {
			t.Errorf("%s, told (-want +got):\n%s", when, diff)
		}
		x.told = nil
	}
	history(s)
	check("pods with host ports", x, "+port", "-port")
	f := s.Fork()
	history(f)
	check("in a fork", one.Of(f), "+port", "-port")
	two.Of(s).parts = all
	s.AskWatchers()
	history(s)
	check("another needs all pods", x, "+plain", "+port", "-port", "-plain")
	history(f)
	check("in the fork still", one.Of(f), "+port", "-port")
}

// A fearful is a partly that panics where it is asked for its parts.
type fearful struct{ partly }

func (*fearful) WatchedParts() framework.PodParts { panic("no") }

// An extension that panics where it is asked for its parts does not keep news from others.
func TestWatchedPartsPanics(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n1")
	one := framework.NewExtensionKey(func(*framework.Snapshot) *partly { return &partly{parts: framework.PartHostPorts} })
	two := framework.NewExtensionKey(func(*framework.Snapshot) *fearful { return &fearful{} })
	three := framework.NewExtensionKey(func(*framework.Snapshot) *partly { return &partly{} })
	one.Of(s)
	func() {
		defer func() { _ = recover() }()
		two.Of(s)
	}()
	func() {
		defer func() { _ = recover() }()
		three.Of(s)
	}()
	must(t, s.AddPod(podInfo(t, s, plainPod("p")), "n1"))
	if got := three.Of(s).told; len(got) != 1 {
		t.Errorf("told %q, want of the pod", got)
	}
}
