package kube_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/kube"
)

func TestBinds(t *testing.T) {
	w := newWorld(t, node("a", "4"), node("b", "8"), pod("first", "1"))
	w.start(kube.Config{})
	w.eventually("the pod that was there is bound", func() bool { return w.pod("first").Spec.NodeName != "" })
	for i := range 8 {
		w.create(pod(fmt.Sprint("p", i), "1"))
	}
	w.eventually("all are bound", func() bool { return len(w.bindings()) == 9 })
	w.eventually("an event says so", func() bool { return len(w.events("first")) == 1 })
	want := "Scheduled: Successfully assigned default/first to " + w.pod("first").Spec.NodeName
	if got := w.events("first")[0]; got != want {
		t.Errorf("event %q, want %q", got, want)
	}
}

func TestUnschedulable(t *testing.T) {
	w := newWorld(t, node("a", "1"))
	w.start(kube.Config{})
	w.create(pod("big", "4"))
	const message = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
	w.eventually("the condition is written", func() bool { return len(w.pod("big").Status.Conditions) > 0 })
	c := w.pod("big").Status.Conditions[0]
	if c.Type != corev1.PodScheduled || c.Status != corev1.ConditionFalse || c.Reason != "Unschedulable" || c.Message != message {
		t.Errorf("condition %+v, want message %q", c, message)
	}
	w.eventually("an event says so", func() bool { return len(w.events("big")) == 1 })
	if got, want := w.events("big")[0], "FailedScheduling: "+message; got != want {
		t.Errorf("event %q, want %q", got, want)
	}
	// An event wakes it.
	if _, err := w.client.CoreV1().Nodes().Create(context.Background(), node("b", "8"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("the pod is bound to the new node", func() bool { return w.pod("big").Spec.NodeName == "b" })
}

// The first list is applied in the order of names, whatever the order of the list, so the
// same cluster always gives the same order of nodes.
func TestNodeOrder(t *testing.T) {
	var names []string
	for _, order := range [][]string{{"c", "a", "b", "d"}, {"d", "b", "a", "c"}} {
		w := newWorld(t)
		w.client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, kruntime.Object, error) {
			list := &corev1.NodeList{}
			for _, name := range order {
				list.Items = append(list.Items, *node(name, "4"))
			}
			return true, list, nil
		})
		s := w.start(kube.Config{})
		w.eventually("the nodes are known", func() bool {
			names = nil
			if err := s.Do(context.Background(), func(snap *framework.Snapshot) {
				for _, n := range snap.All() {
					names = append(names, n.Name())
				}
			}); err != nil {
				t.Fatal(err)
			}
			return len(names) == 4
		})
		if got := strings.Join(names, ""); got != "abcd" {
			t.Errorf("listed as %v, the nodes are in the order %s, want abcd", order, got)
		}
	}
}

// The answer to a binding is lost, but it was carried out: the pod counts as bound, and no
// condition says otherwise.
func TestLostAnswer(t *testing.T) {
	w := newWorld(t, node("a", "4"), node("b", "4"))
	var tries, gets atomic.Int32
	w.refuse = func(string, string) (bool, error) {
		tries.Add(1)
		return true, apierrors.NewTimeoutError("the answer is lost", 0)
	}
	w.client.PrependReactor("get", "pods", func(clienttesting.Action) (bool, kruntime.Object, error) {
		if gets.Add(1) == 1 {
			return true, nil, errors.New("and the next one too")
		}
		return false, nil, nil
	})
	w.start(kube.Config{})
	w.create(pod("p", "1"))
	w.eventually("the event says that it is bound", func() bool { return len(w.events("p")) > 0 })
	if got := w.events("p"); len(got) != 1 || !strings.HasPrefix(got[0], "Scheduled: ") {
		t.Errorf("events %q", got)
	}
	if c := w.pod("p").Status.Conditions; len(c) > 0 || tries.Load() != 1 {
		t.Errorf("conditions %+v after %d bindings; want none after 1", c, tries.Load())
	}
}

// The answer is lost and the binding was not carried out: the pod is tried again.
func TestFailedBinding(t *testing.T) {
	w := newWorld(t, node("a", "4"))
	var tries atomic.Int32
	w.refuse = func(string, string) (bool, error) {
		switch tries.Add(1) {
		case 1:
			return false, errors.New("connection refused")
		case 2:
			return false, apierrors.NewForbidden(podResource.GroupResource(), "p", errors.New("no right"))
		}
		return false, nil
	}
	w.start(kube.Config{})
	w.create(pod("p", "1"))
	w.eventually("the pod is bound", func() bool { return w.pod("p").Spec.NodeName == "a" })
	if n := tries.Load(); n != 3 {
		t.Errorf("%d bindings, want 3", n)
	}
}

