package framework_test

import (
	"math"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// TestPodInfoVectors checks which accounting goes where; the accounting itself
// is tested with PodRequests.
func TestPodInfoVectors(t *testing.T) {
	const mi = 1 << 20
	requestsCPU := func(milli string) *api.ResourceRequirements {
		return &api.ResourceRequirements{Requests: quantities("cpu", milli)}
	}
	tests := []struct {
		name                   string
		change                 func(*api.Pod)
		requests, used, scored [3]int64 // milli-CPU, memory, GPUs
		nonZero                [2]int64
	}{
		{
			name:     "nothing asked",
			change:   func(p *api.Pod) { p.Spec.Containers[0].Resources.Requests = nil },
			scored:   [3]int64{100, 200 * mi},
			nonZero:  [2]int64{100, 200 * mi},
			requests: [3]int64{},
		},
		{
			name:     "as asked",
			change:   func(*api.Pod) {},
			requests: [3]int64{1500, 64 * mi, 2},
			used:     [3]int64{1500, 64 * mi, 2},
			scored:   [3]int64{1500, 64 * mi, 2},
			nonZero:  [2]int64{1500, 64 * mi},
		},
		{
			name:     "overhead counts everywhere",
			change:   func(p *api.Pod) { p.Spec.Overhead = quantities("cpu", "100m", "memory", "1Mi") },
			requests: [3]int64{1600, 65 * mi, 2},
			used:     [3]int64{1600, 65 * mi, 2},
			scored:   [3]int64{1600, 65 * mi, 2},
			nonZero:  [2]int64{1600, 65 * mi},
		},
		{
			name:     "pod level requests do not count in scores of the pod",
			change:   func(p *api.Pod) { p.Spec.Resources = requestsCPU("3") },
			requests: [3]int64{3000, 64 * mi, 2},
			used:     [3]int64{3000, 64 * mi, 2},
			scored:   [3]int64{1500, 64 * mi, 2},
			nonZero:  [2]int64{3000, 64 * mi},
		},
		{
			name: "what was allocated counts only once the pod is there",
			change: func(p *api.Pod) {
				p.Status.ContainerStatuses = []api.ContainerStatus{{Name: "main", AllocatedResources: quantities("cpu", "2", "memory", "64Mi", "example.com/gpu", "2")}}
			},
			requests: [3]int64{1500, 64 * mi, 2},
			used:     [3]int64{2000, 64 * mi, 2},
			scored:   [3]int64{1500, 64 * mi, 2},
			nonZero:  [2]int64{2000, 64 * mi},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			schema := resource.NewSchema()
			gpu := schema.Intern("example.com/gpu")
			p := plainPod("p", "cpu", "1500m", "memory", "64Mi", "example.com/gpu", "2")
			test.change(p)
			info, err := framework.NewPodInfo(p, schema)
			must(t, err)
			for _, v := range []struct {
				name string
				got  resource.Vector
				want [3]int64
			}{{"Requests", info.Requests, test.requests}, {"UsedRequests", info.UsedRequests, test.used}, {"ScoredRequests", info.ScoredRequests, test.scored}} {
				got := [3]int64{v.got.At(resource.IndexCPU), v.got.At(resource.IndexMemory), v.got.At(gpu)}
				if got != v.want {
					t.Errorf("%s = %v, want %v", v.name, got, v.want)
				}
			}
			if info.UsedNonZero != test.nonZero {
				t.Errorf("UsedNonZero = %v, want %v", info.UsedNonZero, test.nonZero)
			}
			if info.Schema() != schema || info.Pod != p {
				t.Error("the PodInfo has another schema or pod")
			}
		})
	}
}

func TestPodInfoPriority(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	p := plainPod("p")
	if got := podInfo(t, s, p).Priority; got != 0 {
		t.Errorf("Priority = %d, want 0", got)
	}
	high := int32(math.MaxInt32)
	p.Spec.Priority = &high
	if got := podInfo(t, s, p).Priority; got != high {
		t.Errorf("Priority = %d, want %d", got, high)
	}
}

