package devices

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestRandomSpecial: the claim of a pod's extended resources is the first of all claims that are
// its own, after any history of claims in forks and transactions.
func TestRandomSpecial(t *testing.T) {
	found := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		uid := func() api.UID { return api.UID([]string{"", "u0", "u1", "u2"}[r.IntN(4)]) }
		s := framework.NewSnapshot(framework.Arrival)
		random := func() *api.ResourceClaim {
			c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("c", r.IntN(8)), Namespace: fmt.Sprint("ns", r.IntN(2)), UID: api.UID(fmt.Sprint(r.IntN(50)))}}
			if r.IntN(5) > 0 {
				c.Annotations = map[string]string{api.AnnExtendedResourceClaim: []string{"true", "true", "true", "false"}[r.IntN(4)]}
			}
			for range r.IntN(4) {
				o := api.OwnerReference{Kind: "Pod", Name: fmt.Sprint("p", r.IntN(2)), UID: uid()}
				switch r.IntN(4) {
				case 0:
				case 1:
					o.Controller = new(false)
				default:
					o.Controller = new(true)
				}
				c.OwnerReferences = append(c.OwnerReferences, o)
			}
			return c
		}
		if r.IntN(2) == 0 {
			for range 6 {
				if err := framework.Put(s, random()); err != nil {
					t.Fatal(err)
				}
			}
		}
		type side struct {
			s     *framework.Snapshot
			marks []framework.Mark
		}
		sides := []*side{{s: s}}
		stateKey.Of(s)
		for step := range 80 {
			x := sides[r.IntN(len(sides))]
			switch r.IntN(9) {
			case 0:
				if len(sides) < 4 {
					sides = append(sides, &side{s: x.s.Fork()})
				}
			case 1, 2:
				if len(x.marks) < 3 {
					x.marks = append(x.marks, x.s.Begin())
				}
			case 3, 4:
				if n := len(x.marks); n > 0 {
					n = r.IntN(n)
					if r.IntN(2) == 0 {
						x.s.Rollback(x.marks[n])
					} else {
						x.s.Commit(x.marks[n])
					}
					x.marks = x.marks[:n]
				}
			case 5:
				framework.Delete[api.ResourceClaim](x.s, fmt.Sprintf("ns%d/c%d", r.IntN(2), r.IntN(8)))
			default:
				if err := framework.Put(x.s, random()); err != nil {
					t.Fatal(err)
				}
			}
			for k, x := range sides { // the first time before any transaction: see filter, TestRandomStateInTransaction
				state := stateKey.Of(x.s)
				if err := state.Check(x.s); err != nil {
					t.Fatalf("seed %d, step %d, side %d: %v", seed, step, k, err)
				}
				for _, u := range []api.UID{"", "u0", "u1", "u2"} {
					for _, ns := range []string{"ns0", "ns1"} {
						for _, name := range []string{"p0", "p1"} {
							pod := api.MakePod(name).UID(u).Obj()
							pod.Namespace = ns
							var want *api.ResourceClaim
							for _, c := range framework.List[api.ResourceClaim](x.s) { // by key
								if want == nil && c.Namespace == ns && isExtendedClaimOf(c, pod) {
									want = c
								}
							}
							if got := state.madeExtendedClaim(x.s, pod); got != want {
								t.Fatalf("seed %d, step %d, side %d, pod %s/%s %q: got %v, want %v", seed, step, k, ns, name, u, got, want)
							}
							if want != nil {
								found++
							}
						}
					}
				}
			}
		}
	}
	t.Log(found, "claims were found")
}
