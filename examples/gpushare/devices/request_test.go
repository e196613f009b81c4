//go:build full

package devices_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/berth-sched/berth/examples/gpushare/devices"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// request reads what a pod asks for.
func request(t testing.TB, p *api.Pod) (devices.Request, error) {
	t.Helper()
	info, err := framework.NewPodInfo(p, resource.NewSchema())
	if err != nil {
		t.Skip(err) // the framework refuses the pod already
	}
	var gpus *devices.GPUs
	return gpus.Request(info)
}

func TestRequest(t *testing.T) {
	const v = devices.Vendor
	pod := func() api.PodBuilder { return api.MakePod("p").Requests("1", "1Gi") }
	for name, test := range map[string]struct {
		pod  api.PodBuilder
		want string
	}{
		"nothing":              {pod(), "no GPU"},
		"a share":              {pod().Annotations(v+"/gpu-milli", "460"), "460 thousandths of a GPU"},
		"count alone":          {pod().Annotations(v+"/gpu-count", "2"), "2 GPUs"},
		"both":                 {pod().Annotations(v+"/gpu-count", "2", v+"/gpu-milli", "300"), "300 thousandths of each of 2 GPUs"},
		"a model":              {pod().Annotations(v+"/gpu-milli", "1000", v+"/gpu-card-model", "T4|G2"), "1 GPUs of T4|G2"},
		"zero":                 {pod().Annotations(v+"/gpu-count", "1", v+"/gpu-milli", "0"), "no GPU"},
		"whole, as resource":   {pod().Request(v+"/gpu", "3"), "3 GPUs"},
		"share, as resource":   {pod().Request(v+"/gpu-milli", "460"), "460 thousandths of a GPU"},
		"count, as resource":   {pod().Request(v+"/gpu-count", "2"), "2 GPUs"},
		"twice, as resources":  {pod().Request(v+"/gpu-count", "2").Request(v+"/gpu", "2"), "2 GPUs"},
		"counted parts":        {pod().Request(v+"/gpu-count", "2").Request(v+"/gpu-milli", "600"), "300 thousandths of each of 2 GPUs"},
		"one GPU in parts":     {pod().Request(v+"/gpu-milli", "1000"), "1 GPUs"},
		"both, as resources":   {pod().Request(v+"/gpu", "2").Request(v+"/gpu-milli", "600"), "300 thousandths of each of 2 GPUs"},
		"many thousandths":     {pod().Request(v+"/gpu-milli", "2000"), "2 GPUs"},
		"annotations go first": {pod().Request(v+"/gpu-milli", "920").Annotations(v+"/gpu-count", "2", v+"/gpu-milli", "460"), "460 thousandths of each of 2 GPUs"},

		"not a number":       {pod().Annotations(v+"/gpu-count", "two"), `metadata.annotations[alibabacloud.com/gpu-count]: "two": want a whole number from 0 to 16`},
		"negative":           {pod().Annotations(v+"/gpu-milli", "-1"), `metadata.annotations[alibabacloud.com/gpu-milli]: "-1": want`},
		"more than a GPU":    {pod().Annotations(v+"/gpu-milli", "1001"), `want a whole number from 0 to 1000`},
		"too many":           {pod().Request(v+"/gpu", "17"), `requests[alibabacloud.com/gpu]: "17": want a whole number from 0 to 16`},
		"no multiple":        {pod().Request(v+"/gpu-milli", "1500"), `requests[alibabacloud.com/gpu-milli]: "1500": is more than one GPU, and no multiple of 1000`},
		"cannot be divided":  {pod().Request(v+"/gpu", "2").Request(v+"/gpu-milli", "601"), `requests[alibabacloud.com/gpu-milli]: "601": cannot be divided among 2 GPUs`},
		"too many parts":     {pod().Request(v+"/gpu-milli", "16001"), `want a whole number from 0 to 16000`},
		"too much of each":   {pod().Request(v+"/gpu", "1").Request(v+"/gpu-milli", "1200"), `gpu-milli]: "1200": 1 GPUs have only 1000`},
		"half of a GPU":      {pod().Request(v+"/gpu", "500m"), `requests[alibabacloud.com/gpu]: "500m": want a whole number from 0 to 16`},
		"half, counted":      {pod().Request(v+"/gpu-count", "1500m"), `requests[alibabacloud.com/gpu-count]: "1500m": want a whole number from 0 to 16`},
		"half a thousandth":  {pod().Request(v+"/gpu-milli", "500m"), `requests[alibabacloud.com/gpu-milli]: "500m": want a whole number from 0 to 16000`},
		"two numbers":        {pod().Request(v+"/gpu", "2").Request(v+"/gpu-count", "3"), `requests[alibabacloud.com/gpu]: "2": alibabacloud.com/gpu-count is 3`},
		"too many, counted":  {pod().Request(v+"/gpu-count", "17"), `requests[alibabacloud.com/gpu-count]: "17": want a whole number from 0 to 16`},
		"index, not numbers": {pod().Annotations(v+"/gpu-milli", "100", v+"/gpu-index", "a"), `gpu-index]: "a": want numbers from 0 to 15`},
		"index, twice":       {pod().Annotations(v+"/gpu-count", "2", v+"/gpu-index", "1-1"), `a GPU is named twice`},
		"index, too few":     {pod().Annotations(v+"/gpu-count", "2", v+"/gpu-index", "1"), `1 GPUs, but the pod asks for 2`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := request(t, test.pod.Obj())
			text := got.String()
			if err != nil {
				var invalid *api.InvalidError
				if text = err.Error(); !errors.As(err, &invalid) || invalid.Object != "pod default/p" {
					t.Errorf("%v is no InvalidError about the pod", err)
				}
			}
			if !strings.Contains(text, test.want) {
				t.Errorf("%s, want %s", text, test.want)
			}
		})
	}
}

