package podsum

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/resource"
)

// The total is the larger of what all containers with the sidecars need, and of what each
// init container needs beside the sidecars before it.
func TestTotal(t *testing.T) {
	type container struct {
		sidecar bool
		amount  map[resource.Name]int64
	}
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.MapOf(rapid.SampledFrom([]resource.Name{"cpu", "memory", "gpu"}), rapid.Int64Range(0, 9))
		containers := rapid.SliceOfN(amounts, 0, 4).Draw(t, "containers")
		inits := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) container {
			return container{rapid.Bool().Draw(t, "sidecar"), amounts.Draw(t, "amount")}
		}), 0, 5).Draw(t, "inits")
		var sum Sum
		running, sidecars, peak := map[resource.Name]int64{}, map[resource.Name]int64{}, map[resource.Name]int64{}
		for _, c := range containers {
			for name, n := range c {
				sum.Container(name, resource.New(n, resource.DecimalSI))
				running[name] += n
			}
		}
		for _, c := range inits {
			for name, n := range c.amount {
				q := resource.New(n, resource.DecimalSI)
				if c.sidecar {
					sum.Sidecar(name, q)
					sidecars[name] += n
					peak[name] = max(peak[name], sidecars[name])
				} else {
					sum.Init(name, q)
					peak[name] = max(peak[name], sidecars[name]+n)
				}
			}
			for name, beside := range sum.sidecars {
				if at, ok := sum.peak[name]; !ok || at.Cmp(beside) < 0 {
					t.Fatalf("%s: the peak %s is below what sidecars need, %s", name, at, beside)
				}
			}
		}
		got := sum.Total()
		for _, name := range []resource.Name{"cpu", "memory", "gpu"} {
			want := max(running[name]+sidecars[name], peak[name])
			if q := got[name]; q.Cmp(resource.New(want, resource.DecimalSI)) != 0 {
				t.Errorf("%s: %s, want %d", name, q, want)
			}
		}
	})
}
