package devices

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/scheduling"
)

type review19Placed struct {
	pod  *framework.PodInfo
	node string
}

type review19Holder struct {
	s      *framework.Snapshot
	sched  *scheduling.Scheduler
	placed map[string]review19Placed
	marks  []framework.Mark
	before []map[string]review19Placed
}

// TestReview19Flights places, writes, releases and removes pods with claims, templates and extended
// resources, in transactions and forks, while slices and claims come and go. No device is given
// twice, and the state always counts right.
func TestReview19Flights(t *testing.T) {
	given := 0
	for seed := range 120 {
		r := rand.New(rand.NewPCG(21, uint64(seed)))
		var cases []*golden.DeviceCase
		var pods []*api.Pod
		for i := range 4 {
			c := NewCase(r, fmt.Sprint(i))
			if chance(r, 2) {
				widen(r, c)
			}
			cases = append(cases, c)
			for _, step := range c.Steps {
				if step.Pod != nil {
					p := api.Clone(step.Pod)
					p.Name, p.UID = fmt.Sprint("p", len(pods)), api.UID(fmt.Sprint("uid-p", len(pods)))
					if chance(r, 2) {
						p.Status.ResourceClaimStatuses = nil
						p.Spec.ResourceClaims = nil
						for k := range 1 + r.IntN(2) {
							p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, api.PodResourceClaim{Name: fmt.Sprint("e", k), ResourceClaimTemplateName: new(fmt.Sprint("t", r.IntN(6)))})
						}
					}
					pods = append(pods, p)
				}
			}
		}
		first := framework.NewSnapshot(framework.ZoneInterleaved)
		first.SetNow(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range cases[0].Nodes {
			must(first.AddNode(n))
		}
		for _, c := range cases[0].Classes {
			must(framework.Put(first, c))
		}
		for i := range 6 {
			x := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("t", i), Namespace: "default"}}
			x.Spec.Spec = newClaim(r, "x").Spec
			must(framework.Put(first, x))
		}
		build := func() *scheduling.Scheduler {
			sched, err := scheduling.New(scheduling.Kubernetes137())
			must(err)
			return sched
		}
		sides := []*review19Holder{{s: first, sched: build(), placed: map[string]review19Placed{}}}
		log := ""
		for range 200 {
			x := sides[r.IntN(len(sides))]
			c := cases[r.IntN(len(cases))]
			op := ""
			switch k := r.IntN(34); {
			case k < 7 && len(c.Slices) > 0:
				o := c.Slices[r.IntN(len(c.Slices))]
				op = "put slice " + o.Name
				must(framework.Put(x.s, o))
			case k < 8:
				if list := framework.List[api.ResourceSlice](x.s); len(list) > 0 {
					op = "delete slice"
					framework.Delete[api.ResourceSlice](x.s, list[r.IntN(len(list))].Name)
				}
			case k < 12 && len(c.Claims) > 0:
				if o := c.Claims[r.IntN(len(c.Claims))]; o.Status.Allocation == nil {
					op = "put claim " + o.Name
					must(framework.Put(x.s, o))
				}
			case k < 13:
				if list := framework.List[api.ResourceClaim](x.s); len(list) > 0 {
					key := list[r.IntN(len(list))].Key()
					op = "delete claim " + key
					framework.Delete[api.ResourceClaim](x.s, key)
				}
			case k < 21:
				p := pods[r.IntN(len(pods))]
				if _, ok := x.placed[p.Name]; ok {
					break
				}
				pod, err := x.s.NewPodInfo(p)
				must(err)
				op = "place " + p.Name
				if d, err := x.sched.Place(x.s, pod); err == nil {
					x.placed = maps.Clone(x.placed)
					x.placed[p.Name] = review19Placed{pod, d.Node}
					op += " on " + d.Node
				}
			case k < 24:
				if names := slices.Sorted(maps.Keys(x.placed)); len(names) > 0 {
					name := names[r.IntN(len(names))]
					h := x.placed[name]
					op = "release " + name
					if chance(r, 2) && len(x.marks) == 0 {
						op = "remove " + name
						must(x.s.RemovePod(h.pod, h.node))
					} else {
						must(x.sched.Release(x.s, h.pod, h.node))
					}
					x.placed = maps.Clone(x.placed)
					delete(x.placed, name)
				}
			case k < 27:
				if names := slices.Sorted(maps.Keys(x.placed)); len(names) > 0 {
					name := names[r.IntN(len(names))]
					h := x.placed[name]
					op = "write " + name
					for _, dc := range filter.DeviceClaimsOf(x.s, h.pod) {
						w, err := dc.Write(framework.Lookup[api.ResourceClaim](x.s, dc.Claim.Key()), h.pod.Pod, x.s.Now())
						if err != nil {
							continue
						}
						if dc.Entry != "" {
							w.Name, w.UID = w.Name+"made-"+name+strings.Trim(dc.Entry, "<>"), api.UID("made-"+name+dc.Entry)
						}
						must(framework.Put(x.s, w))
					}
				}
			case k < 29:
				op = "begin"
				x.marks, x.before = append(x.marks, x.s.Begin()), append(x.before, x.placed)
			case k < 32 && len(x.marks) > 0:
				n := len(x.marks) - 1
				if op = "rollback"; chance(r, 3) {
					op = "commit"
					x.s.Commit(x.marks[n])
				} else {
					x.s.Rollback(x.marks[n])
					x.placed = x.before[n]
				}
				x.marks, x.before = x.marks[:n], x.before[:n]
			case k < 33 && len(sides) < 3:
				op = "fork"
				sides = append(sides, &review19Holder{s: x.s.Fork(), sched: build(), placed: x.placed})
			}
			if op == "" {
				continue
			}
			log += op + "; "
			for i, y := range sides {
				if err := y.s.Check(); err != nil && !strings.Contains(err.Error(), "{n:0 ") {
					t.Fatalf("history %d, side %d: Check: %v\nhistory: %s", seed, i, err, log)
				}
				owner := map[string]string{}
				add := func(who string, c *api.ResourceClaim) {
					if c.Status.Allocation == nil {
						return
					}
					for _, d := range c.Status.Allocation.Devices.Results {
						if d.AdminAccess != nil || d.ShareID != nil {
							continue
						}
						id := d.Driver + "/" + d.Pool + "/" + d.Device
						if owner[id] != "" {
							t.Fatalf("history %d, side %d: device %s is given to %s and %s\nhistory: %s", seed, i, id, owner[id], who, log)
						}
						owner[id] = who
						given++
					}
				}
				for _, c := range framework.List[api.ResourceClaim](y.s) {
					add("claim "+c.Key(), c)
				}
				for name, h := range y.placed {
					for _, dc := range filter.DeviceClaimsOf(y.s, h.pod) {
						add("pod "+name+" "+dc.Entry, dc.Claim)
					}
				}
			}
		}
	}
	t.Logf("%d devices were seen in use", given)
}