// FuzzRequest reads arbitrary annotations and resources. What is read must be within its
// bounds.
func FuzzRequest(f *testing.F) {
	f.Add("1", "460", "A|B", "0", int64(2), int64(400))
	f.Add("2", "1000", "", "0-1", int64(0), int64(0))
	f.Add("", "", "|", "-", int64(-1), int64(1<<62))
	f.Fuzz(func(t *testing.T, count, milli, models, index string, whole, parts int64) {
		p := api.MakePod("p").Obj()
		p.Annotations = map[string]string{devices.Vendor + "/gpu-card-model": models}
		for name, value := range map[string]string{"/gpu-count": count, "/gpu-milli": milli, "/gpu-index": index} {
			if value != "" {
				p.Annotations[devices.Vendor+name] = value
			}
		}
		p.Spec.Containers[0].Resources.Requests = resource.List{
			devices.Vendor + "/gpu": resource.New(whole, resource.DecimalSI), devices.Vendor + "/gpu-milli": resource.New(parts, resource.DecimalSI),
		}
		r, err := request(t, p)
		if err == nil && (r.Count < 0 || r.Count > devices.MaxGPUs || (r.Milli == 0) != (r.Count == 0) || r.Milli < 0 || r.Milli > devices.MilliPerGPU) {
			t.Errorf("%+v", r)
		}
	})
}

// TestAllocations: filters and scores need no memory.
func TestAllocations(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "64", "64Gi").Resource(devices.Vendor+"/gpu", "4").Obj()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		p, err := s.NewPodInfo(api.MakePod(name).Annotations(devices.Vendor+"/gpu-milli", "300").Obj())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.AddPod(p, "n"); err != nil {
			t.Fatal(err)
		}
	}
	p, err := s.NewPodInfo(api.MakePod("p").Annotations(devices.Vendor+"/gpu-milli", "300").Obj())
	if err != nil {
		t.Fatal(err)
	}
	c := &framework.Cycle{Pod: p, Snapshot: s}
	pre, _ := devices.GPUShare{}.PreFilter(c)
	n := s.Node("n")
	for name, plugin := range map[string]framework.PreScorePlugin{
		"FGD": devices.FGD{Workload: small}, "BestFit": devices.BestFit{}, "GpuPacking": devices.GpuPacking{}, "GpuClustering": devices.GpuClustering{}, "DotProd": devices.DotProd{},
	} {
		scorer, _ := plugin.PreScore(c, []*framework.NodeInfo{n})
		if got := testing.AllocsPerRun(100, func() { scorer.Score(p, n); pre.Filter.Filter(p, n) }); got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}
