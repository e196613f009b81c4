package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
	"github.com/google/go-cmp/cmp"
)

func TestConfigIsChecked(t *testing.T) {
	_, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{{}, {Name: scheduling.DefaultName, QueueSort: backwards{}}},
		Bindings: -1, AssumeTTL: -1, Grace: -1,
	})
	want := `lifecycle: Profiles[1].Name: "default-scheduler": another profile has it
lifecycle: Profiles[1].QueueSort: has to be the same as that of Profiles[0]
lifecycle: Binder: is nil
lifecycle: Clock: is nil
lifecycle: Bindings: -1: must not be negative
lifecycle: AssumeTTL: -1: must not be negative
lifecycle: Grace: -1: must not be negative`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("New (-want +got):\n%s", diff)
	}
	if _, err := lifecycle.New(lifecycle.Config{}); err == nil {
		t.Error("New accepted a configuration without profiles")
	}
	w := newWorld(t, scheduling.Profile{})
	if _, err := lifecycle.New(lifecycle.Config{Profiles: []scheduling.Profile{{}}, Binder: w, Clock: w.clock, Handle: w.handle}); err == nil {
		t.Error("New accepted the handle of another driver")
	}
}

// byRule sorts pods by a function.
type byRule struct {
	less func(a, b *queueing.QueuedPod) bool
}

func (byRule) Name() string                         { return "byRule" }
func (b byRule) Less(x, y *queueing.QueuedPod) bool { return b.less(x, y) }

// byNumber sorts pods as its number says.
type byNumber struct{ number int }

func (byNumber) Name() string                       { return "byNumber" }
func (byNumber) Less(x, y *queueing.QueuedPod) bool { return false }

func TestProfilesSortAlike(t *testing.T) {
	less := func(a, b *queueing.QueuedPod) bool { return a.Pod.Pod.Name > b.Pod.Pod.Name }
	for name, tt := range map[string]struct {
		sorts []framework.Plugin
		want  bool
	}{
		"one profile with a function":  {[]framework.Plugin{byRule{less: less}}, true},
		"two with functions":           {[]framework.Plugin{byRule{less: less}, byRule{less: less}}, true},
		"two pointers to functions":    {[]framework.Plugin{&byRule{less: less}, &byRule{less: less}}, true},
		"the default, named or not":    {[]framework.Plugin{nil, scheduling.PrioritySort{}}, true},
		"equal values":                 {[]framework.Plugin{byNumber{1}, byNumber{1}}, true},
		"equal values behind pointers": {[]framework.Plugin{&byNumber{1}, &byNumber{1}}, true},
		"other values":                 {[]framework.Plugin{byNumber{1}, byNumber{2}}, false},
		"other plugins":                {[]framework.Plugin{byNumber{1}, byRule{less: less}}, false},
		"a value and a pointer":        {[]framework.Plugin{byNumber{1}, &byNumber{1}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, scheduling.Profile{})
			c := lifecycle.Config{Binder: w, Clock: w.clock}
			for i, s := range tt.sorts {
				c.Profiles = append(c.Profiles, scheduling.Profile{Name: fmt.Sprint(i), QueueSort: s})
			}
			if _, err := lifecycle.New(c); (err == nil) != tt.want {
				t.Errorf("New: %v, want success %t", err, tt.want)
			}
		})
	}
}

// backwards sorts pods by name, in descending order.
type backwards struct{}

func (backwards) Name() string                       { return "backwards" }
func (backwards) Less(a, b *queueing.QueuedPod) bool { return a.Pod.Pod.Name > b.Pod.Pod.Name }

