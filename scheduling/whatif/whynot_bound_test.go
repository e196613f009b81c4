//go:build full

package whatif_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// TestWhyNotOfHugePods asks about pods whose remedies could be searched for hours. The error
// says that it is too much.
func TestWhyNotOfHugePods(t *testing.T) {
	if testing.Short() {
		t.Skip("its work is what a user may ask for at most, and minutes under the race detector; it has one goroutine")
	}
	for name, change := range map[string]func(*api.Container, int){
		"host ports": func(c *api.Container, i int) { c.Ports = []api.ContainerPort{{HostPort: int32(1000 + i)}} },
		"requests": func(c *api.Container, i int) {
			c.Resources.Requests = resource.List{resource.CPU: resource.Milli(int64(1000 + i))}
		},
	} {
		s := framework.NewSnapshot(framework.Arrival)
		if err := s.AddNode(api.MakeNode("a", "1", "1Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		p := api.MakePod("p").Requests("2", "2Gi").Obj()
		for i := range 800 {
			c := api.Container{Name: fmt.Sprint("c", i)}
			change(&c, i)
			p.Spec.Containers = append(p.Spec.Containers, c)
		}
		pod, err := s.NewPodInfo(p)
		if err != nil {
			t.Fatal(err)
		}
		planner, err := whatif.New(scheduling.Kubernetes137(), s)
		if err != nil {
			t.Fatal(err)
		}
		_, err = planner.WhyNot(pod, "a")
		var invalid *api.InvalidError
		if !errors.As(err, &invalid) || invalid.Object != "pod default/p" || !strings.Contains(err.Error(), "more than 20000000 steps") {
			t.Errorf("%s: error %v, want one that names the pod and the bound", name, err)
		}
	}
}

// TestWhyNotOfManySelectors asks about a pod whose claims each look through many volumes in each trial.
func TestWhyNotOfManySelectors(t *testing.T) {
	if testing.Short() {
		t.Skip("its work is what a user may ask for at most, and minutes under the race detector; it has one goroutine")
	}
	s := framework.NewSnapshot(framework.Arrival)
	node := api.MakeNode("a", "1", "1Gi").Unschedulable()
	for i := range 12 {
		node = node.Taint(fmt.Sprint("t", i, ":NoSchedule"))
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.AddNode(node.Obj()))
	must(framework.Put(s, &api.StorageClass{
		ObjectMeta: api.ObjectMeta{Name: "local"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: new(api.VolumeBindingWaitForFirstConsumer),
	}))
	for i := range 90 {
		small, err := s.NewPodInfo(api.MakePod(fmt.Sprint("small", i)).Requests("10m", "1Mi").Obj())
		must(err)
		must(s.AddPod(small, "a"))
	}
	p := api.MakePod("p").Requests("500m", "1Mi")
	for i := range 8000 {
		v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("v", i), Labels: map[string]string{"n": fmt.Sprint(i)}}}
		v.Spec.StorageClassName, v.Status.Phase = "local", api.VolumeAvailable
		must(framework.Put(s, v))
	}
	for i := range 200 {
		c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: fmt.Sprint("c", i)}}
		c.Spec.StorageClassName, c.Spec.Selector = new("local"), &api.LabelSelector{MatchLabels: map[string]string{"n": fmt.Sprint(i)}}
		must(framework.Put(s, c))
		p = p.Claim(c.Name)
	}
	pod, err := s.NewPodInfo(p.Obj())
	must(err)
	planner, err := whatif.New(scheduling.Kubernetes137(), s)
	must(err)
	_, err = planner.WhyNot(pod, "a")
	var invalid *api.InvalidError
	if !errors.As(err, &invalid) || invalid.Object != "pod default/p" || !strings.Contains(err.Error(), "more than 20000000 steps") {
		t.Errorf("error %v, want one that names the pod and the bound", err)
	}
}

