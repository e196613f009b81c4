package framework_test

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

func ExampleStatus() {
	s := framework.UnschedulableStatus("node(s) had no free bay")
	fmt.Println(s.IsSuccess(), s.Code(), s.Reasons())
	fmt.Println(framework.Status{}.IsSuccess(), framework.Status{})
	fmt.Println(framework.AsStatus(errors.New("the crane is broken")))
	// Output:
	// false Unschedulable [node(s) had no free bay]
	// true Success
	// Error: the crane is broken
}

func ExampleCode() {
	for c := framework.Success; c <= framework.Pending; c++ {
		fmt.Println(uint8(c), c)
	}
	// Output:
	// 0 Success
	// 1 Error
	// 2 Unschedulable
	// 3 UnschedulableAndUnresolvable
	// 4 Wait
	// 5 Skip
	// 6 Pending
}

// draft is a reason with a number: the text is made only when someone reads it.
type draft struct{ berth string }

func (d draft) Reasons(metres uint64) []string {
	return []string{fmt.Sprintf("berth %s lacks %d m of depth", d.berth, metres)}
}

func ExampleReasoner() {
	var why framework.Reasoner = draft{"A7"}
	s := framework.DetailedStatus(framework.Unschedulable, why, 3)
	fmt.Println(s.Message())
	// Output: berth A7 lacks 3 m of depth
}

func ExampleText() {
	const full framework.Text = "the berth is full"
	fmt.Println(framework.NewStatus(framework.Unschedulable, full).Same(framework.UnschedulableStatus("the berth is full")))
	// Output: true
}

func ExampleTexts() {
	why := framework.Texts("too long", "too deep") // make it once and keep it
	fmt.Println(framework.NewStatus(framework.UnschedulableAndUnresolvable, why).Message())
	// Output: too long, too deep
}

// waitKey is a value that two plugins share in a cycle.
var waitKey = framework.NewKey[int]("minutes to wait")

func ExampleKey() {
	var c framework.Cycle
	waitKey.Set(&c, 5)
	minutes, ok := waitKey.Get(&c)
	fmt.Println(minutes, ok)

	c.Reset(nil, nil, 1, 0) // the next cycle
	_, ok = waitKey.Get(&c)
	fmt.Println(ok)
	// Output:
	// 5 true
	// false
}

// A runner makes one cycle and uses it for pod after pod.
func ExampleCycle() {
	s, p := twoNodes()
	var c framework.Cycle
	for number := range uint64(2) {
		c.Reset(p, s, number, 0x9e3779b97f4a7c15*(number+1))
		fmt.Println(c.Number, c.Pod.Pod.Name, c.Snapshot.Len(), c.Now().IsZero())
	}
	// Output:
	// 0 web 2 true
	// 1 web 2 true
}

// What a plugin needs per cycle is allocated once.
func ExampleScratch() {
	type tally struct{ perZone map[string]int }
	var c framework.Cycle
	for range 2 {
		c.Reset(nil, nil, 0, 0)
		t := framework.Scratch[tally](&c)
		fmt.Println(t.perZone == nil)
		if t.perZone == nil {
			t.perZone = map[string]int{}
		}
		clear(t.perZone) // it still holds what the last cycle left
		t.perZone["a"]++
	}
	// Output:
	// true
	// false
}

// quayLabel is the value of a label, as a plugin would derive selectors.
var quayLabel = framework.NewPodDerived(func(p *framework.PodInfo) *string {
	fmt.Println("derived for", p.Pod.Name)
	quay := p.Pod.Labels["quay"]
	return &quay
})

func ExamplePodDerived() {
	s, _ := twoNodes()
	p, err := s.NewPodInfo(api.MakePod("ship").Labels("quay", "north").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*quayLabel.Of(p))
	fmt.Println(*quayLabel.Of(p))
	// Output:
	// derived for ship
	// north
	// north
}

// depth is what a plugin derives from a node: once for each version of it.
var depth = framework.NewNodeDerived(func(n *api.Node) *int {
	return new(len(n.Labels["depth"]))
})

func ExampleNodeDerived() {
	s, _ := twoNodes()
	fmt.Println(*depth.Of(s.Node("n1")))
	if err := s.UpdateNode(api.MakeNode("n1", "4", "32Gi").Labels("depth", "mmm").Obj()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(*depth.Of(s.Node("n1")))
	// Output:
	// 0
	// 3
}

// Pods that differ in nothing that matters are of one class.
func ExamplePodInfo_ClassKey() {
	s := framework.NewSnapshot(framework.Arrival)
	key := func(b api.PodBuilder, fields framework.PodFields) string {
		p, err := s.NewPodInfo(b.Obj())
		if err != nil {
			panic(err)
		}
		return p.ClassKey(fields)
	}
	web := api.MakePod("web-1").Labels("app", "web").Requests("100m", "1Gi")
	fields := framework.FieldRequests | framework.FieldTolerations
	fmt.Println(key(web, fields) == key(web.Name("web-2"), fields))
	fmt.Println(key(web, fields) == key(web.Requests("200m", ""), fields))
	fmt.Println(key(web, fields|framework.FieldIdentity) == key(web.Name("web-2"), fields|framework.FieldIdentity))
	// Output:
	// true
	// false
	// false
}
