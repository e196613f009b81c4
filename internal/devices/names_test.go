package devices_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/resource"
)

// A claim that a pod uses is one that it may name, and the first status of a name counts.
func TestNames(t *testing.T) {
	seen := map[string]int{}
	enough.Check(t, seen, map[string]int{"named": 20, "not named": 20, "only mentioned": 5}, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "c"})
		p := api.MakePod("p").Obj()
		names := map[string]string{} // of the claims that were made, by entry
		for range rapid.IntRange(0, 12).Draw(t, "statuses") {
			s := api.PodResourceClaimStatus{Name: name.Draw(t, "status")}
			made := ""
			if rapid.Bool().Draw(t, "made") {
				made = name.Draw(t, "claim")
				s.ResourceClaimName = &made
			}
			if _, ok := names[s.Name]; !ok {
				names[s.Name] = made
			}
			p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, s)
		}
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Namespace: p.Namespace, Name: name.Draw(t, "asked")}}
		want := false
		for range rapid.IntRange(0, 3).Draw(t, "entries") {
			e := api.PodResourceClaim{Name: name.Draw(t, "entry")}
			if rapid.Bool().Draw(t, "template") {
				e.ResourceClaimTemplateName = new("t")
				want = want || names[e.Name] == c.Name
			} else {
				e.ResourceClaimName = new(name.Draw(t, "own"))
				want = want || *e.ResourceClaimName == c.Name
			}
			p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, e)
		}
		got, may := devices.Names(p, c), devices.MayName(infoOf(t, p), c)
		switch {
		case got != want:
			t.Fatalf("names %s: %t, want %t, of %+v and %+v", c.Name, got, want, p.Spec.ResourceClaims, p.Status.ResourceClaimStatuses)
		case got && !may:
			t.Fatalf("names %s, and may not", c.Name)
		case got:
			seen["named"]++
		case may:
			seen["only mentioned"]++
		default:
			seen["not named"]++
		}
	})
}

func infoOf(t interface{ Fatal(...any) }, p *api.Pod) *framework.PodInfo {
	info, err := framework.NewPodInfo(p, resource.NewSchema())
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// An event about a claim concerns each waiting pod of the namespace, however many claims it has.
func TestMayNameTakesNoMemory(t *testing.T) {
	p := api.MakePod("p").Obj()
	for i := range 1000 {
		entry := fmt.Sprint("e", i)
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, api.PodResourceClaim{Name: entry, ResourceClaimTemplateName: new("t")})
		p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, api.PodResourceClaimStatus{Name: entry, ResourceClaimName: new("p-" + entry)})
	}
	c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Namespace: p.Namespace, Name: "another"}}
	info := infoOf(t, p)
	if n := testing.AllocsPerRun(10, func() {
		if devices.MayName(info, c) {
			t.Error("the pod may name another claim")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
