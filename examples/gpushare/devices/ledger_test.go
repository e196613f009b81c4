//go:build full

package devices_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/examples/gpushare/devices"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// placing is a scheduler that verifies its answers, and a snapshot with one node.
type placing struct {
	*testing.T
	gpus     *devices.GPUs
	sched    *scheduling.Scheduler
	snapshot *framework.Snapshot
}

func onNode(t *testing.T, gpus string) *placing {
	t.Helper()
	g := devices.New(devices.Config{})
	share := devices.GPUShare{GPUs: g}
	sched, err := scheduling.New(scheduling.Profile{
		Filter: []framework.Plugin{share}, Reserve: []framework.Plugin{share, notes{g}},
		Cache: scheduling.CacheConfig{Verify: true},
	})
	p := &placing{t, g, sched, framework.NewSnapshot(framework.Arrival)}
	p.must(err)
	p.must(p.snapshot.AddNode(gpuNode("n", gpus)))
	return p
}

func gpuNode(name, gpus string) *api.Node {
	return api.MakeNode(name, "8", "8Gi").Resource(devices.Vendor+"/gpu-count", gpus).Labels(devices.Vendor+"/gpu-card-model", "T4").Obj()
}

func (p *placing) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *placing) pod(b api.PodBuilder) *framework.PodInfo {
	p.Helper()
	info, err := p.snapshot.NewPodInfo(b.Obj())
	p.must(err)
	return info
}

// shareOf makes a pod that asks for a part of a GPU.
func shareOf(name, milli string) api.PodBuilder {
	return api.MakePod(name).Annotations(devices.Vendor+"/gpu-milli", milli)
}

func naming(b api.PodBuilder, index string) api.PodBuilder {
	return b.Annotations(devices.Vendor+"/gpu-index", index)
}

// place places a pod and returns the GPUs that the decision tells of, or "none".
func (p *placing) place(pod *framework.PodInfo) string {
	p.Helper()
	d, err := p.sched.Place(p.snapshot, pod)
	if errors.As(err, new(*scheduling.FitError)) {
		return "none"
	}
	p.must(err)
	return d.Reserved
}

// left checks what is left of the GPUs, and the whole state.
func (p *placing) left(want ...int32) {
	p.Helper()
	p.must(p.gpus.Check(p.snapshot))
	free := p.gpus.Free(p.snapshot, p.snapshot.Node("n"))
	for i, left := range want {
		if free.GPUs != len(want) || free.Left[i] != left {
			p.Fatalf("%v is left, want %v", free.Left[:free.GPUs], want)
		}
	}
}

// notes refuses pods whose GPUs are not handed on as [devices.Assigned]. It comes after
// GPUShare.
type notes struct{ gpus *devices.GPUs }

func (notes) Name() string { return "notes" }

func (p notes) Reserve(c *framework.Cycle, n *framework.NodeInfo) framework.Status {
	held := p.gpus.Held(c.Snapshot, n, c.Pod)
	if got, ok := devices.Assigned.Get(c); got != held || ok != (held != 0) {
		return framework.AsStatus(fmt.Errorf("Assigned is %q, %v; the pod holds %q", got, ok, held))
	}
	return framework.Status{}
}

func (notes) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

// TestPendingIndex: a pending pod gets an idle GPU, whatever its annotation names.
func TestPendingIndex(t *testing.T) {
	p := onNode(t, "2")
	for _, step := range []struct {
		pod  api.PodBuilder
		want string
	}{
		{shareOf("a", "1000"), "gpu 0"},
		{naming(shareOf("b", "1000"), "0"), "gpu 1"},
		{naming(shareOf("c", "1000"), "0"), "none"},
		{naming(shareOf("d", "1"), "1"), "none"},
	} {
		pod := p.pod(step.pod)
		if got := p.place(pod); got != step.want {
			t.Fatalf("%s gets %q, want %q", pod.Pod.Name, got, step.want)
		}
	}
	p.left(0, 0)
}

// TestBoundIndex: a pod that is bound counts where it says, also on a GPU in use. Placed
// again, it is held to its GPUs on that node alone.
func TestBoundIndex(t *testing.T) {
	p := onNode(t, "2")
	runs := p.pod(naming(shareOf("runs", "700"), "0").Node("n"))
	also := p.pod(naming(shareOf("also", "600"), "0").Node("n"))
	p.must(p.snapshot.AddPod(runs, "n"))
	p.must(p.snapshot.AddPod(also, "n"))
	p.left(0, 1000)
	p.must(p.snapshot.RemovePod(also, "n"))
	p.left(300, 1000)
	if got := p.place(also); got != "none" {
		t.Errorf("a pod that is bound to a GPU in use gets %q", got)
	}
	if got := p.place(p.pod(naming(shareOf("else", "600"), "0").Node("other"))); got != "gpu 1" {
		t.Errorf("a pod that is bound to another node gets %q, want gpu 1", got)
	}
	p.must(p.snapshot.RemovePod(runs, "n"))
	if got := p.place(also); got != "gpu 0" {
		t.Errorf("a pod that is bound to an idle GPU gets %q, want gpu 0", got)
	}
	p.left(400, 400)
}

