//go:build full

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// TestNothingStays: pods of every kind come and go. Nothing that the driver holds by pod,
// group or name of a node stays.
func TestNothingStays(t *testing.T) {
	ctx := context.Background()
	d, err := New(Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Groups: &gang.Rules{}, Clock: virtualclock.New(time.Unix(0, 0)),
		Binder: BinderFunc(func(_ context.Context, p *api.Pod, _ string) error {
			if p.Labels["fails"] != "" {
				return errors.New("no")
			}
			return nil
		}),
		ErrorHandler: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	group := func(b api.PodBuilder, name string) *api.Pod {
		p := b.Obj()
		p.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &name}
		return p
	}
	const n = 20
	var pods []*api.Pod
	for i := range n {
		b := func(kind string) api.PodBuilder { return api.MakePod(fmt.Sprint(kind, i)).Requests("1m", "1Mi") }
		pods = append(pods,
			b("bound").Obj(), b("fails").Labels("fails", "yes").Obj(), b("large").Requests("1k", "1Gi").Obj(),
			b("gated").Gates("example.com/never").Obj(), b("elsewhere").Node(fmt.Sprint("elsewhere", i%3)).Obj(), b("other").Scheduler("other").Obj(),
			b("nominated").Requests("1k", "1Gi").Nominated("n").Obj(), b("nominated-elsewhere").Requests("1k", "1Gi").Nominated("elsewhere").Obj(),
			group(b("alone"), fmt.Sprint("alone", i)), group(b("open"), "g"), group(b("large-open").Requests("1k", "1Gi"), "large"),
			group(b("shut").Gates("example.com/never"), fmt.Sprint("shut", i%4)))
	}
	node := api.MakeNode("n", "1", "1Gi").Obj()
	d.Apply(Update(node))
	for _, name := range []string{"g", "large", "shut0", "shut1", "shut2", "shut3"} {
		d.Apply(Update(&api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name}}))
	}
	for _, p := range pods {
		d.Apply(Update(p))
	}
	d.Flush(ctx)
	if nominated(d) != 2*n {
		t.Fatalf("%d nominations, want %d", nominated(d), 2*n)
	}
	for range 5 * len(pods) {
		d.ScheduleOne(ctx)
	}
	listed := 0
	for _, s := range d.groups.gates.list {
		listed += s.groups.Len()
	}
	if len(d.hosts) != 4 || len(d.groups.byKey) != n+6 || len(d.groups.byItem) == 0 || listed != 4 {
		t.Fatalf("%d names of nodes, %d groups, %d of them queued and %d shut; want 4, %d, some and 4",
			len(d.hosts), len(d.groups.byKey), len(d.groups.byItem), listed, n+6)
	}
	for i := range pods {
		d.Apply(Delete(pods[i*7%len(pods)]))
	}
	d.Apply(Delete(node))
	d.Flush(ctx)
	listed = 0
	for _, s := range d.groups.gates.list {
		listed += s.groups.Len()
	}
	if len(d.pods)+len(d.hosts)+len(d.nominations)+len(d.groups.byKey)+len(d.groups.byItem)+listed+d.waiting.pods.Len() > 0 {
		t.Errorf("%d pods, %d names of nodes, %d more of nominations, %d groups, %d of them queued and %d shut, and %d waiting pods stay",
			len(d.pods), len(d.hosts), len(d.nominations), len(d.groups.byKey), len(d.groups.byItem), listed, d.waiting.pods.Len())
	}
	if all := d.queue.Items(); len(all) > 0 {
		t.Errorf("%d items stay in the queue", len(all))
	}
}

// TestHostForgetsPods takes pods off a node in any order.
func TestHostForgetsPods(t *testing.T) {
	h, pods := host{}, make([]*pod, 50)
	for i := range pods {
		pods[i] = new(pod)
		h.add(pods[i])
	}
	for i := range pods {
		h.remove(pods[i*7%len(pods)])
		for at, p := range h.pods {
			if p.at != at || p.host != &h {
				t.Fatalf("the pod at %d believes that it is at %d of %v", at, p.at, p.host)
			}
		}
		for _, p := range h.pods[len(h.pods):len(pods)] {
			if p != nil {
				t.Fatal("a pod is kept that has left")
			}
		}
	}
}

// nominated counts the nominated pods.
func nominated(d *Driver) (n int) {
	for _, l := range d.nominations {
		n += l.Len()
	}
	return n
}