// Somebody else binds the pod first: it counts where it is, and is left alone.
func TestBoundByAnother(t *testing.T) {
	w := newWorld(t, node("a", "4"), node("b", "8"))
	var once atomic.Bool
	w.client.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, kruntime.Object, error) {
		if a.GetSubresource() == "binding" && once.CompareAndSwap(false, true) {
			p := pod("p", "1")
			p.Spec.NodeName, p.ResourceVersion = "a", w.version()
			if err := w.client.Tracker().Update(podResource, p, "default"); err != nil {
				return true, nil, err
			}
		}
		return false, nil, nil
	})
	s := w.start(kube.Config{})
	w.create(pod("p", "1"))
	w.eventually("the pod counts on node a", func() bool {
		n := 0
		if err := s.Do(context.Background(), func(snap *framework.Snapshot) {
			if a := snap.Node("a"); a != nil {
				n = len(a.Pods)
			}
		}); err != nil {
			t.Fatal(err)
		}
		return n == 1
	})
	if got := w.bindings(); len(got) > 0 {
		t.Errorf("bindings %v, want none", got)
	}
}

func TestPreemption(t *testing.T) {
	low := pod("low", "4")
	low.Spec.NodeName, low.Status.Phase = "a", corev1.PodRunning
	w := newWorld(t, node("a", "4"), low)
	high := pod("high", "4")
	high.Spec.Priority = new(int32(10))
	deletions := make(chan *corev1.Pod, 10)
	w.client.PrependReactor("delete", "pods", func(a clienttesting.Action) (bool, kruntime.Object, error) {
		got, err := w.client.Tracker().Get(podResource, "default", a.(clienttesting.DeleteAction).GetName())
		if err != nil {
			return true, nil, err
		}
		if p := a.(clienttesting.DeleteAction).GetDeleteOptions().Preconditions; p == nil || p.UID == nil || *p.UID != "pod-low" {
			t.Errorf("the victim is deleted whatever its UID: %+v", p)
		}
		leaving := got.(*corev1.Pod).DeepCopy() // its containers get their time
		leaving.DeletionTimestamp, leaving.ResourceVersion = new(metav1.Now()), w.version()
		deletions <- leaving
		return true, nil, w.client.Tracker().Update(podResource, leaving, "default")
	})
	w.start(kube.Config{})
	w.create(high)
	victim := <-deletions
	if c := victim.Status.Conditions; len(c) != 1 || c[0].Type != corev1.DisruptionTarget || c[0].Status != corev1.ConditionTrue || c[0].Reason != "PreemptionByScheduler" ||
		c[0].Message != "default-scheduler: preempting to accommodate a higher priority pod" {
		t.Errorf("conditions of the victim: %+v", c)
	}
	w.eventually("the pod is nominated", func() bool { return w.pod("high").Status.NominatedNodeName == "a" })
	if got := w.bindings(); len(got) > 0 {
		t.Errorf("bindings %v before the victim has left", got)
	}
	if err := w.client.Tracker().Delete(podResource, "default", "low"); err != nil {
		t.Fatal(err)
	}
	w.eventually("the pod has the victim's place", func() bool { return w.pod("high").Spec.NodeName == "a" })
	w.eventually("an event says so", func() bool { return len(w.events("low")) == 1 })
	if got, want := w.events("low")[0], "Preempted: Preempted by pod pod-high on node a"; got != want {
		t.Errorf("event %q, want %q", got, want)
	}
	if len(deletions) > 0 {
		t.Error("the victim was deleted twice")
	}
}

func TestGates(t *testing.T) {
	w := newWorld(t, node("a", "4"))
	w.start(kube.Config{})
	gated := pod("gated", "1")
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "wait"}}
	w.create(gated, pod("other", "1"))
	w.eventually("the other is bound", func() bool { return len(w.bindings()) == 1 })
	open := w.pod("gated")
	open.Spec.SchedulingGates = nil
	if _, err := w.client.CoreV1().Pods("default").Update(context.Background(), open, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("the gated one is bound", func() bool { return w.pod("gated").Spec.NodeName == "a" })
}

