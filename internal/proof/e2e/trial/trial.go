// Package trial lets a scheduler bind the pods of the mix and measures it.
package trial

import (
	"context"
	"fmt"
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-sched/berth/internal/proof/e2e/controlplane"
	"github.com/berth-sched/berth/internal/proof/e2e/guard"
	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// Size is how large a trial is.
type Size struct{ Nodes, Pods int }

// Result is what a scheduler did.
type Result struct {
	Placements map[string]string  // pod to node
	Start      time.Duration      // from the start of the process to its first binding
	Binding    time.Duration      // from the first binding to the last
	Usage      controlplane.Usage // of the scheduler, from its start until it is idle
	APIServer  time.Duration      // CPU of the API server in that time
	Events     int                // pods that an event Scheduled is about
}

// Rate is how many pods were bound in a second.
func (r Result) Rate() float64 {
	return float64(len(r.Placements)) / max(r.Binding.Seconds(), 1e-9)
}

// Trial is one scheduler and a cluster that has nothing else to do.
type Trial struct {
	Cluster   *controlplane.Cluster
	Scheduler controlplane.Scheduler
	Size      Size
	Log       io.Writer // progress
}

// Run empties the cluster, makes the nodes and pods, starts the scheduler and waits until
// it has bound all. Pods wait when the scheduler starts, so it is never idle.
func (t Trial) Run(ctx context.Context) (*Result, error) {
	if err := t.Cluster.Clean(ctx); err != nil {
		return nil, err
	}
	client, err := t.Cluster.Client(controlplane.Admin)
	if err != nil {
		return nil, err
	}
	if _, err := controlplane.Build(ctx, t.Scheduler.Program, t.Log); err != nil {
		return nil, err
	}
	if err := t.fill(ctx, client); err != nil {
		return nil, err
	}
	watch, err := guard.Watch(ctx, t.Cluster.Etcd())
	if err != nil {
		return nil, err
	}
	defer watch.Stop()
	result, err := t.measure(ctx, watch)
	if err != nil {
		return nil, err
	}
	if err := watch.Err(); err != nil {
		return nil, err
	}
	result.Placements = watch.Placements()
	result.Events, err = announced(ctx, client)
	return result, err
}

// announced counts the pods that an event Scheduled of the API server is about.
func announced(ctx context.Context, client kubernetes.Interface) (int, error) {
	pods := map[types.UID]bool{}
	for next := ""; ; {
		page, err := client.EventsV1().Events("").List(ctx, metav1.ListOptions{FieldSelector: "reason=Scheduled", Limit: 1000, Continue: next})
		if err != nil {
			return 0, fmt.Errorf("count events: %w", err)
		}
		for i := range page.Items {
			pods[page.Items[i].Regarding.UID] = true
		}
		if next = page.Continue; next == "" {
			return len(pods), nil
		}
	}
}

// fill makes the nodes and pods.
func (t Trial) fill(ctx context.Context, client kubernetes.Interface) error {
	begin := time.Now()
	if err := objects.CreateNodes(ctx, client, t.Size.Nodes); err != nil {
		return err
	}
	if err := objects.CreatePods(ctx, client, t.Size.Pods, objects.Mixed); err != nil {
		return err
	}
	fmt.Fprintf(t.Log, "made %d nodes and %d pods of %d shapes in %.1f s\n",
		t.Size.Nodes, t.Size.Pods, objects.Shapes, time.Since(begin).Seconds())
	return nil
}

// measure starts the scheduler and waits until all pods are bound.
func (t Trial) measure(ctx context.Context, watch *guard.Guard) (*Result, error) {
	before, err := t.Cluster.APIServerUsage()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	process, err := t.Cluster.StartScheduler(ctx, t.Scheduler)
	if err != nil {
		return nil, err
	}
	defer process.Kill()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		<-process.Ended()
		cancel(fmt.Errorf("%s ended:\n%s", t.Scheduler.Program.Name(), process.Tail(10)))
	}()
	tick := time.Now()
	err = watch.Wait(ctx, "all pods to be bound", func(v guard.View) bool {
		if time.Since(tick) > 2*time.Second {
			tick = time.Now()
			fmt.Fprintf(t.Log, "%s: %d of %d pods are bound\n", t.Scheduler.Program.Name(), v.Bound, t.Size.Pods)
		}
		return v.Bound == t.Size.Pods
	})
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, err
	}
	binding := watch.View().Binding
	result := &Result{Start: binding.First.Sub(begin), Binding: binding.Length()}
	if result.Usage, err = settled(ctx, process); err != nil {
		return nil, err
	}
	after, err := t.Cluster.APIServerUsage()
	if err != nil {
		return nil, err
	}
	result.APIServer = after.CPU - before.CPU
	return result, nil
}

// settled waits until the process is idle and returns what it took. After the last binding,
// events are still to be written, and the scheduler may hold them back for some seconds while
// an answer is due.
func settled(ctx context.Context, p *controlplane.Process) (controlplane.Usage, error) {
	const (
		pause = time.Second
		idle  = 30 * time.Millisecond
		calm  = 6 // pauses
	)
	last, err := p.Usage()
	for quiet := 0; err == nil && quiet < calm; {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return last, context.Cause(ctx)
		}
		before := last.CPU
		if last, err = p.Usage(); last.CPU-before <= idle {
			quiet++
		} else {
			quiet = 0
		}
	}
	return last, err
}
