package gang_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// An attempt is refused if the pods of a group differ in what all must have: those that
// wait, and those that are on nodes.
func TestAttemptRefusesMixedPods(t *testing.T) {
	never := api.PreemptNever
	for _, tt := range []struct {
		name   string
		change func(*api.Pod)
		want   string
	}{
		{"scheduler", func(p *api.Pod) { p.Spec.SchedulerName = "other" }, "should have the same .spec.schedulerName set"},
		{"priority", func(p *api.Pod) { p.Spec.Priority = new(int32) }, "should have the same priority as the pod group's priority, got 0 and 5"},
		{"preemption policy", func(p *api.Pod) { p.Spec.PreemptionPolicy = &never }, "should have the same preemption policy"},
		{"none", func(*api.Pod) {}, ""},
	} {
		for _, present := range []bool{false, true} {
			s := racks(2)
			pod := func(name string) *api.Pod {
				return api.MakePod(name).Scheduler(scheduling.DefaultName).Requests("1", "1Gi").Priority(5).Obj()
			}
			odd := pod("odd")
			tt.change(odd)
			g := &gang.Group{Name: "g", Priority: 5, Pods: []*framework.PodInfo{info(s, pod("a"))}}
			if x := info(s, odd); present {
				if err := s.AddPod(x, "r0-0"); err != nil {
					t.Fatal(err)
				}
				g.Present = []gang.Member{{Pod: x, Node: "r0-0"}}
			} else {
				g.Pods = append(g.Pods, x)
			}
			c, err := placer(gang.Rules{}).Attempt(s, g)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				if c.Condition.Status != api.ConditionTrue {
					t.Errorf("%s, present %t: %+v, want success", tt.name, present, c.Condition)
				}
				continue
			}
			if c.Condition.Reason != api.PodGroupReasonSchedulerError || !strings.Contains(c.Condition.Message, tt.want) || c.Outcome != nil || c.Pods[0].Node != "" {
				t.Errorf("%s, present %t: %+v, want an error that says %q", tt.name, present, c.Condition, tt.want)
			}
		}
	}
}

// A pod that fitted waits for the victims to leave, or for its group.
func TestAttemptTellsPodsThatFitted(t *testing.T) {
	for _, tt := range []struct {
		priority int32 // of the pod in the way
		fitted   string
		second   string // the node that the second pod is nominated to
	}{
		{0, "%s", "r0-1"},
		{5, "pod group is unschedulable, %s", ""},
	} {
		s := racks(2)
		if err := s.AddPod(info(s, api.MakePod("old").Requests("4", "1Gi").Priority(tt.priority).Obj()), "r0-1"); err != nil {
			t.Fatal(err)
		}
		g := &gang.Group{Name: "g", Priority: 5, Min: 3}
		for i := range 3 {
			b := api.MakePod(fmt.Sprint("m-", i)).Requests([]string{"3", "3", "1"}[i], "1Gi").Priority(5)
			g.Pods = append(g.Pods, info(s, b.Obj()))
		}
		c, err := placer(gang.Rules{}).Attempt(s, g)
		if err != nil || c.Condition.Reason != api.PodGroupReasonUnschedulable {
			t.Fatalf("Attempt = %+v, %v, want one that fails", c, err)
		}
		want := fmt.Sprintf(tt.fitted, c.Condition.Message)
		fitted := 0
		for _, p := range c.Pods {
			switch {
			case p.Reason != api.PodReasonUnschedulable:
				t.Errorf("%s: reason %q, want %s", p.Pod.Pod.Name, p.Reason, api.PodReasonUnschedulable)
			case p.Message == want:
				fitted++
			case !strings.HasPrefix(p.Message, "0/2 nodes are available") && p.Message != c.Outcome.Text:
				t.Errorf("%s: message %q, want %q, that of its filters, or %q", p.Pod.Pod.Name, p.Message, want, c.Outcome.Text)
			}
		}
		if fitted == 0 || c.Pods[0].Message != want {
			t.Errorf("priority %d: the first pod fitted and says %q, want %q", tt.priority, c.Pods[0].Message, want)
		}
		if c.Pods[1].Nominated != tt.second {
			t.Errorf("priority %d: the second pod is nominated to %q, want %q", tt.priority, c.Pods[1].Nominated, tt.second)
		}
	}
}

// The plugin that gives claims back says so of a group anywhere, and not of one that a domain
// must hold.
func TestAttemptTellsOfClaims(t *testing.T) {
	const said = ", deallocation and deletion of ResourceClaims completed"
	never := api.PreemptNever
	with, without := scheduling.Kubernetes137(), scheduling.Kubernetes137()
	without.PostFilter = slices.DeleteFunc(slices.Clone(without.PostFilter), func(p framework.Plugin) bool { return p.Name() == "DynamicResources" })
	for _, tt := range []struct {
		profile scheduling.Profile
		levels  []gang.Level
		want    bool
	}{{with, nil, true}, {with, []gang.Level{{Key: rack}}, false}, {without, nil, false}} {
		s := racks(1)
		pod := api.MakePod("large").Requests("40", "1Gi").Priority(5).Obj()
		pod.Spec.PreemptionPolicy = &never
		c, err := placerOf(tt.profile, gang.Rules{}).Attempt(s, &gang.Group{Name: "g", Priority: 5, Pods: []*framework.PodInfo{info(s, pod)}, Topology: tt.levels})
		if err != nil || c.Eviction == nil || c.Eviction.Status != framework.Unschedulable {
			t.Fatalf("Attempt = %+v, %v, want one that preempts in vain", c, err)
		}
		if got := strings.Contains(c.Condition.Message, said); got != tt.want {
			t.Errorf("levels %v: %q, want the words about claims: %t", tt.levels, c.Condition.Message, tt.want)
		}
	}
}

// If the members on nodes rule out every domain, that is an error of the group, and nothing
// is preempted.
func TestAttemptOfStuckGroup(t *testing.T) {
	s := racks(1, 1)
	g := &gang.Group{Name: "g", Priority: 5, Topology: []gang.Level{{Key: rack}}, Pods: []*framework.PodInfo{info(s, api.MakePod("new").Requests("1", "1Gi").Priority(5).Obj())}}
	for i, node := range []string{"r0-0", "r1-0"} {
		x := info(s, api.MakePod(fmt.Sprint("old-", i)).Requests("1", "1Gi").Priority(5).Obj())
		if err := s.AddPod(x, node); err != nil {
			t.Fatal(err)
		}
		g.Present = append(g.Present, gang.Member{Pod: x, Node: node})
	}
	c, err := placer(gang.Rules{}).Attempt(s, g)
	if err != nil {
		t.Fatal(err)
	}
	if c.Outcome.Status != gang.Stuck || c.Eviction != nil || c.Condition.Reason != api.PodGroupReasonSchedulerError || c.Pods[0].Message != c.Outcome.Text {
		t.Errorf("Attempt = %+v, want the error of a stuck group, without preemption", c)
	}
}
