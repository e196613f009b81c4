package shapes

import (
	"fmt"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/gen/workload"
	"github.com/berth-sched/berth/scheduling"
)

// A Shape is a way in which pods come to a cluster. Only Name, About and Pod must be
// set.
type Shape struct {
	Name string
	// About says in a few words what is special.
	About string
	// Pod returns pod i of those that come to a cluster of n nodes, nil after the last.
	Pod func(i, n int) *api.Pod

	// Cluster returns a cluster of n nodes, or of a size of its own, with the pods that
	// are on its nodes. nil: the nodes of package workload with two pods each.
	Cluster func(n int) *api.Objects
	// Present is how many of the pods are there from the beginning. Later, the oldest
	// leaves for each that comes. nil: none is there, and none leaves.
	Present func(n int) int
	// Home is the node of a pod that is there from the beginning; nil: node i mod n.
	Home func(i, n int) int
	// Leave lists the pods that leave before pod i comes. nil: see Present.
	Leave func(i, n int) []int

	// Profile changes the profile, which is [scheduling.Kubernetes137]. nil: nothing.
	Profile func(p *scheduling.Profile)
	// Ready changes the cluster before the first pod comes. nil: nothing.
	Ready func(w *World) error
	// Come is what happens when a pod comes. nil: [World.Place].
	Come func(w *World, p *framework.PodInfo) error
}

// All lists the shapes in the order of the tables. The shape openb has the tables in
// the directory trace; without one it has no pods.
func All(trace Trace) []Shape {
	return []Shape{
		equal("first", scheduling.First), equal("random", scheduling.Random), equal("heap", scheduling.Heap),
		deployments(), statefulSet(), job(), bare(), distinct(), terms(), fork(), forkPool(), clusters(), daemonSet(), nominated(), nominations(), named(), extended(), overload(),
		rollout(), rolloutSpread(), cron(), namespaces(), openB(trace), gpuPool(), defaultSpread(), unschedulable(), claims(),
		expiring(), unscoped(),
	}
}

// Plain reports whether kube-scheduler with its default profile could do the same: the
// shape changes no profile, and its pods are just placed.
func (s *Shape) Plain() bool { return s.Profile == nil && s.Ready == nil && s.Come == nil }

// Parse returns the shape with that name. An error lists the names.
func Parse(all []Shape, name string) (Shape, error) {
	var names []string
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Shape{}, fmt.Errorf("no shape %q: there are %s", name, strings.Join(names, ", "))
}

// Objects returns the cluster of n nodes with the pods on its nodes, those of Present
// not among them.
func (s *Shape) Objects(n int) *api.Objects {
	if s.Cluster != nil {
		return s.Cluster(n)
	}
	o := nodes(n)
	for j := range 2 * n {
		o.Pods = append(o.Pods, workload.InitPod(j, n))
	}
	return o
}

// First is the index of the first pod that comes, and how many are there before it.
func (s *Shape) First(n int) int {
	if s.Present == nil {
		return 0
	}
	return s.Present(n)
}

// On is the index of the node of pod i, which is there from the beginning.
func (s *Shape) On(i, n int) int {
	if s.Home == nil {
		return i % n
	}
	return s.Home(i, n)
}

// Leaving lists the pods that leave before pod i comes.
func (s *Shape) Leaving(i, n int) []int {
	switch {
	case s.Leave != nil:
		return s.Leave(i, n)
	case s.Present != nil:
		return []int{i - s.Present(n)}
	}
	return nil
}

// atMost bounds a number of pods to those that n nodes take easily.
func atMost(pods, n int) int { return min(pods, 20*n) }

// nodes returns n nodes of package workload.
func nodes(n int) *api.Objects {
	o := new(api.Objects)
	for i := range n {
		o.Nodes = append(o.Nodes, workload.Node(i))
	}
	return o
}