// TestPutBackAfterBound: a bound pod that is put back leaves the others their GPUs.
func TestPutBackAfterBound(t *testing.T) {
	p := onNode(t, "2")
	chosen, bound := p.pod(shareOf("chosen", "200")), p.pod(naming(shareOf("bound", "450").Node("n"), "1"))
	p.place(chosen)
	p.must(p.snapshot.AddPod(bound, "n"))
	p.left(800, 550)
	for _, pod := range []*framework.PodInfo{chosen, bound} {
		p.must(p.snapshot.RemovePod(pod, "n"))
	}
	for _, pod := range []*framework.PodInfo{bound, chosen} {
		p.must(p.snapshot.AddPod(pod, "n"))
	}
	p.left(800, 550)
}

// TestPutBackOnSmallerNode: a pod that is put back does not get a GPU that is gone.
func TestPutBackOnSmallerNode(t *testing.T) {
	p := onNode(t, "2")
	a, b := p.pod(shareOf("a", "1000")), p.pod(shareOf("b", "1000"))
	p.place(a)
	p.place(b)
	p.must(p.snapshot.RemovePod(b, "n"))
	p.must(p.snapshot.UpdateNode(gpuNode("n", "1")))
	p.must(p.snapshot.AddPod(b, "n"))
	if got := p.gpus.Held(p.snapshot, p.snapshot.Node("n"), b); got != 0 {
		t.Errorf("a pod that is put back has GPU %v of a node with one", got)
	}
	p.left(0)
}

// TestClassKeys: pods that differ in one thing that is asked have keys of their own, other
// pods have not.
func TestClassKeys(t *testing.T) {
	p := onNode(t, "2")
	two := func() api.PodBuilder { return shareOf("p", "200").Annotations(devices.Vendor+"/gpu-count", "2") }
	key := func(b api.PodBuilder) string { return string(p.gpus.AppendClassKey(nil, p.snapshot, p.pod(b))) }
	seen := map[string]string{}
	for name, b := range map[string]api.PodBuilder{
		"no GPU": api.MakePod("p"), "share": shareOf("p", "200"), "high byte": shareOf("p", "456"), "higher byte": shareOf("p", "712"),
		"two": two(), "model": shareOf("p", "200").Annotations(devices.Vendor+"/gpu-card-model", "T4"),
		"models":   shareOf("p", "200").Annotations(devices.Vendor+"/gpu-card-model", "T4|G2"),
		"bound":    naming(shareOf("p", "200").Node("n"), "0"),
		"bound 1":  naming(shareOf("p", "200").Node("n"), "1"),
		"bound 9":  naming(shareOf("p", "200").Node("n"), "9"),
		"bound 10": naming(shareOf("p", "200").Node("n"), "10"),
		"bound o":  naming(shareOf("p", "200").Node("o"), "0"),
		"refused":  shareOf("p", "x"), "refused too": shareOf("p", "y"),
	} {
		k := key(b)
		if other := seen[k]; other != "" {
			t.Errorf("%s and %s have the key %q", name, other, k)
		}
		seen[k] = name
	}
	for name, b := range map[string]api.PodBuilder{
		"other": shareOf("q", "200").Annotations("other", "thing"), "pending": naming(shareOf("p", "200"), "1"), "bound without index": shareOf("p", "200").Node("n"),
	} {
		if seen[key(b)] != "share" {
			t.Errorf("%s has the key %q, want that of a share", name, key(b))
		}
	}
}

// TestClassesAreApart places pods that differ in one thing one after another: none gets the
// answer of the other, and all answers are verified.
func TestClassesAreApart(t *testing.T) {
	for name, pods := range map[string][2]api.PodBuilder{ // the pod that fits, and one that does not
		"models": {shareOf("a", "100").Annotations(devices.Vendor+"/gpu-card-model", "T4"), shareOf("b", "100").Annotations(devices.Vendor+"/gpu-card-model", "G2")},
		"milli":  {shareOf("a", "200"), shareOf("b", "968")},
		"count":  {shareOf("a", "200"), shareOf("b", "200").Annotations(devices.Vendor+"/gpu-count", "3")},
		"bound":  {naming(shareOf("a", "200").Node("n"), "1"), naming(shareOf("b", "200").Node("n"), "0")},
	} {
		for _, first := range []int{0, 1} {
			p := onNode(t, "2")
			p.must(p.snapshot.AddPod(p.pod(naming(shareOf("runs", "1000").Node("n"), "0")), "n"))
			p.must(p.snapshot.AddPod(p.pod(naming(shareOf("little", "100").Node("n"), "1")), "n"))
			for _, i := range []int{first, 1 - first} {
				if got, want := p.place(p.pod(pods[i])), []string{"gpu 1", "none"}[i]; got != want {
					t.Errorf("%s: pod %d, after %d others, gets %q, want %q", name, i, i^first, got, want)
				}
			}
			p.left(0, 700+100*int32(strings.Count(name, "models")))
		}
	}
}