// A deleted pod frees its node; a new pod of its name is another one. Pods that have ended
// do not count.
func TestDeletedAndEnded(t *testing.T) {
	w := newWorld(t, node("a", "2"))
	s := w.start(kube.Config{})
	w.create(pod("p", "2"))
	w.eventually("the pod is bound", func() bool { return len(w.bindings()) == 1 })
	w.create(pod("q", "2"))
	w.eventually("there is no room", func() bool { return len(w.pod("q").Status.Conditions) > 0 })
	w.delete("p")
	w.eventually("the next is bound", func() bool { return w.pod("q").Spec.NodeName == "a" })
	ended := w.pod("q")
	ended.Status.Phase = corev1.PodSucceeded
	if _, err := w.client.CoreV1().Pods("default").UpdateStatus(context.Background(), ended, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	again := pod("p", "2")
	again.UID = "another"
	w.create(again)
	w.eventually("the new pod is bound", func() bool { return w.pod("p").Spec.NodeName == "a" })
	body := get(t, s, "/metrics")
	if want := "scheduler_cache_size{type=\"pods\"} 1\n"; !strings.Contains(body, want) {
		t.Errorf("no %q in the metrics", want)
	}
}

// Pods of other schedulers are left alone, and several profiles serve theirs.
func TestProfiles(t *testing.T) {
	w := newWorld(t, node("a", "8"), node("b", "8"))
	file := `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: spread
- schedulerName: pack
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
`
	c, err := config.Load([]byte(file), config.LoadConfig{})
	if err != nil {
		t.Fatal(err)
	}
	w.start(kube.Config{Configuration: c})
	for i := range 4 {
		p := pod(fmt.Sprint("pack", i), "1")
		p.Spec.SchedulerName = "pack"
		w.create(p)
		w.eventually("it is bound", func() bool { return len(w.bindings()) == i+1 })
	}
	other := pod("other", "1")
	other.Spec.SchedulerName = "kube-scheduler"
	spread := pod("spread", "1")
	spread.Spec.SchedulerName = "spread"
	w.create(other, spread)
	w.eventually("it is bound", func() bool { return len(w.bindings()) == 5 })
	packed := w.pod("pack0").Spec.NodeName
	for i := range 4 {
		if got := w.pod(fmt.Sprint("pack", i)).Spec.NodeName; got != packed {
			t.Errorf("pack%d is on %s, want %s", i, got, packed)
		}
	}
	if got := w.pod("spread").Spec.NodeName; got == packed {
		t.Errorf("spread is on %s too", got)
	}
	if got := w.pod("other").Spec.NodeName; got != "" {
		t.Errorf("a pod of another scheduler was bound to %s", got)
	}
}

// Without rights for one kind nothing is scheduled, /readyz says why, and it goes on once
// the rights are there.
func TestMissingRights(t *testing.T) {
	w := newWorld(t, node("a", "4"), pod("p", "1"))
	var allowed atomic.Bool
	w.client.PrependReactor("list", "csinodes", func(clienttesting.Action) (bool, kruntime.Object, error) {
		if allowed.Load() {
			return false, nil, nil
		}
		return true, nil, apierrors.NewForbidden(podResource.GroupResource(), "", errors.New(`User "nobody" cannot list resource "csinodes"`))
	})
	s := w.start(kube.Config{})
	const want = `csinodes: pods is forbidden: User "nobody" cannot list resource "csinodes"`
	w.eventually("/readyz says why", func() bool { return strings.Contains(get(t, s, "/readyz"), want) })
	w.eventually("the log says why", func() bool { return w.logs.has(`cannot list resource`) })
	if got := w.bindings(); len(got) > 0 {
		t.Errorf("bindings %v before everything was listed", got)
	}
	allowed.Store(true)
	w.eventually("the pod is bound", func() bool { return len(w.bindings()) == 1 })
	if got := get(t, s, "/readyz"); got != "ok" {
		t.Errorf("/readyz says %q", got)
	}
}

// The API server does not answer at first, and is of another version.
func TestLateServer(t *testing.T) {
	w := newWorld(t, node("a", "4"), pod("p", "1"))
	var asked atomic.Int32
	looked := make(chan struct{})
	w.client.PrependReactor("get", "version", func(clienttesting.Action) (bool, kruntime.Object, error) {
		if asked.Add(1) == 1 {
			return true, nil, errors.New("connection refused")
		}
		<-looked
		return false, nil, nil
	})
	w.client.Resources = nil
	fakeVersion(w, "34")
	s := w.start(kube.Config{})
	if got := get(t, s, "/readyz"); got == "ok" {
		t.Error("ready before the API server has answered")
	}
	close(looked)
	w.eventually("the pod is bound", func() bool { return len(w.bindings()) == 1 })
	for _, want := range []string{"connection refused", "another version", "v1.34.0", "resource.k8s.io/v1"} {
		if !w.logs.has(want) {
			t.Errorf("the log does not say %q:\n%s", want, w.logs)
		}
	}
}

func get(t *testing.T, s *kube.Scheduler, path string) string {
	t.Helper()
	r := httptest.NewRecorder()
	s.Handler().ServeHTTP(r, httptest.NewRequest(http.MethodGet, path, nil))
	if path == "/metrics" {
		return r.Body.String()
	}
	return strings.TrimSuffix(r.Body.String(), "\n")
}

func TestMetrics(t *testing.T) {
	w := newWorld(t, node("a", "4"))
	s := w.start(kube.Config{Identity: "me"})
	w.create(pod("p", "1"), pod("big", "64"))
	w.eventually("the metrics count both", func() bool {
		body := get(t, s, "/metrics")
		return strings.Contains(body, `scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1`) &&
			strings.Contains(body, `scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1`)
	})
	for _, want := range []string{
		`scheduler_pending_pods{queue="unschedulable"} 1`, `scheduler_cache_size{type="nodes"} 1`, `scheduler_cache_size{type="pods"} 1`, `scheduler_cache_size{type="assumed_pods"} `,
		`scheduler_pod_scheduling_sli_duration_seconds_count{attempts="1"} 1`, `scheduler_preemption_attempts_total 1`, `berth_events_total{result="dropped"} 0`,
		`scheduler_framework_extension_point_duration_seconds_count{extension_point="Bind",profile="default-scheduler",status="Success"} 1`,
	} {
		w.eventually("the metrics have "+want, func() bool { return strings.Contains(get(t, s, "/metrics"), want) })
	}
	if strings.Contains(get(t, s, "/metrics"), "leader_election_master_status") {
		t.Error("the metrics have a leader without an election")
	}
	w.eventually("the metrics count the events", func() bool {
		return strings.Contains(get(t, s, "/metrics"), `berth_events_total{result="written"} 2`)
	})
	for path, want := range map[string]string{"/healthz": "ok", "/livez": "ok", "/readyz": "ok"} {
		if got := get(t, s, path); got != want {
			t.Errorf("%s says %q, want %q", path, got, want)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	w := newWorld(t)
	profiles := []scheduling.Profile{{}}
	for _, test := range []struct {
		name   string
		config kube.Config
		want   string
	}{
		{"nothing", kube.Config{}, "kube: Client: is nil"},
		{"no profiles", kube.Config{Client: w.client}, "kube: either Profiles or Configuration must be set"},
		{"bindings", kube.Config{Client: w.client, Profiles: profiles, Bindings: -1}, "kube: Bindings: -1: must not be negative"},
		{"two profiles", kube.Config{Client: w.client, Profiles: []scheduling.Profile{{}, {}}}, `lifecycle: Profiles[1].Name: "default-scheduler": another profile has it`},
		{"lease", kube.Config{Client: w.client, Profiles: profiles, LeaderElection: &kube.LeaderElection{}}, "kube: LeaderElection: needs the Namespace and the Name of a lease"},
		{"times", kube.Config{Client: w.client, Profiles: profiles, LeaderElection: &kube.LeaderElection{Namespace: "a", Name: "b", RenewDeadline: time.Minute}}, "kube: LeaderElection.LeaseDuration: 15s: must be longer than RenewDeadline, 1m0s"},
		{"period", kube.Config{Client: w.client, Profiles: profiles, LeaderElection: &kube.LeaderElection{Namespace: "a", Name: "b", RetryPeriod: 9 * time.Second}}, "kube: LeaderElection.RenewDeadline: 10s: must be more than 1.2 times RetryPeriod, 9s"},
		{"negative", kube.Config{Client: w.client, Profiles: profiles, LeaderElection: &kube.LeaderElection{Namespace: "a", Name: "b", RetryPeriod: -1}}, "kube: LeaderElection.RetryPeriod: -1ns: must not be negative"},
	} {
		if _, err := kube.New(test.config); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
	s, err := kube.New(kube.Config{Client: w.client, Profiles: profiles})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
	if err := s.Run(ctx); !errors.Is(err, kube.ErrRan) {
		t.Errorf("the second Run: %v, want %v", err, kube.ErrRan)
	}
}
