package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	v1 "k8s.io/api/core/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/rival"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/workload"
	"github.com/berth-sched/berth/internal/proof/shapes"
	"github.com/berth-sched/berth/scheduling"
)

// shape measures a shape in the columns that it has.
func (b bench) shape(s shapes.Shape) (line, error) {
	l := line{Workload: s.Name, Nodes: b.nodes, Pods: b.pods}
	for _, c := range []struct {
		name       string
		percentage int32
		rate       **float64
		pods       *int
		all        **float64
	}{
		{"kube sampled", 0, &l.KubeSampled, &l.KubeSampledPods, nil},
		{"kube all", 100, &l.KubeAll, &l.KubeAllPods, &l.KubeAllAllocs},
	} {
		if b.berthOnly {
			continue
		}
		f, err := b.kubeShape(s, rival.Options{Percentage: c.percentage})
		if err != nil {
			return l, fmt.Errorf("%s: %s: %w", s.Name, c.name, err)
		}
		b.tell(s, c.name, f, c.rate, c.pods, c.all)
	}
	for _, c := range []struct {
		name  string
		cache scheduling.CacheConfig
		rate  **float64
		pods  *int
		all   **float64
	}{
		{"berth plain", scheduling.CacheConfig{Off: true}, &l.BerthPlain, &l.BerthPlainPods, nil},
		{"berth", scheduling.CacheConfig{}, &l.Berth, &l.BerthPods, &l.BerthAllocs},
	} {
		t, err := shapes.Time(s, shapes.Config{Nodes: b.nodes, Pods: b.berthPods, Budget: b.budget}, c.cache)
		if err != nil {
			return l, fmt.Errorf("%s: %s: %w", s.Name, c.name, err)
		}
		l.Nodes = t.Nodes
		b.tell(s, c.name, figures{pods: t.Pods, took: t.Took, allocs: uint64(t.AllocsPerPod() * float64(t.Pods))}, c.rate, c.pods, c.all)
	}
	l.ratios()
	if b.berthOnly || b.compare == 0 {
		return l, nil
	}
	differ, err := b.shapeDifferences(s, &l.Compared)
	l.DifferingChoices = &differ
	return l, err
}

// tell enters figures into a column.
func (b bench) tell(s shapes.Shape, name string, f figures, rate **float64, pods *int, all **float64) {
	fmt.Fprintf(b.stderr, "%s, %s: %d pods in %v, %.0f pods/s\n", s.Name, name, f.pods, f.took.Round(time.Microsecond), f.rate())
	r, allocs := f.rate(), f.allocsPerPod()
	*rate, *pods = &r, f.pods
	if all != nil {
		*all = &allocs
	}
}

// A kubeWorld is kube-scheduler with the cluster of a shape.
type kubeWorld struct {
	shape  *shapes.Shape
	nodes  int
	sched  *rival.Scheduler
	placed []*v1.Pod // by pod; nil for one that is not there
	next   int
}

// openShape builds the cluster of a shape.
func openShape(ctx context.Context, s *shapes.Shape, n int, options rival.Options) (*kubeWorld, error) {
	o := s.Objects(n)
	for _, x := range o.Namespaces {
		if err := adopt[v1.Namespace](&options.Objects, x); err != nil {
			return nil, err
		}
	}
	for _, x := range o.Services {
		if err := adopt[v1.Service](&options.Objects, x); err != nil {
			return nil, err
		}
	}
	sched, err := rival.New(ctx, options)
	if err != nil {
		return nil, err
	}
	w := &kubeWorld{shape: s, nodes: n, sched: sched}
	for _, x := range o.Nodes {
		node, err := workload.Convert[v1.Node](x)
		if err != nil {
			return nil, err
		}
		sched.AddNode(node)
	}
	for _, x := range o.Pods {
		if _, err := w.add(x); err != nil {
			return nil, err
		}
	}
	for i := range s.First(n) {
		x := s.Pod(i, n)
		x.Spec.NodeName = o.Nodes[s.On(i, n)].Name
		p, err := w.add(x)
		if err != nil {
			return nil, err
		}
		w.placed = append(w.placed, p)
	}
	w.next = len(w.placed)
	// The first refresh copies the whole cluster; no pod's time includes it.
	_, err = sched.NodeOrder()
	return w, err
}