func TestPodInfoRefuses(t *testing.T) {
	schema := resource.NewSchema()
	tests := []struct {
		name string
		pod  *api.Pod
		want string
	}{
		{"nil", nil, "pod: is nil"},
		{"no name", &api.Pod{}, "pod: metadata.name: must not be empty"},
		{"no name in a namespace", &api.Pod{ObjectMeta: api.ObjectMeta{Namespace: "x"}}, "pod x/: metadata.name: must not be empty"},
		{"negative", plainPod("p", "memory", "1Gi", "cpu", "-1m"), `pod default/p: spec.containers[0].resources.requests[cpu]: "-1m": must not be negative`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			info, err := framework.NewPodInfo(test.pod, schema)
			wantError(t, err, test.want)
			if info != nil {
				t.Errorf("NewPodInfo = %v beside an error, want nil", info)
			}
		})
	}
	_, err := framework.NewPodInfo(plainPod("p"), nil)
	wantError(t, err, "pod default/p: the schema is nil")
}

// Requests beyond the largest int64 stay there, and so do the totals of nodes, which are exact
// again once the pod has left.
func TestPodInfoSaturates(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n")
	p := plainPod("p", "memory", "9223372036854775807")
	p.Spec.Containers = append(p.Spec.Containers, p.Spec.Containers[0])
	info := podInfo(t, s, p)
	if got := info.Requests.At(resource.IndexMemory); got != math.MaxInt64 {
		t.Errorf("memory of two huge containers = %d, want %d", got, int64(math.MaxInt64))
	}
	must(t, s.AddPod(info, "n"))
	want := func(memory int64, pods int) {
		t.Helper()
		must(t, s.Check())
		if n := s.Node("n"); n.Requested.At(resource.IndexMemory) != memory || n.NonZeroRequested[1] != memory || len(n.Pods) != pods {
			t.Errorf("%d and %d of memory, %d pods, want %d and %d", n.Requested.At(resource.IndexMemory), n.NonZeroRequested[1], len(n.Pods), memory, pods)
		}
	}
	for _, name := range []string{"q", "r"} {
		must(t, s.AddPod(podInfo(t, s, plainPod(name, "memory", "1Gi")), "n"))
	}
	want(math.MaxInt64, 3)
	mark := s.Begin()
	must(t, s.RemovePod(info, "n"))
	want(2<<30, 2)
	s.Rollback(mark)
	want(math.MaxInt64, 3)
	fork := s.Fork()
	must(t, fork.RemovePod(info, "n"))
	must(t, s.RemovePod(s.Node("n").Pods[1], "n"))
	want(math.MaxInt64, 2)
	must(t, s.UpdateNode(plainNode("n")))
	must(t, s.RemovePod(info, "n"))
	want(1<<30, 1)
	s = fork
	want(2<<30, 2)
}

func TestHasExtended(t *testing.T) {
	schema := resource.NewSchema()
	for _, name := range []resource.Name{"example.com/gpu", "hugepages-2Mi", api.PrefixDeviceClass, api.PrefixDeviceClass + "gpu"} {
		schema.Intern(name)
	}
	for _, c := range []struct {
		pod  *api.Pod
		want bool
	}{
		{api.MakePod("none").Obj(), false},
		{api.MakePod("usual").Requests("1", "1Gi").Request(resource.EphemeralStorage, "1Gi").Obj(), false},
		{api.MakePod("none of it").Request("example.com/gpu", "0").Obj(), false},
		{api.MakePod("scalar").Request("hugepages-2Mi", "2Mi").Obj(), false},
		{api.MakePod("class without a name").Request(api.PrefixDeviceClass, "1").Obj(), false},
		{api.MakePod("class").Request(api.PrefixDeviceClass+"gpu", "1").Obj(), true},
		{api.MakePod("extended").Request("example.com/gpu", "1").Obj(), true},
	} {
		p, err := framework.NewPodInfo(c.pod, schema)
		if err != nil {
			t.Fatal(err)
		}
		again, err := p.Named("again")
		if err != nil {
			t.Fatal(err)
		}
		if p.HasExtended() != c.want || again.HasExtended() != c.want {
			t.Errorf("pod %s: HasExtended() = %v, and %v of a pod named after it; want %v", c.pod.Name, p.HasExtended(), again.HasExtended(), c.want)
		}
	}
}
