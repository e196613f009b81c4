package devices

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/scheduling"
)

// A review19Side is a snapshot with a scheduler that has followed it.
type review19Side struct {
	s     *framework.Snapshot
	sched *scheduling.Scheduler
	marks []framework.Mark
}

func review19All[T api.Object](s *framework.Snapshot, to *framework.Snapshot) error {
	var errs []error
	for _, x := range framework.List[T](s) {
		errs = append(errs, framework.Put(to, x))
	}
	return errors.Join(errs...)
}

func review19Fresh(s *framework.Snapshot) (*framework.Snapshot, error) {
	f := framework.NewSnapshot(framework.ZoneInterleaved)
	f.SetNow(s.Now())
	for _, n := range s.All() {
		if err := f.AddNode(n.Node); err != nil {
			return nil, err
		}
	}
	return f, errors.Join(review19All[api.DeviceClass](s, f), review19All[api.ResourceSlice](s, f), review19All[api.DeviceTaintRule](s, f), review19All[api.ResourceClaim](s, f))
}

// review19Answer tells what the plugin and the scheduler say of a pod.
func review19Answer(s *framework.Snapshot, sched *scheduling.Scheduler, p *api.Pod) string {
	pod, err := s.NewPodInfo(p)
	if err != nil {
		return err.Error()
	}
	var c framework.Cycle
	c.Reset(pod, s, 0, 0)
	plugin := filter.DynamicResources{MaxSteps: 20_000}
	bound, status := plugin.PreFilter(&c)
	text := "PreFilter " + fmt.Sprint(status)
	if status.IsSuccess() {
		for i := range 5 {
			if n := s.Node(fmt.Sprint("n", i)); n != nil {
				text += "\n" + n.Name() + ": " + fmt.Sprint(bound.Filter.Filter(pod, n))
			}
		}
	}
	d, err := sched.Schedule(s, pod)
	if err != nil && strings.Contains(text, "Error") {
		return text // which node's error comes depends on where the search begins
	}
	return text + fmt.Sprintf("\nSchedule: %d feasible, %v", d.Feasible, err)
}

// TestReview19History makes random changes of objects, nodes, transactions and forks, and asks
// beside a snapshot that is made anew from the objects.
func TestReview19History(t *testing.T) {
	histories := 150
	if n, err := strconv.Atoi(os.Getenv("HISTORIES")); err == nil {
		histories = n
	}
	asked, placed := 0, 0
	for seed := range histories {
		r := rand.New(rand.NewPCG(20, uint64(seed)))
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
					pods = append(pods, step.Pod)
				}
			}
		}
		profile := scheduling.Kubernetes137()
		build := func() *scheduling.Scheduler {
			sched, err := scheduling.New(profile)
			if err != nil {
				t.Fatal(err)
			}
			return sched
		}
		first, err := cases[0].Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		first.SetNow(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		sides := []*review19Side{{s: first, sched: build()}}
		log := ""
		for step := range 120 {
			x := sides[r.IntN(len(sides))]
			c := cases[r.IntN(len(cases))]
			op := ""
			switch k := r.IntN(30); {
			case k < 8 && len(c.Slices) > 0:
				o := c.Slices[r.IntN(len(c.Slices))]
				op = "put slice " + o.Name
				err = framework.Put(x.s, o)
			case k < 11:
				if list := framework.List[api.ResourceSlice](x.s); len(list) > 0 {
					name := list[r.IntN(len(list))].Name
					op = "delete slice " + name
					framework.Delete[api.ResourceSlice](x.s, name)
				}
			case k < 15 && len(c.Claims) > 0:
				o := c.Claims[r.IntN(len(c.Claims))]
				op = "put claim " + o.Name
				err = framework.Put(x.s, o)
			case k < 17:
				if list := framework.List[api.ResourceClaim](x.s); len(list) > 0 {
					key := list[r.IntN(len(list))].Key()
					op = "delete claim " + key
					framework.Delete[api.ResourceClaim](x.s, key)
				}
			case k < 18:
				o := c.Classes[r.IntN(len(c.Classes))]
				op = "put class " + o.Name
				err = framework.Put(x.s, o)
			case k < 19:
				if chance(r, 3) {
					o := c.Classes[r.IntN(len(c.Classes))]
					op = "delete class " + o.Name
					framework.Delete[api.DeviceClass](x.s, o.Name)
				}
			case k < 21 && len(c.TaintRules) > 0:
				o := c.TaintRules[r.IntN(len(c.TaintRules))]
				op = "put rule " + o.Name
				err = framework.Put(x.s, o)
			case k < 22 && len(c.TaintRules) > 0:
				o := c.TaintRules[r.IntN(len(c.TaintRules))]
				op = "delete rule " + o.Name
				framework.Delete[api.DeviceTaintRule](x.s, o.Name)
			case k < 24 && len(x.marks) == 0:
				o := c.Nodes[r.IntN(len(c.Nodes))]
				switch {
				case x.s.Node(o.Name) == nil:
					op = "add node " + o.Name
					err = x.s.AddNode(o)
				case chance(r, 3) && x.s.Len() > 1:
					op = "remove node " + o.Name
					err = x.s.RemoveNode(o.Name)
				default:
					op = "update node " + o.Name
					err = x.s.UpdateNode(o)
				}
			case k < 26:
				op = "begin"
				x.marks = append(x.marks, x.s.Begin())
			case k < 28 && len(x.marks) > 0:
				n := len(x.marks) - 1
				if op = "rollback"; chance(r, 3) {
					op = "commit"
					x.s.Commit(x.marks[n])
				} else {
					x.s.Rollback(x.marks[n])
				}
				x.marks = x.marks[:n]
			case k < 29 && len(sides) < 3:
				op = "fork"
				sides = append(sides, &review19Side{s: x.s.Fork(), sched: build()})
			}
			if err != nil {
				t.Fatalf("history %d: %s: %v", seed, op, err)
			}
			if op == "" {
				continue
			}
			log += op + "; "
			for _, y := range sides {
				if y != x && !chance(r, 3) || y == x && chance(r, 3) {
					continue // ask not after every change
				}
				fresh, err := review19Fresh(y.s)
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					p := pods[r.IntN(len(pods))]
					want := review19Answer(fresh, build(), p)
					got := review19Answer(y.s, y.sched, p)
					asked++
					if got != want {
						t.Fatalf("history %d, step %d, pod %s:\ngot\n%s\nwant\n%s\nhistory: %s", seed, step, p.Name, got, want, log)
					}
					if len(want) > 0 && want[len(want)-5:] == "<nil>" {
						placed++
					}
				}
				if err := y.s.Check(); err != nil && !strings.Contains(err.Error(), "{n:0 ") { // see TestReview19CheckZero
					t.Fatalf("history %d, step %d: Check: %v\nhistory: %s", seed, step, err, log)
				}
			}
		}
	}
	t.Logf("asked %d times, %d with a node", asked, placed)
}
