package kube_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/kube"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// idle returns a scheduler that does not run: a test calls its writing methods itself.
func (w *world) idle() *kube.Scheduler {
	w.t.Helper()
	s, err := kube.New(kube.Config{Client: w.client, Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Log: w.log()})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// known returns a pod as the scheduler knows it.
func (w *world) known(name string) *api.Pod {
	p := w.pod(name)
	return &api.Pod{
		ObjectMeta: api.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: api.UID(p.UID), ResourceVersion: p.ResourceVersion},
		Spec:       api.PodSpec{NodeName: p.Spec.NodeName},
	}
}

// patched decodes what a patch of a status writes.
type patched struct {
	Metadata struct{ UID, ResourceVersion string }
	Status   struct{ Conditions []corev1.PodCondition }
}

func decode(t *testing.T, a clienttesting.Action) (p patched) {
	t.Helper()
	if err := json.Unmarshal(a.(clienttesting.PatchAction).GetPatch(), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// A pod was deleted after the decision, and another has its name: it is not bound to the
// node that was chosen for the first.
func TestBindingNamesTheUID(t *testing.T) {
	w := newWorld(t, node("a", "4"), pod("p", "1"))
	s := w.idle()
	first := w.known("p")
	w.delete("p")
	again := pod("p", "1")
	again.UID = "another"
	if _, err := w.client.CoreV1().Pods("default").Create(context.Background(), again, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Bind(context.Background(), first, "a"); !apierrors.IsConflict(err) {
		t.Errorf("Bind: %v, want a conflict", err)
	}
	if got := w.pod("p").Spec.NodeName; got != "" {
		t.Errorf("the second pod is on %q", got)
	}
	if got := s.Bind(context.Background(), w.known("p"), "a"); got != nil || w.pod("p").Spec.NodeName != "a" {
		t.Errorf("Bind of the second pod: %v", got)
	}
}

// A report never writes to a pod that has got a node meanwhile, nor to another pod of the
// name; to one that has changed otherwise it does.
func TestReportLooksAgain(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(p *corev1.Pod)
		writes bool
	}{
		{"it has a node", func(p *corev1.Pod) { p.Spec.NodeName = "a" }, false},
		{"it is another", func(p *corev1.Pod) { p.UID = "another" }, false},
		{"it has a label", func(p *corev1.Pod) { p.Labels = map[string]string{"new": "yes"} }, true},
	} {
		w := newWorld(t, pod("p", "1"))
		s := w.idle()
		before := w.known("p")
		now := w.pod("p")
		test.change(now)
		now.ResourceVersion = w.version()
		if err := w.client.Tracker().Update(podResource, now, "default"); err != nil {
			t.Fatal(err)
		}
		s.Report(context.Background(), before, lifecycle.Report{Reason: "Unschedulable", Message: "no room", Nominated: "b"})
		got := w.pod("p").Status
		if wrote := len(got.Conditions) > 0; wrote != test.writes || (got.NominatedNodeName == "b") != test.writes {
			t.Errorf("%s: the status is %+v, want it written: %t", test.name, got, test.writes)
		}
	}
}

// A victim's condition is written again after a conflict and while the API server fails; a
// victim that is gone, or whose name another pod has, needs nothing.
func TestEvictRetries(t *testing.T) {
	conflict := apierrors.NewConflict(podResource.GroupResource(), "low", errors.New("changed"))
	internal := apierrors.NewInternalError(errors.New("no storage"))
	forbidden := apierrors.NewForbidden(podResource.GroupResource(), "low", errors.New(`User "me" cannot patch resource "pods/status"`))
	for _, test := range []struct {
		name    string
		errs    []error // of the patches
		prepare func(w *world)
		want    error
		patches int32
		evicted bool
	}{
		{"a conflict", []error{conflict, conflict}, nil, nil, 3, true},
		{"no storage", []error{internal}, nil, nil, 2, true},
		{"always a conflict", []error{conflict, conflict, conflict, conflict, conflict}, nil, conflict, 4, false},
		{"another pod", []error{conflict, conflict, conflict, conflict}, func(w *world) {
			p := w.pod("low")
			p.UID = "another"
			if err := w.client.Tracker().Update(podResource, p, "default"); err != nil {
				t.Fatal(err)
			}
		}, nil, 4, false},
		{"gone", nil, func(w *world) { w.delete("low") }, nil, 1, false},
		{"no right", []error{forbidden}, nil, forbidden, 1, false},
	} {
		low := pod("low", "1")
		low.Spec.NodeName = "a"
		w := newWorld(t, low, pod("high", "1"))
		var patches, deletions atomic.Int32
		w.client.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, kruntime.Object, error) {
			n := int(patches.Add(1))
			if p := decode(t, a); p.Metadata.UID != "pod-low" || len(p.Status.Conditions) != 1 || p.Status.Conditions[0].Type != corev1.DisruptionTarget {
				t.Errorf("%s: patch %+v", test.name, p)
			}
			if n <= len(test.errs) {
				return true, nil, test.errs[n-1]
			}
			return false, nil, nil
		})
		s := w.idle()
		victim, preemptor := w.known("low"), w.known("high")
		if test.prepare != nil {
			test.prepare(w)
		}
		w.client.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, kruntime.Object, error) {
			deletions.Add(1)
			return false, nil, nil
		})
		err := s.Evict(context.Background(), victim, preemptor)
		if !errors.Is(err, test.want) || patches.Load() != test.patches || (deletions.Load() == 1) != test.evicted {
			t.Errorf("%s: %v after %d patches and %d deletions; want %v after %d, evicted: %t", test.name, err, patches.Load(), deletions.Load(), test.want, test.patches, test.evicted)
		}
		if test.want == error(forbidden) && !w.logs.has(`the credentials lack a right`) {
			t.Errorf("%s: the log is %s", test.name, w.logs)
		}
	}
}