// adopt appends the Kubernetes object of a berth object.
func adopt[T any, P interface {
	*T
	kuberuntime.Object
}](list *[]kuberuntime.Object, object any) error {
	x, err := workload.Convert[T](object)
	*list = append(*list, P(x))
	return err
}

// add adds a pod that is on a node.
func (w *kubeWorld) add(x any) (*v1.Pod, error) {
	p, err := workload.Convert[v1.Pod](x)
	if err != nil {
		return nil, err
	}
	return p, w.sched.AddPod(p)
}

// come lets the next pod come, and returns its node, "" for none, and the time of its
// cycle. There is no more pod if done is set.
func (w *kubeWorld) come() (node string, took time.Duration, done bool, err error) {
	x := w.shape.Pod(w.next, w.nodes)
	if x == nil {
		return "", 0, true, nil
	}
	for _, i := range w.shape.Leaving(w.next, w.nodes) {
		if w.placed[i] == nil {
			continue
		}
		if err := w.sched.RemovePod(w.placed[i]); err != nil {
			return "", 0, false, err
		}
		w.placed[i] = nil
	}
	p, err := workload.Convert[v1.Pod](x)
	if err != nil {
		return "", 0, false, err
	}
	pending, err := w.sched.Prepare(p)
	if err != nil {
		return "", 0, false, err
	}
	w.next++
	start := time.Now()
	r, err := w.sched.Schedule(pending)
	took = time.Since(start)
	if errors.As(err, new(*framework.FitError)) {
		w.placed = append(w.placed, nil)
		return "", took, false, nil
	}
	w.placed = append(w.placed, p)
	return r.Node, took, false, err
}

// kubeShape measures kube-scheduler.
func (b bench) kubeShape(s shapes.Shape, options rival.Options) (figures, error) {
	var f figures
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w, err := openShape(ctx, &s, b.nodes, options)
	if err != nil {
		return f, err
	}
	runtime.GC()
	before := mallocs()
	for f.pods < b.pods && (f.pods < leastPods || f.took < b.budget) {
		_, took, done, err := w.come()
		if err != nil {
			return f, fmt.Errorf("pod %d: %w", w.next, err)
		}
		if done {
			break
		}
		f.took += took
		f.pods++
	}
	f.allocs = mallocs() - before
	return f, nil
}

// shapeDifferences counts the pods that berth places elsewhere, with all nodes scored and
// with sampling.
func (b bench) shapeDifferences(s shapes.Shape, compared *int) (differ int, err error) {
	for _, c := range []struct {
		theirs int32
		ours   int
	}{{100, scheduling.AllNodes}, {0, scheduling.Adaptive}} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		theirs, err := openShape(ctx, &s, b.nodes, rival.Options{Percentage: c.theirs, Parallelism: 1})
		if err != nil {
			return differ, err
		}
		sampled := s
		sampled.Profile = func(p *scheduling.Profile) { p.Percentage = c.ours }
		ours, err := shapes.Open(&sampled, b.nodes, scheduling.CacheConfig{})
		if err != nil {
			return differ, err
		}
		for _, a := range ours.Make(min(b.compare, b.pods)) {
			number := theirs.next
			if err := ours.Come(a); err != nil {
				return differ, err
			}
			node, _, _, err := theirs.come()
			if err != nil {
				return differ, err
			}
			*compared++
			if got := ours.Node(number); got != node {
				if differ == 0 {
					fmt.Fprintf(b.stderr, "%s: pod %d: berth chooses %q, kube-scheduler %q\n", s.Name, number, got, node)
				}
				differ++
			}
		}
	}
	return differ, nil
}