func TestOwnQueueSort(t *testing.T) {
	w := newWorld(t, scheduling.Profile{QueueSort: backwards{}})
	w.nodes(api.MakeNode("n", "4", "8Gi"))
	w.pods(api.MakePod("a"), api.MakePod("c"), api.MakePod("b"))
	var order []string
	for _, a := range w.all() {
		order = append(order, a.Pod.Pod.Name)
	}
	if diff := cmp.Diff([]string{"c", "b", "a"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// TestTwoProfilesOverOneCache: one profile sees the pods that the other places. They
// share the decision number and the start of the search.
func TestTwoProfilesOverOneCache(t *testing.T) {
	first, second := scheduling.Kubernetes137(), scheduling.Kubernetes137()
	second.Name = "second"
	w := newWorld(t, first, second)
	w.nodes(api.MakeNode("n", "1", "1Gi"))
	pod := api.MakePod("a").Requests("600m", "1Mi")
	w.pods(pod, pod.Name("b").Scheduler("second"), pod.Name("c").Scheduler("third"))
	attempts := w.all()
	if len(attempts) != 2 {
		t.Fatalf("%d attempts, want 2: the third pod asks for another scheduler", len(attempts))
	}
	for i, want := range []struct {
		name, profile string
		state         lifecycle.State
	}{{"a", scheduling.DefaultName, lifecycle.Bound}, {"b", "second", lifecycle.Failed}} {
		a := attempts[i]
		if a.Pod.Pod.Name != want.name || a.Profile != want.profile || a.State != want.state || a.Decision.Number != uint64(i) {
			t.Errorf("attempt %d: pod %s, profile %s, %v, number %d, want %+v", i, a.Pod.Pod.Name, a.Profile, a.State, a.Decision.Number, want)
		}
	}
	if w.d.Scheduler("second") == nil || w.d.Scheduler("third") != nil || w.d.Scheduler("") == nil {
		t.Error("Scheduler finds other profiles than there are")
	}
	w.d.Apply(lifecycle.Delete(api.MakePod("a").Obj()))
	if a := w.one(); a.Pod.Pod.Name != "b" || a.State != lifecycle.Bound {
		t.Errorf("after a left: pod %s, %v, want b, Bound", a.Pod.Pod.Name, a.State)
	}
}

// TestSearchStartIsShared: a sample begins where the sample of another profile
// ended.
func TestSearchStartIsShared(t *testing.T) {
	var profiles []scheduling.Profile
	for _, name := range []string{"", "second"} {
		p := scheduling.Kubernetes137()
		p.Name, p.Percentage, p.TieRule = name, 10, scheduling.First
		profiles = append(profiles, p)
	}
	w := newWorld(t, profiles...)
	for i := range 300 {
		w.nodes(api.MakeNode(fmt.Sprintf("n%03d", i), "4", "8Gi"))
	}
	w.pods(api.MakePod("a"), api.MakePod("b").Scheduler("second"), api.MakePod("c"), api.MakePod("d").Scheduler("second"))
	var nodes []string
	for _, a := range w.all() {
		nodes = append(nodes, a.Decision.Node)
	}
	if diff := cmp.Diff([]string{"n000", "n100", "n200", "n001"}, nodes); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

func TestConfirmation(t *testing.T) {
	pod := api.MakePod("p").UID("u").Requests("1", "1Gi")
	t.Run("the same node", func(t *testing.T) {
		w := newWorld(t, scheduling.Kubernetes137())
		w.confirm = true
		w.nodes(api.MakeNode("n", "4", "8Gi"))
		w.pods(pod)
		w.all()
		w.wantOn("n", "p")
		if got := w.d.Snapshot().Node("n").Pods[0].Pod.Spec.NodeName; got != "n" {
			t.Errorf("the snapshot has the pod's old version, on node %q", got)
		}
		w.noProblems()
	})
	t.Run("another node", func(t *testing.T) {
		w := newWorld(t, scheduling.Kubernetes137())
		w.nodes(api.MakeNode("n", "4", "8Gi"))
		w.pods(pod)
		w.all()
		w.nodes(api.MakeNode("m", "4", "8Gi"))
		w.pods(pod.Node("m"))
		w.d.Flush(w.ctx)
		w.wantOn("n")
		w.wantOn("m", "p")
	})
	t.Run("someone else binds a pod that waits", func(t *testing.T) {
		w := newWorld(t, scheduling.Kubernetes137())
		w.pods(pod)
		w.all() // no node
		w.depth(queue.Length{Backoff: 1})
		w.nodes(api.MakeNode("n", "4", "8Gi"))
		w.pods(pod.Node("n"))
		w.all()
		w.wantOn("n", "p")
		w.depth(queue.Length{})
	})
	t.Run("the binding fails although the pod is bound", func(t *testing.T) {
		w := newWorld(t, scheduling.Kubernetes137())
		w.refuse = func(p *api.Pod, node string) error {
			w.d.Apply(lifecycle.Update(onNode(p, node)))
			return fmt.Errorf("connection lost")
		}
		w.nodes(api.MakeNode("n", "4", "8Gi"))
		w.pods(pod)
		w.one()
		w.pass(time.Minute)
		w.all()
		w.wantOn("n", "p")
		w.depth(queue.Length{})
	})
	t.Run("never", func(t *testing.T) {
		w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, AssumeTTL: 30 * time.Second}, lifecycle.NewHandle())
		w.nodes(api.MakeNode("n", "4", "8Gi"))
		w.pods(pod)
		w.all()
		w.pass(30*time.Second - 1)
		w.wantOn("n", "p")
		w.pass(1)
		w.wantOn("n")
		want := []string{"pod default/p: its binding to node n was not confirmed within 30s"}
		if diff := cmp.Diff(want, w.problems); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
	})
	t.Run("in time", func(t *testing.T) {
		w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, AssumeTTL: 30 * time.Second}, lifecycle.NewHandle())
		w.confirm = true
		w.nodes(api.MakeNode("n", "4", "8Gi"))
		w.pods(pod)
		w.all()
		w.pass(time.Hour)
		w.wantOn("n", "p")
		w.noProblems()
	})
}

