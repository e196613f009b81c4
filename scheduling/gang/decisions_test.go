package gang_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// An attempt ends with an error if it would make more decisions than it may, however many
// workers there are; a group that needs as many as it may is refused as without the bound.
func TestDecisionsAreBounded(t *testing.T) {
	const domains, pods = 30, 20
	var nodes []*api.Node
	for i := range domains {
		nodes = append(nodes, api.MakeNode(fmt.Sprint("n", i), "1", "16Gi").Labels(rack, fmt.Sprint("r", i)).Obj())
	}
	for _, workers := range []int{0, 4} {
		for _, decisions := range []int{-1, 0, domains * pods, domains*pods - 1, pods} {
			s := cluster(nodes)
			g := &gang.Group{Name: "g", Min: 1, Topology: []gang.Level{{Key: rack}}}
			for i := range pods {
				g.Pods = append(g.Pods, info(s, api.MakePod(fmt.Sprint("p", i)).Requests("2", fmt.Sprint(1_000_000+i)).Obj())) // fits nowhere
			}
			c, err := placer(gang.Rules{Workers: workers, Decisions: decisions}).Attempt(s, g)
			if err != nil {
				t.Fatal(err)
			}
			text := "0/30 placements are available"
			reason := api.PodGroupReasonUnschedulable
			if decisions > 0 && decisions < domains*pods {
				text = fmt.Sprintf("group g: pods: \"20\": are too many to try in each domain, or ask for devices that are too hard to find: more than %d decisions", decisions)
				reason = api.PodGroupReasonSchedulerError
			}
			if c.Condition.Reason != reason || !strings.Contains(c.Condition.Message, text) {
				t.Errorf("%d workers, %d decisions: %s, %q; want %s, %q", workers, decisions, c.Condition.Reason, c.Condition.Message, reason, text)
			}
		}
	}
	// One decision for each pod may always be made.
	s := cluster(nodes)
	g := &gang.Group{Name: "g", Min: 1}
	for i := range pods {
		g.Pods = append(g.Pods, info(s, api.MakePod(fmt.Sprint("p", i)).Requests("1", fmt.Sprint(1_000_000+i)).Obj()))
	}
	var invalid *api.InvalidError
	if out, err := placer(gang.Rules{Decisions: 1}).Place(s, g); errors.As(err, &invalid) || err != nil || len(out.Placed) != pods {
		t.Errorf("Place = %+v, %v; want all pods placed", out, err)
	}
}

// The groups of a tree have their decisions together.
func TestDecisionsOfTreesAreBounded(t *testing.T) {
	const domains, groups, pods = 30, 3, 20
	var nodes []*api.Node
	for i := range domains {
		nodes = append(nodes, api.MakeNode(fmt.Sprint("n", i), "100", "16Gi").Labels(rack, fmt.Sprint("r", i)).Obj())
	}
	for _, fits := range []bool{true, false} {
		all := domains * groups * (1 + 2*pods) // to try a domain, and to take it
		if !fits {
			all -= domains * pods // the last group takes none
		}
		for _, decisions := range []int{-1, 0, all, all - 1} {
			s := cluster(nodes)
			set := &gang.Set{Name: "s", Topology: rack}
			for i := range groups {
				g := &gang.Group{Name: fmt.Sprint("g", i)}
				for k := range pods {
					cpu := "1"
					if !fits && i == groups-1 && k == pods-1 {
						cpu = "200"
					}
					g.Pods = append(g.Pods, info(s, api.MakePod(fmt.Sprint("p", i, "-", k)).Requests(cpu, fmt.Sprint(1_000_000+i*pods+k)).Obj()))
				}
				set.Children = append(set.Children, g)
			}
			out, err := placer(gang.Rules{Decisions: decisions}).PlaceSet(s, set)
			if decisions == all-1 {
				if err == nil || !strings.Contains(err.Error(), `set s: children: "3": have too many pods to try in each domain: more than `+fmt.Sprint(decisions)) {
					t.Errorf("fits %t, %d decisions: %v, want an error", fits, decisions, err)
				}
				continue
			}
			if err != nil || (out.Status == gang.Placed) != fits {
				t.Errorf("fits %t, %d decisions: %v", fits, decisions, err)
			}
		}
	}
}

// countedFilter lets all nodes pass, and counts how often it is bound.
type countedFilter struct{ bound *int }

func (countedFilter) Name() string { return "Counted" }

func (countedFilter) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode}
}

func (f countedFilter) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	*f.bound++
	return framework.PreFiltered{}, framework.SkipStatus()
}

// A pod that may return is checked with the group's pods on its node, also if these all
// differ: PreFilters are not asked about all of them for each.
func TestReturnsToPodsThatDiffer(t *testing.T) {
	const n, each = 40, 10
	bound := 0
	profile := scheduling.Kubernetes137()
	profile.Filter = append(profile.Filter, countedFilter{&bound})
	sched, err := scheduling.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	p, err := gang.New(sched, gang.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	var nodes []*api.Node
	var old []*api.Pod
	g := &gang.Group{Name: "g", Min: n, Priority: 5}
	for i := range n {
		node := fmt.Sprint("n", i)
		nodes = append(nodes, api.MakeNode(node, "20", "64Gi").Obj())
		for k := range each {
			old = append(old, api.MakePod(fmt.Sprint("old-", i, "-", k)).Requests("2", "1Gi").Priority(0).Node(node).Obj())
		}
	}
	s := cluster(nodes, old...)
	for i := range n {
		g.Pods = append(g.Pods, info(s, api.MakePod(fmt.Sprint("p", i)).Requests("9", fmt.Sprint(1_000_000+i)).Priority(5).Obj()))
	}
	e, err := p.Preempt(s, g)
	if err != nil || len(e.Victims()) != n*5 {
		t.Fatalf("%d victims, %v; want 5 of 10 pods of each node to leave", len(e.Victims()), err)
	}
	if most := 10 * (n + n*each); bound > most {
		t.Errorf("PreFilters were asked %d times for %d pods and %d that may return, want %d at most", bound, n, n*each, most)
	}
}
