package simulate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// TestSurplus compares the pods that a controller ends first with all of them, sorted.
func TestSurplus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newController()
		c.Kind, c.Field = rapid.SampledFrom([]string{"ReplicaSet", "Job"}).Draw(t, "kind"), "spec.replicas"
		if c.Kind == "Job" {
			c.Field = "spec.parallelism"
		}
		nodes := []*nodeState{nil, new(nodeState), new(nodeState), new(nodeState)}
		var all []*life
		for i := range rapid.IntRange(0, 20).Draw(t, "pods") {
			l := &life{serial: i, pod: &api.Pod{}, node: rapid.SampledFrom(nodes).Draw(t, "node")}
			if cost := rapid.SampledFrom([]string{"", "-5", "7", "odd"}).Draw(t, "cost"); cost != "" {
				l.pod.Annotations = map[string]string{"controller.kubernetes.io/pod-deletion-cost": cost}
			}
			c.live[l], all = true, append(all, l)
		}
		key := func(l *life) (k [3]int) {
			if l.node == nil {
				return k
			}
			k[0] = 1
			if c.Kind == "Job" {
				return k
			}
			k[1] = map[string]int{"-5": -5, "7": 7}[l.pod.Annotations["controller.kubernetes.io/pod-deletion-cost"]]
			for _, x := range all {
				if x.node == l.node {
					k[2]--
				}
			}
			return k
		}
		slices.SortFunc(all, func(a, b *life) int {
			x, y := key(a), key(b)
			return cmp.Or(slices.Compare(x[:], y[:]), cmp.Compare(b.serial, a.serial))
		})
		n := rapid.IntRange(0, len(all)).Draw(t, "n")
		if got := (&world{}).surplus(c, n); !slices.Equal(got, all[:n]) {
			t.Fatalf("%v, want %v", got, all[:n])
		}
	})
}

// Pods whose number is beyond their StatefulSet, and equal, end in one order on every run.
func TestPodsOfOneNumber(t *testing.T) {
	at := func(seconds int, text string) Event {
		o, err := api.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return Event{At: time.Duration(seconds) * time.Second, Apply: o}
	}
	set := func(replicas int) string {
		return fmt.Sprintf(`{"kind": "StatefulSet", "apiVersion": "apps/v1", "metadata": {"name": "w"}, "spec": {"replicas": %d,
			"template": {"spec": {"containers": [{"name": "c"}]}}}}`, replicas)
	}
	trace := func() *Trace {
		x := &Trace{Events: []Event{
			at(0, `{"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "400", "memory": "800Gi", "pods": "1000"}}}`),
			at(0, set(20)),
		}}
		for i := range 12 {
			x.Events = append(x.Events, at(1, fmt.Sprintf(`{"kind": "Pod", "metadata": {"name": "%c-57", "ownerReferences":
				[{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "w", "uid": "u", "controller": true}]}, "spec": {"containers": [{"name": "c"}]}}`, 'a'+i)))
		}
		x.Events = append(x.Events, at(10, set(3)))
		return x
	}
	var first string
	for run := range 10 {
		x := trace()
		var out strings.Builder
		r := NewRecorder(&out, x.Begin())
		if _, err := Run(context.Background(), Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: x, Recorder: r}); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if run == 0 {
			first = out.String()
		}
		if out.String() != first {
			t.Fatalf("run %d is recorded as\n%s\nthe first one as\n%s", run, out.String(), first)
		}
	}
	if !strings.Contains(first, "a-57") {
		t.Errorf("the pods are not recorded:\n%s", first)
	}
}
