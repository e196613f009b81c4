package frameworktest_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/effort"
)

func TestClusterIsAFunction(t *testing.T) {
	t.Parallel()
	seen := map[string]uint64{}
	for seed := range uint64(effort.Of(8, 50)) {
		a, b := frameworktest.Cluster(seed), frameworktest.Cluster(seed)
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("two clusters of seed %d differ:\n%s", seed, diff)
		}
		text, err := json.Marshal(a.Pods)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[string(text)]; ok {
			t.Errorf("seeds %d and %d have the same pods", other, seed)
		}
		seen[string(text)] = seed
	}
}

// Every cluster is one that a snapshot takes, and images have one size.
func TestClusterIsValid(t *testing.T) {
	t.Parallel()
	for seed := range uint64(effort.Of(60, 1000)) {
		s, pending, err := frameworktest.Snapshot(frameworktest.Cluster(seed))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if s.Len() > 16 || len(pending) < 4 || !s.Now().Equal(frameworktest.Noon()) {
			t.Errorf("seed %d: %d nodes, %d pods to place, time %v", seed, s.Len(), len(pending), s.Now())
		}
		for _, n := range s.All() {
			for _, image := range n.Node.Status.Images {
				for _, name := range image.Names {
					if size, _ := s.Image(name); size != image.SizeBytes {
						t.Errorf("seed %d: image %q has sizes %d and %d", seed, name, size, image.SizeBytes)
					}
				}
			}
		}
	}
}

// The clusters hold what plugins read: nothing in the list is rare.
func TestClusterVariety(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	count := func(what string, there bool) {
		if there {
			counts[what]++
		} else {
			counts[what] += 0
		}
	}
	for seed := range uint64(200) {
		o := frameworktest.Cluster(seed)
		s, pending, err := frameworktest.Snapshot(o)
		if err != nil {
			t.Fatal(err)
		}
		count("no node", s.Len() == 0)
		count("one node", s.Len() == 1)
		count("many nodes", s.Len() > 10)
		for _, n := range s.All() {
			count("zone", n.ZoneKey() != "")
			count("no zone", n.ZoneKey() == "")
			count("no labels", n.Node.Labels == nil)
			count("taint", len(n.Node.Spec.Taints) > 0)
			count("cordoned", n.Node.Spec.Unschedulable)
			count("image", len(n.Node.Status.Images) > 0)
			count("nothing allocatable", n.Node.Status.Allocatable == nil)
			count("empty node", len(n.Pods) == 0)
			count("ports taken", len(n.UsedPorts) > 0)
			for _, p := range n.Pods {
				count("pod going away", p.Pod.DeletionTimestamp != nil)
				count("resized pod", p.Pod.Status.ContainerStatuses != nil)
			}
		}
		for _, p := range pending {
			spec := &p.Pod.Spec
			count("no containers", len(spec.Containers) == 0)
			count("several containers", len(spec.Containers) > 1)
			count("overhead", spec.Overhead != nil)
			count("requests of the pod as a whole", spec.Resources != nil)
			count("tolerations", len(spec.Tolerations) > 0)
			count("node selector", spec.NodeSelector != nil)
			count("spread constraints", len(spec.TopologySpreadConstraints) > 0)
			count("volumes", len(spec.Volumes) > 0)
			count("gates", len(spec.SchedulingGates) > 0)
			count("nomination", p.Pod.Status.NominatedNodeName != "")
			count("host ports", len(p.HostPorts) > 0)
			count("controller", p.Pod.ControllerRef() != nil)
			count("huge request", p.Requests.At(1) > 1<<60)
			for _, c := range spec.InitContainers {
				count("sidecar", c.RestartPolicy != nil)
				count("init container", c.RestartPolicy == nil)
			}
			if a := spec.Affinity; a != nil {
				count("node affinity", a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil)
				count("node preferences", a.NodeAffinity != nil && a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution != nil)
				count("pod affinity", a.PodAffinity != nil)
				count("pod anti-affinity", a.PodAntiAffinity != nil)
			}
		}
	}
	for what, n := range counts {
		if n < 3 {
			t.Errorf("%s: %d times in 200 clusters, want more", what, n)
		}
	}
}

func TestNodeAndPod(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := framework.NewSnapshot(framework.Arrival)
		if err := s.AddNode(frameworktest.Node(r, "mine")); err != nil {
			t.Fatal(err)
		}
		p, err := s.NewPodInfo(frameworktest.Pod(r, "mine"))
		if err != nil {
			t.Fatal(err)
		}
		if s.Node("mine") == nil || p.Pod.Name != "mine" || p.Pod.Spec.NodeName != "" {
			t.Errorf("seed %d: node %v, pod %s on %q", seed, s.Node("mine"), p.Pod.Name, p.Pod.Spec.NodeName)
		}
	}
}

func BenchmarkCluster(b *testing.B) {
	seed := uint64(0)
	for b.Loop() {
		frameworktest.Cluster(seed)
		seed++
	}
}