// TestWhyNotOfDevices asks about a pod with many labels, for which devices are searched for in each trial.
func TestWhyNotOfDevices(t *testing.T) {
	if testing.Short() {
		t.Skip("its work is what a user may ask for at most, and minutes under the race detector; it has one goroutine")
	}
	const groups, size = 6, 8 // the devices of the last group alone are as many as the claim needs
	s := framework.NewSnapshot(framework.Arrival)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(framework.Put(s, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}))
	node, driver, attribute := "a", "gpu.example.com", "gpu.example.com/numa"
	must(s.AddNode(api.MakeNode(node, "64", "256Gi").Labels(api.LabelHostname, node).Obj()))
	slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "slice"}}
	slice.Spec = api.ResourceSliceSpec{Driver: driver, NodeName: &node, Pool: api.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1}}
	for i := range groups*(size-1) + 1 {
		slice.Spec.Devices = append(slice.Spec.Devices, api.Device{
			Name: fmt.Sprint("gpu-", i), Attributes: map[string]api.DeviceAttribute{"numa": {IntValue: new(int64(min(groups-1, i/(size-1))))}},
		})
	}
	must(framework.Put(s, slice))
	claim := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "c", UID: "c"}}
	var requests []string
	for i := range size {
		requests = append(requests, fmt.Sprint("r", i))
		claim.Spec.Devices.Requests = append(claim.Spec.Devices.Requests, api.DeviceRequest{
			Name: requests[i], Exactly: &api.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1},
		})
	}
	claim.Spec.Devices.Constraints = []api.DeviceConstraint{{Requests: requests, MatchAttribute: &attribute}}
	must(framework.Put(s, claim))
	foe, err := s.NewPodInfo(api.MakePod("foe").PodAntiAffinity(api.LabelHostname, "l0=v").Obj())
	must(err)
	must(s.AddPod(foe, node))
	b := api.MakePod("p")
	for i := range 200 {
		b = b.Labels(fmt.Sprint("l", i), "v")
	}
	p := b.Obj()
	p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "c", ResourceClaimName: new("c")}}
	pod, err := s.NewPodInfo(p)
	must(err)
	planner, err := whatif.New(scheduling.Kubernetes137(), s)
	must(err)
	_, err = planner.WhyNot(pod, node)
	var invalid *api.InvalidError
	if !errors.As(err, &invalid) || invalid.Object != "pod default/p" || !strings.Contains(err.Error(), "more than 20000000 steps") {
		t.Errorf("error %v, want one that names the pod and the bound", err)
	}
}

// TestWhyNotBoundsTaints: the taints of the node count, too.
func TestWhyNotBoundsTaints(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	b := api.MakeNode("a", "4", "8Gi")
	for i := range 5000 {
		b = b.Taint(fmt.Sprintf("k%d=v:NoSchedule", i))
	}
	s := cluster([]api.NodeBuilder{b, api.MakeNode("b", "4", "8Gi")})
	_, err := planner(s).WhyNot(pod(s, api.MakePod("p").Requests("1", "1Gi").Obj()), "a")
	var invalid *api.InvalidError
	if !errors.As(err, &invalid) || !strings.Contains(err.Error(), "a node with fewer taints") {
		t.Errorf("error %v, want one that names the bound", err)
	}
}

// TestWhyNotOfManyTerms asks about a pod with many anti-affinity terms beside many pods: each question to the
// filters looks at all terms.
func TestWhyNotOfManyTerms(t *testing.T) {
	if testing.Short() {
		t.Skip("its work is what a user may ask for at most, and minutes under the race detector; it has one goroutine")
	}
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("a", "8", "64Gi").Resource("pods", "1000").Labels(api.LabelHostname, "a").Taint("x=y:NoSchedule").Obj()); err != nil {
		t.Fatal(err)
	}
	for i := range 480 {
		other := pod(s, api.MakePod(fmt.Sprint("p", i)).Labels("i", fmt.Sprint("v", i%300)).Priority(int32(i%5)).Requests(fmt.Sprint(10+i%37, "m"), "1Mi").Obj())
		if err := s.AddPod(other, "a"); err != nil {
			t.Fatal(err)
		}
	}
	b := api.MakePod("p").Requests("6", "1Gi").NodeSelector("k", "v", "k2", "v").NodeAffinity("a in (b)").NodeAffinity("a2 in (b),c in (d)")
	for i := range 400 {
		b = b.PodAntiAffinity(api.LabelHostname, fmt.Sprint("i=v", i))
	}
	_, err := planner(s).WhyNot(pod(s, b.Obj()), "a")
	var invalid *api.InvalidError
	if !errors.As(err, &invalid) || invalid.Object != "pod default/p" || !strings.Contains(err.Error(), "more than 20000000 steps") {
		t.Errorf("error %v, want one that names the pod and the bound", err)
	}
}
