package kube_test

import (
	"context"
	"errors"
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
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/extender"
	"github.com/berth-sched/berth/scheduling/kube"
)

// lease is one that nobody loses because the machine is slow.
func lease() *kube.LeaderElection {
	return &kube.LeaderElection{Namespace: "kube-system", Name: "berth", LeaseDuration: 4 * time.Minute, RenewDeadline: 3 * time.Minute, RetryPeriod: 50 * time.Millisecond}
}

// Of two schedulers of one lease, one acts. When it ends it gives the lease back, and the
// other takes over, which has followed the cluster meanwhile.
func TestLeaderChange(t *testing.T) {
	w := newWorld(t, node("a", "8"))
	first, stop := w.startWith(kube.Config{Identity: "first", LeaderElection: lease()})
	w.eventually("the first leads", func() bool {
		return strings.Contains(get(t, first, "/metrics"), `leader_election_master_status{name="berth"} 1`)
	})
	second, stopSecond := w.startWith(kube.Config{Identity: "second", LeaderElection: lease()})
	w.eventually("the second is ready", func() bool { return get(t, second, "/readyz") == "ok" })
	w.create(pod("p", "1"))
	w.eventually("the first binds", func() bool { return len(w.bindings()) == 1 })
	if !strings.Contains(get(t, second, "/metrics"), `leader_election_master_status{name="berth"} 0`) {
		t.Error("both lead")
	}
	h, err := second.Extender(api.DefaultSchedulerName)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Bind(context.Background(), extender.BindingArgs{PodName: "p", PodNamespace: "default", PodUID: "pod-p", Node: "a"}); err == nil || !strings.Contains(err.Error(), "does not bind now") {
		t.Errorf("the second binds as an extender: %v", err)
	}
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("the first ended with %v", err)
	}
	w.create(pod("q", "8"), pod("r", "7"))
	w.eventually("the second binds what fits beside the first's pod", func() bool { return w.pod("r").Spec.NodeName == "a" })
	if got := w.pod("q").Spec.NodeName; got != "" {
		t.Errorf("pod q is on %s: the second has not seen the first's pod", got)
	}
	if err := stopSecond(); !errors.Is(err, context.Canceled) {
		t.Errorf("the second ended with %v", err)
	}
}

// A leader that cannot renew its lease stops at once, with an error.
func TestLeadershipLost(t *testing.T) {
	w := newWorld(t, node("a", "8"))
	var broken atomic.Bool
	w.client.PrependReactor("update", "leases", func(clienttesting.Action) (bool, kruntime.Object, error) {
		if !broken.Load() {
			return false, nil, nil
		}
		return true, nil, apierrors.NewInternalError(errors.New("no storage"))
	})
	short := lease()
	short.LeaseDuration, short.RenewDeadline = 15*time.Second, 10*time.Second
	s, stop := w.startWith(kube.Config{Identity: "me", LeaderElection: short})
	w.eventually("it leads", func() bool {
		return strings.Contains(get(t, s, "/metrics"), `leader_election_master_status{name="berth"} 1`)
	})
	broken.Store(true)
	w.eventually("it has stopped", func() bool {
		return strings.Contains(get(t, s, "/metrics"), `leader_election_master_status{name="berth"} 0`)
	})
	if err := stop(); !errors.Is(err, kube.ErrLeadershipLost) {
		t.Errorf("Run: %v, want %v", err, kube.ErrLeadershipLost)
	}
}

// After a watch has expired, everything is listed again: known versions do nothing, what
// is gone is gone, and a new object of an old name is another one.
func TestRelist(t *testing.T) {
	one, two, three := pod("one", "1"), pod("two", "1"), pod("three", "1")
	for _, p := range []*corev1.Pod{one, two, three} {
		p.Spec.NodeName, p.ResourceVersion = "a", "5"
	}
	w := newWorld(t, node("a", "8"), one, two, three)
	watches := make(chan *watch.RaceFreeFakeWatcher, 10)
	w.client.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
		f := watch.NewRaceFreeFake()
		watches <- f
		return true, f, nil
	})
	s := w.start(kube.Config{})
	pods := func() (list []string) {
		if err := s.Do(context.Background(), func(snap *framework.Snapshot) {
			if n := snap.Node("a"); n != nil {
				for _, p := range n.Pods {
					list = append(list, p.Pod.Name+"/"+string(p.Pod.UID)+"/"+p.Pod.ResourceVersion)
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		return list
	}
	first := <-watches
	w.eventually("all count", func() bool { return len(pods()) == 3 })
	again := two.DeepCopy()
	again.UID, again.ResourceVersion = "another", "9"
	if err := w.client.Tracker().Update(podResource, again, "default"); err != nil {
		t.Fatal(err)
	}
	if err := w.client.Tracker().Delete(podResource, "default", "three"); err != nil {
		t.Fatal(err)
	}
	first.Error(&metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: http.StatusGone})
	second := <-watches
	want := "one/pod-one/5 two/another/9"
	w.eventually("the list is applied", func() bool { return strings.Join(pods(), " ") == want })
	gone := again.DeepCopy()
	second.Delete(gone)
	w.eventually("the deletion is applied", func() bool { return strings.Join(pods(), " ") == "one/pod-one/5" })
}

// A kube-scheduler that asks over the extender protocol gets answers from the live cluster.
func TestExtender(t *testing.T) {
	w := newWorld(t, node("a", "1"), node("b", "8"))
	p := scheduling.Kubernetes137()
	p.Name = "only-asked"
	s := w.start(kube.Config{Profiles: []scheduling.Profile{p}})
	if err := s.Do(context.Background(), func(*framework.Snapshot) {}); err != nil { // it has started
		t.Fatal(err)
	}
	h, err := s.Extender("only-asked")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(verb, body string) string {
		r := httptest.NewRecorder()
		h.ServeHTTP(r, httptest.NewRequest(http.MethodPost, "/"+verb, strings.NewReader(body)))
		return r.Body.String()
	}
	const binding = `{"PodName":"p","PodNamespace":"default","PodUID":"pod-p","Node":"b"}`
	if got, want := ask("bind", binding), `{"Error":"internal error"}`; strings.TrimSpace(got) != want {
		t.Errorf("bind of a pod that does not exist answers %s, want %s: the texts of errors are not for clients", got, want)
	}
	h.ErrorText = error.Error
	request := `{"Pod":{"metadata":{"name":"p","namespace":"default","uid":"pod-p"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"4"}}}]}},"NodeNames":["a","b"]}`
	got := ask("filter", request)
	if !strings.Contains(got, `"NodeNames":["b"]`) || !strings.Contains(got, `"a":"Insufficient cpu"`) {
		t.Errorf("filter answers %s", got)
	}
	w.create(pod("p", "4"))
	w.eventually("the pod is known", func() bool {
		got = ask("bind", binding)
		return !strings.Contains(got, "does not exist")
	})
	if w.pod("p").Spec.NodeName != "b" {
		t.Errorf("bind answers %s; the pod is on %q", got, w.pod("p").Spec.NodeName)
	}
	if got := ask("bind", `{"PodName":"p","PodNamespace":"default","PodUID":"other","Node":"b"}`); !strings.Contains(got, "does not exist") {
		t.Errorf("bind of another UID answers %s", got)
	}
	if _, err := s.Extender("none"); err == nil || err.Error() != `kube: Extender: there is no profile "none"` {
		t.Errorf("Extender: %v", err)
	}
}