func TestPodsComeAndGo(t *testing.T) {
	w := newWorld(t, scheduling.Kubernetes137())
	node := api.MakeNode("n", "2", "8Gi")
	running := api.MakePod("r").Requests("1", "1Gi").Node("n")
	w.pods(running) // before its node exists
	w.d.Flush(w.ctx)
	w.nodes(node)
	w.d.Flush(w.ctx)
	w.wantOn("n", "r")

	w.pods(api.MakePod("p").Requests("1500m", "1Gi"))
	if a := w.one(); !strings.HasPrefix(fmt.Sprint(a.Err), "0/1 nodes are available: 1 Insufficient cpu.") {
		t.Errorf("error %v", a.Err)
	}
	w.depth(queue.Length{Unschedulable: 1})

	w.pods(running.Phase(api.PodSucceeded)) // no longer uses its node
	w.d.Flush(w.ctx)
	w.wantOn("n")
	if a := w.one(); a.State != lifecycle.Bound {
		t.Errorf("after the other has succeeded: %v, %v", a.State, a.Err)
	}

	// A pod of the same name and another UID is another pod.
	w.pods(api.MakePod("x").UID("1").Node("n"))
	w.d.Flush(w.ctx)
	w.wantOn("n", "p", "x")
	w.pods(api.MakePod("x").UID("2"))
	w.d.Flush(w.ctx)
	w.wantOn("n", "p")
	w.d.Apply(lifecycle.Delete(api.MakePod("x").UID("1").Obj())) // late event about the first pod
	w.d.Flush(w.ctx)
	w.depth(queue.Length{Active: 1})

	// A pod that is being deleted is not scheduled.
	w.pods(api.MakePod("x").UID("2").Deleted(epoch))
	if a := w.one(); a.State != lifecycle.Skipped {
		t.Errorf("a pod that is being deleted: %v", a.State)
	}
	w.depth(queue.Length{})

	w.d.Apply(lifecycle.Delete(node.Obj()))
	w.d.Flush(w.ctx)
	if w.d.Snapshot().Len() != 0 {
		t.Error("the node is still there")
	}
	w.nodes(node.Labels("new", "yes"))
	w.d.Flush(w.ctx)
	w.wantOn("n", "p")
	w.noProblems()
}

func TestBadEventsAreProblems(t *testing.T) {
	w := newWorld(t, scheduling.Profile{})
	w.d.Apply(
		lifecycle.Event{},
		lifecycle.Update[api.Pod](nil), lifecycle.Delete[api.Pod](nil),
		lifecycle.Update[api.Node](nil), lifecycle.Delete[api.Node](nil),
		lifecycle.Update[api.Service](nil), lifecycle.Delete[api.Service](nil),
		lifecycle.Update(&api.Pod{}), lifecycle.Update(&api.Node{}), lifecycle.Update(&api.Service{}),
		lifecycle.Delete(api.MakePod("unknown").Obj()), lifecycle.Delete(api.MakeNode("unknown", "1", "1Gi").Obj()),
		lifecycle.Delete(&api.Service{ObjectMeta: api.ObjectMeta{Name: "unknown"}}),
	)
	w.d.Flush(w.ctx)
	want := []string{
		"pod: is nil", "pod: is nil", "node: is nil", "node: is nil", "object: is nil", "object: is nil",
		"pod: metadata.name: must not be empty", "node: metadata.name: must not be empty", "service: metadata.name: must not be empty",
	}
	if diff := cmp.Diff(want, w.problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// TestObjectsWakePods: objects of every kind are kept, and their changes are events.
func TestObjectsWakePods(t *testing.T) {
	service := func(label string) *api.Service {
		return &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "s", Labels: map[string]string{"l": label}}}
	}
	var events []string
	hint := func(what string) queueing.EventHint {
		return queueing.EventHint{
			Event: queueing.ClusterEvent{Resource: "Service", Action: map[string]queueing.ActionType{
				"add": queueing.ActionAdd, "update": queueing.ActionAll, "delete": queueing.ActionDelete,
			}[what]},
			Hint: func(_ *framework.PodInfo, before, after any) (queueing.QueueingHint, error) {
				label := func(x any) string {
					if s, ok := x.(*api.Service); ok {
						return s.Labels["l"]
					}
					return "-"
				}
				events = append(events, what+" "+label(before)+" "+label(after))
				return queueing.QueueSkip, nil
			},
		}
	}
	w := newWorld(t, scheduling.Profile{Filter: []framework.Plugin{listener{[]queueing.EventHint{hint("add"), hint("update"), hint("delete")}}}})
	w.nodes(api.MakeNode("n", "1", "1Gi"))
	w.pods(api.MakePod("p"))
	w.all()
	w.d.Apply(lifecycle.Update(service("1")), lifecycle.Update(service("2")), lifecycle.Delete(service("3")))
	w.d.Flush(w.ctx)
	want := []string{"add - 1", "update - 1", "update 1 2", "update 2 -", "delete 2 -"}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("hints (-want +got):\n%s", diff)
	}
	if framework.Lookup[api.Service](w.d.Snapshot(), "default/s") != nil {
		t.Error("the service is still there")
	}
}

// listener rejects every node and registers for events.
type listener struct{ events []queueing.EventHint }

func (listener) Name() string                             { return "listener" }
func (l listener) EventsToRegister() []queueing.EventHint { return l.events }
func (listener) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.UnschedulableStatus("never")
}
