package devices

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
)

// TestRandomSpecial: the claim of a pod's extended resources is the first of all claims that are
// its own, after any history of claims in forks and transactions.
func TestRandomSpecial(t *testing.T) {
	found := 0
	for seed := range uint64(effort.Of(15, 60)) {
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

// TestManySpecial: an owner has more claims than are kept, which come and go in any order.
func TestManySpecial(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := framework.NewSnapshot(framework.Arrival)
	pod := api.MakePod("p").UID("u").Obj()
	own := func(i int) *api.ResourceClaim {
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("c%03d", i), Namespace: "default", UID: api.UID(fmt.Sprint(i)), Annotations: map[string]string{api.AnnExtendedResourceClaim: "true"}}}
		c.OwnerReferences = []api.OwnerReference{{Name: "p", UID: "u", Controller: new(true)}, {Name: fmt.Sprint("q", i%3), UID: "v", Controller: new(true)}}
		return c
	}
	stateKey.Of(s)
	few := 0
	for step := range effort.Of(1000, 3000) {
		m := s.Begin()
		i := r.IntN(150)
		switch grow := step/400%2 == 0; {
		case grow == (r.IntN(4) > 0):
			if err := framework.Put(s, own(i)); err != nil {
				t.Fatal(err)
			}
		default:
			if c := stateKey.Of(s).madeExtendedClaim(s, pod); c != nil && r.IntN(2) == 0 { // the first
				framework.Delete[api.ResourceClaim](s, api.KeyOf(c))
			}
			framework.Delete[api.ResourceClaim](s, fmt.Sprintf("default/c%03d", i))
		}
		if r.IntN(3) == 0 {
			s.Rollback(m)
		} else {
			s.Commit(m)
		}
		state := stateKey.Of(s)
		if err := state.checkSpecial(s); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		list := framework.List[api.ResourceClaim](s)
		var want *api.ResourceClaim
		if len(list) > 0 {
			want = list[0]
		}
		if got := state.madeExtendedClaim(s, pod); got != want {
			t.Fatalf("step %d: got %v, want %v", step, got, want)
		}
		if kept, _ := state.special.Get(ownerPod{"default", "p", "u"}); len(kept.keys) < len(list) && len(list) <= mostKeys {
			few++
		}
	}
	if few == 0 {
		t.Error("the keys that are kept never became few")
	}
}

// TestSpecialCosts: thousands of claims of one owner cost each no more than a few do, and of many
// controllers of a claim, which no API server accepts, only the first counts. Anybody may write them.
func TestSpecialCosts(t *testing.T) {
	n := effort.Of(5000, 20_000)
	s := framework.NewSnapshot(framework.Arrival)
	stateKey.Of(s)
	special := func(i int, owners ...api.OwnerReference) *api.ResourceClaim {
		return &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("c", i), Namespace: "default", Annotations: map[string]string{api.AnnExtendedResourceClaim: "true"}, OwnerReferences: owners}}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range n {
		if err := framework.Put(s, special(i, api.OwnerReference{Name: "p", UID: "u", Controller: new(true)})); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / uint64(n); each > 10_000 {
		t.Errorf("each of %d claims of one owner takes %d bytes of memory", n, each)
	}
	owners := make([]api.OwnerReference, 100_000) // as many as a list may have
	for i := range owners {
		owners[i] = api.OwnerReference{Name: "p", UID: api.UID(fmt.Sprint("u", i)), Controller: new(true)}
	}
	if err := framework.Put(s, special(n, owners...)); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false} {
		if _, ok := stateKey.Of(s).special.Get(ownerPod{"default", "p", owners[i].UID}); ok != want {
			t.Errorf("controller %d of a claim counts: %t, want %t", i, ok, want)
		}
	}
	framework.Delete[api.ResourceClaim](s, fmt.Sprint("default/c", n))
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}
