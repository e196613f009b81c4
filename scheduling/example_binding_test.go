package scheduling_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// Approval makes pods wait until they are approved; its PreBind prepares them.
type Approval struct{}

func (Approval) Name() string { return "Approval" }

func (Approval) Permit(context.Context, *framework.Cycle, string) (framework.Status, time.Duration) {
	return framework.NewStatus(framework.Wait, framework.Text("for approval")), time.Minute
}

func (Approval) PreBind(_ context.Context, c *framework.Cycle, node string) framework.Status {
	fmt.Println("preparing", node, "for", c.Pod.Pod.Name)
	return framework.Status{}
}

// The driver of a scheduler takes a placed pod through its binding. Package
// lifecycle does all of this.
func ExampleBinding() {
	s := twoNodes()
	sched := scheduler(scheduling.Profile{Permit: []framework.Plugin{Approval{}}, PreBind: []framework.Plugin{Approval{}}})
	pod := pending(s, "web", "1", "1Gi")
	d, err := sched.Place(s, pod)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	var binding *scheduling.Binding = sched.Binding(pod, d)
	waits, err := binding.Permit(ctx)
	fmt.Println(waits, err)
	fmt.Println(binding.PreBind(ctx, false))
	bound, err := binding.Bind(ctx)
	fmt.Println("bound by a plugin:", bound, err)
	fmt.Println(binding.PostBind(ctx))
	// Output:
	// [{Approval 1m0s}] <nil>
	// preparing small for web
	// <nil>
	// bound by a plugin: false <nil>
	// <nil>
}

// A plugin says how long the pod waits; the driver must run the timer.
func ExamplePermitWait() {
	s := twoNodes()
	pod := pending(s, "web", "1", "1Gi")
	sched := scheduler(scheduling.Profile{Permit: []framework.Plugin{Approval{}}})
	waits, err := sched.Binding(pod, scheduling.Decision{Node: "large"}).Permit(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	var first scheduling.PermitWait = waits[0]
	fmt.Println(first.Plugin, "waits", first.Timeout)
	// Output: Approval waits 1m0s
}

// FilterNodes answers for single nodes, outside any decision.
func ExampleNodeVerdict() {
	s := twoNodes()
	verdicts, err := scheduler(byResources()).FilterNodes(s, pending(s, "web", "4", "1Gi"), []*framework.NodeInfo{s.Node("small"), s.Node("large")})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range verdicts {
		var v scheduling.NodeVerdict = v
		fmt.Println(v.Plugin, v.Status)
	}
	// Output:
	// NodeResourcesFit UnschedulableAndUnresolvable: Insufficient cpu
	//  Success
}

// inventory is an extender with its own filter and scores: here a list of nodes
// under repair, and a preference.
func inventory() scheduling.Extender {
	return scheduling.Extender{
		Name:   "inventory",
		Weight: 20,
		Filter: func(_ context.Context, _ *framework.PodInfo, nodes []*framework.NodeInfo) (scheduling.ExtenderVerdict, error) {
			v := scheduling.ExtenderVerdict{Failed: map[string]string{}}
			for _, n := range nodes {
				if n.Name() == "large" {
					v.Failed[n.Name()] = "under repair"
				} else {
					v.Nodes = append(v.Nodes, n.Name())
				}
			}
			return v, nil
		},
		Prioritize: func(_ context.Context, _ *framework.PodInfo, nodes []*framework.NodeInfo) ([]scheduling.HostScore, error) {
			return []scheduling.HostScore{{Host: "small", Score: 7}}, nil
		},
	}
}

// Leave functions that you do not need nil. Package extender makes an Extender of an
// HTTP server.
func ExampleExtender() {
	s := twoNodes()
	p := byResources()
	p.Extenders = []scheduling.Extender{inventory()}
	sched := scheduler(p)
	d, err := sched.Schedule(s, pending(s, "web", "1", "1Gi"))
	fmt.Println(d.Node, err)
	_, err = sched.Schedule(s, pending(s, "big", "4", "1Gi"))
	fmt.Println(err)
	// Output:
	// small <nil>
	// 0/2 nodes are available: 1 Insufficient cpu, 1 under repair.
}

// Extenders score from 0 to 10; the weight makes these scores comparable to the
// plugins' scores.
func ExampleHostScore() {
	s := twoNodes()
	smallest := scheduling.Extender{
		Name: "smallest-first", Weight: 10,
		Prioritize: func(_ context.Context, _ *framework.PodInfo, nodes []*framework.NodeInfo) (scores []scheduling.HostScore, err error) {
			for _, n := range nodes {
				scores = append(scores, scheduling.HostScore{Host: n.Name(), Score: 10 - n.Allocatable.At(resource.IndexCPU)/1000})
			}
			return scores, nil
		},
	}
	sched := scheduler(scheduling.Profile{Extenders: []scheduling.Extender{smallest}})
	d, err := sched.Schedule(s, pending(s, "web", "1", "1Gi"))
	fmt.Println(d.Node, d.Score, err)
	// Output: small 800 <nil>
}

// An extender that fails and is not ignorable fails the decision.
func ExampleExtenderError() {
	s := twoNodes()
	p := byResources()
	p.Extenders = []scheduling.Extender{{
		Name: "inventory",
		Filter: func(context.Context, *framework.PodInfo, []*framework.NodeInfo) (scheduling.ExtenderVerdict, error) {
			return scheduling.ExtenderVerdict{}, errors.New("the database is away")
		},
	}}
	_, err := scheduler(p).Schedule(s, pending(s, "web", "1", "1Gi"))
	var failed *scheduling.ExtenderError
	fmt.Println(errors.As(err, &failed))
	fmt.Println(failed.Extender, failed.Point, failed.Err)
	// Output:
	// true
	// inventory Filter the database is away
}

// A full registration; RegisterValue and RegisterTyped are shorter.
func ExampleRegistration() {
	r := scheduling.NewRegistry()
	err := r.Register("Quiet", scheduling.Registration{
		Like: Quiet{},
		New: func(decoded any, _ framework.Handle) (framework.Plugin, error) {
			if decoded == nil {
				return Quiet{Label: "noise"}, nil
			}
			return nil, fmt.Errorf("takes no arguments, got %s", decoded)
		},
	})
	fmt.Println(r.Names(), err)
	p, err := r.Make("Quiet", nil, nil)
	fmt.Printf("%+v %v\n", p, err)
	// Output:
	// [Quiet] <nil>
	// {Label:noise} <nil>
}