// The log and /readyz say what keeps the scheduler from its start, in words that a person
// can act on.
func TestHindrances(t *testing.T) {
	for _, test := range []struct {
		err  error
		want []string
	}{
		{apierrors.NewUnauthorized("Unauthorized"), []string{"does not accept the credentials", "Unauthorized"}},
		{apierrors.NewForbidden(podResource.GroupResource(), "", errors.New(`User "me" cannot get path "/version"`)), []string{"the credentials lack a right", `cannot get path`, "/version"}},
		{apierrors.NewForbidden(podResource.GroupResource(), "", errors.New(`User "system:anonymous" cannot get path "/version"`)), []string{"got no credentials", "/version"}},
		{errors.New("connection refused"), []string{"the API server does not answer", "connection refused"}},
	} {
		w := newWorld(t, node("a", "4"), pod("p", "1"))
		var asked atomic.Int32
		w.client.PrependReactor("get", "version", func(clienttesting.Action) (bool, kruntime.Object, error) {
			if asked.Add(1) == 1 {
				return true, nil, test.err
			}
			return false, nil, nil
		})
		s := w.start(kube.Config{})
		w.eventually("/readyz says why", func() bool {
			got := get(t, s, "/readyz")
			return strings.Contains(got, test.want[0]) && strings.Contains(got, test.want[1])
		})
		for _, want := range test.want {
			if !w.logs.has(want) {
				t.Errorf("%v: the log does not say %q:\n%s", test.err, want, w.logs)
			}
		}
		if w.eventually("it starts when it may", func() bool { return len(w.bindings()) == 1 }); strings.Contains(test.want[0], "answer") != w.logs.has("does not answer") {
			t.Errorf("%v: the log is\n%s", test.err, w.logs)
		}
	}
}

// Without the right to bind, the condition of the pod and the log name the right, and
// thousands of pods do not fill the log.
func TestNoRightToBind(t *testing.T) {
	w := newWorld(t, node("a", "8"))
	w.refuse = func(string, string) (bool, error) {
		return false, apierrors.NewForbidden(podResource.GroupResource(), "p", errors.New(`User "me" cannot create resource "pods/binding"`))
	}
	w.start(kube.Config{})
	for i := range 5 {
		w.create(pod(fmt.Sprint("p", i), "1"))
	}
	for i := range 5 {
		w.eventually("the condition names the right", func() bool {
			c := w.pod(fmt.Sprint("p", i)).Status.Conditions
			return len(c) == 1 && c[0].Reason == "SchedulerError" && strings.Contains(c[0].Message, `cannot create resource "pods/binding"`)
		})
	}
	if got := strings.Count(w.logs.String(), "the credentials lack a right"); got != 1 {
		t.Errorf("the log says so %d times, want once in ten seconds:\n%s", got, w.logs)
	}
}

// Without rights for the lease, nothing is scheduled and the log names the right.
func TestNoRightToTheLease(t *testing.T) {
	w := newWorld(t, node("a", "4"), pod("p", "1"))
	var allowed atomic.Bool
	w.client.PrependReactor("get", "leases", func(clienttesting.Action) (bool, kruntime.Object, error) {
		if allowed.Load() {
			return false, nil, nil
		}
		return true, nil, apierrors.NewForbidden(podResource.GroupResource(), "berth", errors.New(`User "me" cannot get resource "leases"`))
	})
	w.start(kube.Config{LeaderElection: lease()})
	w.eventually("the log names the right", func() bool { return w.logs.has(`cannot get resource`) && w.logs.has(`the credentials lack a right`) })
	if got := w.bindings(); len(got) > 0 {
		t.Errorf("bindings %v without the lease", got)
	}
	allowed.Store(true)
	w.eventually("it leads when it may", func() bool { return len(w.bindings()) == 1 })
}

// Two schedulers serve one profile without a lease: the second says so.
func TestTwoOfOneProfile(t *testing.T) {
	w := newWorld(t, node("a", "4"), node("b", "8"), pod("p", "1"))
	s := w.idle()
	before := w.known("p")
	if err := s.Bind(context.Background(), before, "a"); err != nil {
		t.Fatal(err)
	}
	if err := s.Bind(context.Background(), before, "b"); !apierrors.IsConflict(err) {
		t.Errorf("Bind: %v, want a conflict", err)
	}
	if want := `msg="another scheduler has bound a pod; two that serve one profile must share a lease" pod=default/p node=a`; !w.logs.has(want) {
		t.Errorf("the log has no %s:\n%s", want, w.logs)
	}
}
