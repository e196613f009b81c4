package kube_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
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

// The answer to a binding is lost, and meanwhile another pod of the name is on that node: the
// first pod is not bound.
func TestLostAnswerOfAnOldPod(t *testing.T) {
	w := newWorld(t, node("a", "4"), pod("p", "1"))
	s := w.idle()
	first := w.known("p")
	w.refuse = func(string, string) (bool, error) { return false, errors.New("connection refused") }
	w.delete("p")
	again := pod("p", "1")
	again.UID, again.Spec.NodeName = "another", "a"
	if _, err := w.client.CoreV1().Pods("default").Create(context.Background(), again, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Bind(context.Background(), first, "a"); err == nil {
		t.Error("the first pod counts as bound")
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

// A pod that is nominated no longer loses the nomination in its status, too.
func TestNominationEnds(t *testing.T) {
	p := pod("p", "1")
	p.Status.NominatedNodeName = "b"
	w := newWorld(t, p)
	s := w.idle()
	before := w.known("p")
	before.Status.NominatedNodeName = "b"
	s.Report(context.Background(), before, lifecycle.Report{Reason: "Unschedulable", Message: "no room"})
	if got := w.pod("p").Status; got.NominatedNodeName != "" || len(got.Conditions) != 1 {
		t.Errorf("the status is %+v, want a condition and no nomination", got)
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

// Without the right to delete pods, a preemptor is tried again after its backoff: the
// second attempt comes after one second, the third after two more, cut to whole seconds.
func TestForbiddenEvictions(t *testing.T) {
	low, high := pod("low", "1"), pod("high", "1")
	low.Spec.NodeName = "a"
	high.Spec.Priority = new(int32(10))
	w := newWorld(t, node("a", "1"), low)
	var mu sync.Mutex
	var at []time.Time
	w.client.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, kruntime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		at = append(at, time.Now())
		return true, nil, apierrors.NewForbidden(podResource.GroupResource(), "low", errors.New(`User "me" cannot delete resource "pods"`))
	})
	w.start(kube.Config{})
	w.create(high)
	w.eventually("three attempts", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(at) >= 3
	})
	if d := at[2].Sub(at[0]); d < time.Second {
		t.Errorf("three evictions that are forbidden within %v, want more than 1 s", d)
	}
	if !w.logs.has("the credentials lack a right") {
		t.Errorf("the log is %s", w.logs)
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
		looked := make(chan struct{})
		w.client.PrependReactor("get", "version", func(clienttesting.Action) (bool, kruntime.Object, error) {
			if asked.Add(1) == 1 {
				return true, nil, test.err
			}
			<-looked
			return false, nil, nil
		})
		s := w.start(kube.Config{})
		w.eventually("/readyz says why", func() bool {
			got := get(t, s, "/readyz")
			return strings.Contains(got, test.want[0]) && strings.Contains(got, test.want[1])
		})
		for _, want := range test.want {
			w.eventually(fmt.Sprintf("the log says %q", want), func() bool { return w.logs.has(want) })
		}
		close(looked)
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
	begin := time.Now()
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
	got := strings.Count(w.logs.String(), "the credentials lack a right")
	if most := 1 + int(time.Since(begin)/(10*time.Second)); got < 1 || got > most {
		t.Errorf("the log says so %d times in %v, want once in ten seconds:\n%s", got, time.Since(begin), w.logs)
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
	w.eventually("the log names the right", func() bool { return w.logs.has(`cannot get resource`) && w.logs.has(`lease`) })
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

// podServer is as much of an API server as one pod and its binding need. client-go's fake has
// no transport, so it does not see the requests that a real server gets.
type podServer struct {
	*httptest.Server
	t *testing.T

	mu     sync.Mutex
	node   string // of the pod
	posts  int
	answer func(w http.ResponseWriter, post int) (carryOut bool) // whether the binding is carried out
}

func newPodServer(t *testing.T, answer func(w http.ResponseWriter, post int) bool) *podServer {
	s := &podServer{t: t, answer: answer}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *podServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Method + " " + r.URL.Path {
	case "GET /api/v1/namespaces/default/pods/p":
		p := pod("p", "1")
		p.Spec.NodeName = s.node
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(p)
	case "POST /api/v1/namespaces/default/pods/p/binding":
		var b corev1.Binding
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, _, err = scheme.Codecs.UniversalDeserializer().Decode(body, nil, &b)
		}
		if err != nil || b.UID != "pod-p" || b.Target.Kind != "Node" {
			s.t.Errorf("the binding is %+v, %v", &b, err)
		}
		s.posts++
		switch {
		case s.node != "":
			status(w, http.StatusConflict, metav1.StatusReasonConflict, "assigned to "+s.node)
		case s.answer(w, s.posts):
			s.node = b.Target.Name
		}
	case "POST /apis/events.k8s.io/v1/namespaces/default/events":
	default:
		s.t.Errorf("%s %s", r.Method, r.URL)
	}
}

func status(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: int32(code), Reason: reason, Message: message})
}

// hangUp ends the connection without an answer.
func hangUp(w http.ResponseWriter) {
	if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
		c.Close()
	}
}

// A binding by a real transport: what the API server has carried out is bound, however it
// answers, and what it has not is not.
func TestBindOverHTTP(t *testing.T) {
	forbidden := func(w http.ResponseWriter, _ int) bool {
		status(w, http.StatusForbidden, metav1.StatusReasonForbidden, `cannot create resource "pods/binding"`)
		return false
	}
	var server *podServer
	lateBeside := func(code int, reason metav1.StatusReason) func(w http.ResponseWriter, post int) bool {
		return func(w http.ResponseWriter, post int) bool {
			if post > 1 {
				status(w, code, reason, "no")
				return false
			}
			late := server // that of this case
			time.AfterFunc(300*time.Millisecond, func() {
				late.mu.Lock()
				defer late.mu.Unlock()
				late.node = "a"
			})
			status(w, http.StatusGatewayTimeout, metav1.StatusReasonTimeout, "upstream request timeout")
			return false
		}
	}
	for _, test := range []struct {
		name   string
		answer func(w http.ResponseWriter, post int) bool
		posts  int // at least; more if it is sent again
		bound  bool
	}{
		{"done late, and refused as it is sent again", lateBeside(http.StatusForbidden, metav1.StatusReasonForbidden), 2, true},
		{"done late, and busy as it is sent again", lateBeside(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests), 2, true},
		{"created", func(w http.ResponseWriter, _ int) bool { w.WriteHeader(http.StatusCreated); return true }, 1, true},
		{"done, and no answer", func(w http.ResponseWriter, _ int) bool { hangUp(w); return true }, 1, true},
		{"done, and the answer is an error", func(w http.ResponseWriter, _ int) bool {
			status(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "late")
			return true
		}, 2, true},
		{"not done, and no answer once", func(w http.ResponseWriter, post int) bool {
			if post == 1 {
				hangUp(w)
				return false
			}
			w.WriteHeader(http.StatusCreated)
			return true
		}, 2, true},
		{"no right", forbidden, 2, false},
		{"busy once", func(w http.ResponseWriter, post int) bool {
			if post == 1 {
				status(w, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "busy")
			}
			return post > 1
		}, 2, true},
	} {
		server = newPodServer(t, test.answer)
		client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
		if err != nil {
			t.Fatal(err)
		}
		logs := new(lockedBuffer)
		s, err := kube.New(kube.Config{Client: client, Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Log: slog.New(slog.NewTextHandler(logs, nil))})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Bind(context.Background(), &api.Pod{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "p", UID: "pod-p"}}, "a")
		late := strings.HasPrefix(test.name, "done late")
		server.mu.Lock()
		if (err == nil) != test.bound || server.posts < test.posts || server.posts > test.posts && !late || (server.node == "a") != test.bound {
			t.Errorf("%s: Bind = %v after %d requests, the pod is on %q; want bound: %t after %d", test.name, err, server.posts, server.node, test.bound, test.posts)
		}
		server.mu.Unlock()
		if denied := logs.has("the credentials lack a right"); denied != (test.name == "no right") {
			t.Errorf("%s: the log is %s", test.name, logs)
		}
	}
}
