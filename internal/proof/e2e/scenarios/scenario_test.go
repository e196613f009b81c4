package scenarios

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-sched/berth/internal/proof/e2e/controlplane"
	"github.com/berth-sched/berth/internal/proof/e2e/guard"
	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// scenario is what a test has: an empty cluster, a client that may do everything and a
// guard over the store, whose verdict is part of every test.
type scenario struct {
	*testing.T
	ctx    context.Context
	client kubernetes.Interface
	guard  *guard.Guard
}

// limit is how long a scenario may take before it counts as stuck, and patience how long a
// scenario waits for one thing that must happen: many times what they take, because the
// machine may be slow and have much else to do.
const (
	limit    = 40 * time.Minute
	patience = 5 * time.Minute
)

// begin empties the cluster and starts the guard.
func begin(t *testing.T) *scenario {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	client, err := cluster.Client(controlplane.Admin)
	if err != nil {
		t.Fatal(err)
	}
	s := &scenario{T: t, ctx: ctx, client: client}
	s.clean()
	return s
}

// clean empties the cluster in the middle of a scenario, and starts a new guard.
func (s *scenario) clean() {
	s.Helper()
	if s.guard != nil {
		s.ok(s.guard.Err())
		s.guard.Stop()
	}
	s.ok(cluster.Clean(s.ctx))
	// The guard outlives the test's context, so that its verdict is asked last.
	g, err := guard.Watch(context.WithoutCancel(s.ctx), cluster.Etcd())
	s.ok(err)
	s.guard = g
	s.Cleanup(func() {
		if err := g.Err(); err != nil {
			s.Error(err)
		}
		g.Stop()
	})
}

// ok ends the test on an error.
func (s *scenario) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// nodes makes n nodes.
func (s *scenario) nodes(n int) {
	s.Helper()
	s.ok(objects.CreateNodes(s.ctx, s.client, n))
}

// pods makes n pods, in any order.
func (s *scenario) pods(n int, pod func(i int) *v1.Pod) {
	s.Helper()
	s.ok(objects.CreatePods(s.ctx, s.client, n, pod))
}

// pod makes one pod.
func (s *scenario) pod(pod *v1.Pod) { s.pods(1, func(int) *v1.Pod { return pod }) }

// start starts the scheduler under test. If the scenario fails, the end of its output is
// shown.
func (s *scenario) start(configure ...func(*controlplane.Scheduler)) *controlplane.Process {
	s.Helper()
	return s.startAs(program(), configure...)
}

func (s *scenario) startAs(p controlplane.Program, configure ...func(*controlplane.Scheduler)) *controlplane.Process {
	s.Helper()
	c := controlplane.Scheduler{Program: p}
	for _, f := range configure {
		f(&c)
	}
	process, err := cluster.StartScheduler(s.ctx, c)
	s.ok(err)
	s.Cleanup(func() { s.end(process) })
	return process
}

// end kills a scheduler and looks for what must not be in its output. If the scenario has
// failed, the end of the output is shown.
func (s *scenario) end(p *controlplane.Process) {
	p.Kill()
	for _, bad := range []string{"panic: ", "fatal error: ", "DATA RACE"} {
		if strings.Contains(p.Output(), bad) {
			s.Errorf("the output has %q", bad)
		}
	}
	if s.Failed() {
		s.Logf("the end of the output of %s:\n%s", p.Name(), p.Tail(20))
	}
}

// awake waits until a scheduler says of a pod that no node can take it, and so works.
// There are no nodes yet, or none of this label.
func (s *scenario) awake() {
	s.Helper()
	pod := objects.Pod("awake", "1m", "1Mi")
	pod.Spec.NodeSelector = map[string]string{"e2e/none": "true"}
	s.pod(pod)
	s.eventually("a scheduler that says why a pod waits", func() bool {
		return condition(s.get(pod.Name), v1.PodScheduled).Reason == v1.PodReasonUnschedulable
	})
	s.ok(objects.Delete(s.ctx, s.client, pod.Name))
	s.ok(s.guard.Wait(s.ctx, "no pods", func(v guard.View) bool { return v.Pods == 0 }))
}

