package filter_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// deviceSnapshot returns a cluster of one node with four devices, a class, and a template
// for a claim of one device.
func deviceSnapshot() *framework.Snapshot {
	s := framework.NewSnapshot(framework.Arrival)
	if err := errors.Join(
		s.AddNode(api.MakeNode("n1", "8", "32Gi").Obj()), framework.Put(s, gpuClass()),
		framework.Put(s, gpuSlice("n1", 4)), framework.Put(s, gpuTemplate(1)),
	); err != nil {
		panic(err)
	}
	return s
}

// A pod names a template whose claim has not been made. The plugin chooses a device, and
// says what a driver has to write.
func ExampleDynamicResources() {
	s := deviceSnapshot()
	pod, err := s.NewPodInfo(gpuPod("train", 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	var c framework.Cycle
	c.Reset(pod, s, 0, 0)
	p := filter.DynamicResources{}
	bound, _ := p.PreFilter(&c)
	fmt.Println(bound.Filter.Filter(pod, s.Node("n1")), p.Reserve(&c, s.Node("n1")))

	var claims filter.DeviceClaims
	claims, _ = filter.DeviceClaimsKey.Get(&c)
	var claim filter.DeviceClaim = claims.Claims[0]
	next, err := claim.Write(nil, pod.Pod, time.Unix(0, 0))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range next.Status.Allocation.Devices.Results {
		fmt.Println(claim.Entry, r.Request, r.Driver+"/"+r.Pool+"/"+r.Device)
	}
	// Output:
	// Success Success
	// gpu gpu gpu.example.com/n1/gpu-0
}

// A container requests the extended resource that a class stands behind.
func ExampleExtendedResourceMapping() {
	s := deviceSnapshot()
	pod, err := s.NewPodInfo(api.MakePod("train").Request("example.com/gpu", "2").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	var c framework.Cycle
	c.Reset(pod, s, 0, 0)
	fmt.Println(filter.DynamicResources{}.Reserve(&c, s.Node("n1")))
	claims, _ := filter.DeviceClaimsKey.Get(&c)
	var m filter.ExtendedResourceMapping = claims.Mappings[0]
	fmt.Println(m.Resource, m.Request, len(claims.Claims[0].Claim.Status.Allocation.Devices.Results))
	// Output:
	// Success
	// example.com/gpu container-0-request-0 2
}

// words is a compiler for another language: the words that a device's model must have.
type words struct{}

type wordList []string

func (words) CompileDeviceSelector(expression string) (api.CompiledDeviceSelector, error) {
	return wordList(strings.Fields(expression)), nil
}

func (w wordList) MatchesDevice(_ string, d *api.Device) (bool, error) {
	model := d.Attributes["model"].StringValue
	for _, word := range w {
		if model == nil || !strings.Contains(*model, word) {
			return false, nil
		}
	}
	return true, nil
}

// DeviceSelectors replaces the built-in compiler of selectors.
func ExampleDynamicResources_deviceSelectors() {
	s := deviceSnapshot()
	class := gpuClass()
	class.Spec.Selectors[0].CEL.Expression = "a100"
	if err := framework.Put(s, class); err != nil {
		fmt.Println(err)
		return
	}
	pod, err := s.NewPodInfo(gpuPod("train", 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	var c framework.Cycle
	c.Reset(pod, s, 0, 0)
	bound, _ := filter.DynamicResources{DeviceSelectors: words{}}.PreFilter(&c)
	fmt.Println(bound.Filter.Filter(pod, s.Node("n1")))
	// Output: Success
}

// A node has a large device and a small one. FirstFit gives the pod the first, LeastLeftover
// the one that leaves less unused.
func ExampleDynamicResources_leastLeftover() {
	s := deviceSnapshot()
	slice := gpuSlice("n1", 2)
	slice.Spec.Devices[0].Capacity = map[string]api.DeviceCapacity{"memory": {Value: resource.MustParse("80Gi")}}
	if err := framework.Put(s, slice); err != nil {
		fmt.Println(err)
		return
	}
	pod, err := s.NewPodInfo(gpuPod("infer", 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, choice := range []filter.DeviceChoice{filter.FirstFit, filter.LeastLeftover} {
		fmt.Println(filter.DynamicResources{Choice: choice}.Reserves(s, pod, s.Node("n1")))
	}
	// Output:
	// gpu.example.com/n1 gpu-0
	// gpu.example.com/n1 gpu-1
}
