package gang_test

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// Domains are tied if they take as many pods and are used as much, not if one is fuller.
func TestTiedDomains(t *testing.T) {
	for _, tt := range []struct {
		name   string
		cpu    []string // of the node of each rack
		used   []string // there
		domain string
		tied   int
	}{
		{"alike", []string{"4", "4"}, []string{"", ""}, "r0", 2},
		{"the second fuller", []string{"4", "8"}, []string{"", "4"}, "r1", 1},
		{"the first fuller", []string{"8", "4"}, []string{"4", ""}, "r0", 1},
		{"two of three alike", []string{"8", "4", "8"}, []string{"4", "", "4"}, "r0", 2},
	} {
		var nodes []*api.Node
		var pods []*api.Pod
		for i, cpu := range tt.cpu {
			name := "r" + string(rune('0'+i))
			nodes = append(nodes, api.MakeNode(name, cpu, "64Gi").Labels(rack, name).Obj())
			if tt.used[i] != "" {
				pods = append(pods, api.MakePod("old-"+name).Requests(tt.used[i], "1Gi").Node(name).Obj())
			}
		}
		for _, choice := range []gang.Choice{gang.BestFit, gang.LeastFree, gang.MostPacked} {
			s := cluster(nodes, pods...)
			out, err := placer(gang.Rules{Choice: choice}).Try(s, &gang.Group{Name: "g", Pods: workers(s, 2, "1"), Topology: []gang.Level{{Key: rack}}})
			if err != nil || out.Status != gang.Placed || out.Domain[0].Value != tt.domain || out.TiedDomains != tt.tied {
				t.Errorf("%s, %v: Try = %+v, %v, want %s, with %d tied", tt.name, choice, out, err, tt.domain, tt.tied)
			}
		}
	}
}

// A shortage is that of the node that comes closest, wherever it stands among the others.
func TestShortage(t *testing.T) {
	for _, tt := range []struct {
		free []string // CPUs by node; the pod asks for 4
		want gang.Shortage
	}{
		{[]string{"1", "3"}, gang.Shortage{Least: 1000, Nodes: 2}},
		{[]string{"3", "1"}, gang.Shortage{Least: 1000, Nodes: 2}},
		{[]string{"2", "3", "1"}, gang.Shortage{Least: 1000, Nodes: 3}},
		{[]string{"2"}, gang.Shortage{Least: 2000, Nodes: 1}},
	} {
		var nodes []*api.Node
		for i, cpu := range tt.free {
			nodes = append(nodes, api.MakeNode("n"+string(rune('0'+i)), cpu, "64Gi").Obj())
		}
		s := cluster(nodes)
		out, err := placer(gang.Rules{Choice: gang.BestFit}).Try(s, &gang.Group{Name: "g", Pods: workers(s, 1, "4")})
		if err != nil || out.Best().Missing.Resources["cpu"] != tt.want {
			t.Errorf("free %v: %+v, %v, want %+v", tt.free, out.Best().Missing, err, tt.want)
		}
	}
}

// Of evictions that are equal otherwise, the one wins whose victim started later.
func TestLaterStartLeaves(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		hours []int // after which the pod of each rack started
		want  string
	}{
		{[]int{1, 2}, "r1-0"},
		{[]int{2, 1}, "r0-0"},
		{[]int{1, 3, 2}, "r1-0"},
		{[]int{1, 1}, "r0-0"},
	} {
		var nodes []int
		for range tt.hours {
			nodes = append(nodes, 1)
		}
		s := racks(nodes...)
		for i, h := range tt.hours {
			name := "r" + string(rune('0'+i)) + "-0"
			old := info(s, api.MakePod("old-"+name).Requests("4", "1Gi").Priority(1).Node(name).Started(at.Add(time.Duration(h)*time.Hour)).Obj())
			if err := s.AddPod(old, name); err != nil {
				t.Fatal(err)
			}
		}
		pod := info(s, api.MakePod("new").Requests("4", "1Gi").Priority(10).Obj())
		e, err := placer(gang.Rules{Choice: gang.BestFit}).Preempt(s, &gang.Group{Name: "g", Pods: []*framework.PodInfo{pod}, Priority: 10, Topology: []gang.Level{{Key: rack}}})
		if err != nil || e.Status != framework.Success || len(e.Victims()) != 1 || e.Victims()[0].Node != tt.want {
			t.Errorf("started after %v hours: Preempt = %+v, %v, want the pod of %s", tt.hours, e, err, tt.want)
		}
	}
}