// knows waits until the scheduler has seen a node, which it does by another watch than pods:
// until it has bound a pod that no other node takes.
func (s *scenario) knows(node int) {
	s.Helper()
	pod := objects.Pod("first", "1m", "1Mi")
	pod.Spec.NodeSelector = map[string]string{v1.LabelHostname: objects.NodeName(node)}
	pod.Spec.Tolerations = []v1.Toleration{{Operator: v1.TolerationOpExists}}
	s.pod(pod)
	s.bound(1)
	s.ok(objects.Delete(s.ctx, s.client, pod.Name))
	s.ok(s.guard.Wait(s.ctx, "no pods", func(v guard.View) bool { return v.Pods == 0 }))
}

// stop ends a scheduler as an operator does. berth-scheduler has to end with 0.
func (s *scenario) stop(p *controlplane.Process) {
	s.Helper()
	if err := p.Stop(patience); err != nil && !*stock {
		s.Error(err)
	}
}

// bound waits until every pod that is there has a node, and there are n of them.
func (s *scenario) bound(n int) guard.View {
	s.Helper()
	err := s.guard.Wait(s.ctx, fmt.Sprintf("%d bound pods", n), viewBound(n))
	if err != nil {
		s.Fatal(err, s.unbound())
	}
	return s.guard.View()
}

// viewBound says that n pods are there, all with a node.
func viewBound(n int) func(guard.View) bool {
	return func(v guard.View) bool { return v.Pods == n && v.Bound == n }
}

// objectsAfter are the pods of the mix from number n on.
func objectsAfter(n int) func(i int) *v1.Pod {
	return func(i int) *v1.Pod { return objects.Mixed(n + i) }
}

// someBound waits until at least n bindings were made.
func (s *scenario) someBound(n int) {
	s.Helper()
	s.ok(s.guard.Wait(s.ctx, fmt.Sprintf("%d bindings", n), func(v guard.View) bool { return v.Binds >= n }))
}

// unbound describes pods that wait.
func (s *scenario) unbound() string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), 10*time.Second)
	defer cancel()
	list, err := s.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=", Limit: 3})
	if err != nil {
		return err.Error()
	}
	text := ""
	for i := range list.Items {
		p := &list.Items[i]
		text += fmt.Sprintf("\n%s: deleted at %v, nominated %q, conditions %v", p.Name, p.DeletionTimestamp, p.Status.NominatedNodeName, p.Status.Conditions)
	}
	return text
}

// get returns a pod.
func (s *scenario) get(name string) *v1.Pod {
	s.Helper()
	pod, err := s.client.CoreV1().Pods(objects.Namespace).Get(s.ctx, name, metav1.GetOptions{})
	s.ok(err)
	return pod
}

// eventually asks until the answer is yes.
func (s *scenario) eventually(what string, yes func() bool) {
	s.Helper()
	for end := time.Now().Add(patience); !yes(); {
		if time.Now().After(end) || s.ctx.Err() != nil {
			s.Fatalf("not within %s: %s", patience, what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// condition returns the pod's condition of a type, or an empty one.
func condition(pod *v1.Pod, kind v1.PodConditionType) v1.PodCondition {
	i := slices.IndexFunc(pod.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == kind })
	if i < 0 {
		return v1.PodCondition{}
	}
	return pod.Status.Conditions[i]
}

// kubelet ends pods that are asked to leave, after they have used some of their grace.
// It does so until the scenario ends.
func (s *scenario) kubelet(grace time.Duration) {
	s.Helper()
	watch, err := s.client.CoreV1().Pods("").Watch(s.ctx, metav1.ListOptions{})
	s.ok(err)
	s.Cleanup(watch.Stop)
	go func() {
		for event := range watch.ResultChan() {
			pod, ok := event.Object.(*v1.Pod)
			if !ok || pod.DeletionTimestamp == nil || pod.Spec.NodeName == "" || event.Type == "DELETED" {
				continue
			}
			time.AfterFunc(grace, func() {
				_ = objects.Delete(s.ctx, s.client, pod.Name) // already gone, or the scenario is over
			})
		}
	}()
}

// prefix keeps the entries of placements whose names begin with it.
func prefix(placements map[string]string, with string) map[string]string {
	some := map[string]string{}
	for name, node := range placements {
		if strings.HasPrefix(name, with) {
			some[name] = node
		}
	}
	return some
}
