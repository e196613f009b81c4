//go:build full

package work

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// newDeviceWorld returns a world with a node "a" of n devices, and a class "gpu" with
// selectors.
func newDeviceWorld(t *testing.T, n int, ofClass ...string) *world {
	t.Helper()
	w := newWorld(t, api.MakeNode("a", "1000", "1000Gi").Resource("pods", "100000").Obj())
	slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "a"}}
	slice.Spec = api.ResourceSliceSpec{Driver: "d", NodeName: new("a"), Pool: api.ResourcePool{Name: "a", Generation: 1, ResourceSliceCount: 1}}
	for i := range n {
		slice.Spec.Devices = append(slice.Spec.Devices, api.Device{Name: fmt.Sprintf("gpu-%05d", i)})
	}
	class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}
	class.Spec.Selectors = selectors(ofClass...)
	put(w, slice)
	put(w, class)
	return w
}

func put[T api.Object](w *world, object *T) {
	w.t.Helper()
	if err := framework.Put(w.snap, object); err != nil {
		w.t.Fatal(err)
	}
}

func selectors(texts ...string) (list []api.DeviceSelector) {
	for _, text := range texts {
		list = append(list, api.DeviceSelector{CEL: &api.CELDeviceSelector{Expression: text}})
	}
	return list
}

// claims schedules a pod with a claim for devices. It returns its node, "" if it fits nowhere,
// for example because a selector is false.
func (w *world) claims(namespace, name string, count int64, texts ...string) (string, error) {
	w.t.Helper()
	claim := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: namespace}}
	claim.Spec.Devices.Requests = []api.DeviceRequest{{Name: "r", Exactly: &api.ExactDeviceRequest{
		DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: count, Selectors: selectors(texts...),
	}}}
	put(w, claim)
	pod := api.MakePod(name).Requests("1m", "1Mi").Obj()
	pod.Namespace = namespace
	pod.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "x", ResourceClaimName: &name}}
	d, err := w.sched.Schedule(w.snap, w.derive(pod))
	if fit := (*scheduling.FitError)(nil); errors.As(err, &fit) {
		return "", nil
	}
	return d.Node, err
}

// manySelectors asks 40 selectors about n devices.
func manySelectors(t *testing.T, n int) {
	var ofClass, ofClaim []string
	for i := range 20 {
		ofClass = append(ofClass, fmt.Sprintf(`device.driver != "class %d"`, i))
		ofClaim = append(ofClaim, fmt.Sprintf(`device.driver != "claim %d"`, i))
	}
	w := newDeviceWorld(t, n, ofClass...)
	for i, count := range []int64{1, 2} {
		if node, err := w.claims("default", fmt.Sprint("p", i), count, append(ofClaim, "false")...); err != nil || node != "" {
			t.Fatalf("node %q (%v), want none", node, err)
		}
	}
}

// costlySelectors asks selectors about n devices. Each answer takes many steps, so the bound of
// the search ends it.
func costlySelectors(t *testing.T, n int) {
	numbers := "[1" + strings.Repeat(",1", 99) + "]"
	w := newDeviceWorld(t, n, numbers+".all(a,"+numbers+".all(b,a==b))")
	for i, count := range []int64{1, 2} {
		_, err := w.claims("default", fmt.Sprint("p", i), count, "false")
		if gaveUp := err != nil && strings.Contains(err.Error(), "timed out trying to allocate devices"); gaveUp != (n > 1) {
			t.Fatalf("%d devices: %v", n, err)
		}
	}
}

// claimsThatDiffer creates n claims, each with a selector of its own, and one of another user
// after each.
func claimsThatDiffer(t *testing.T, n int) {
	w := newDeviceWorld(t, 8, `device.driver != "class"`)
	for i := range n {
		if node, err := w.claims("bad", fmt.Sprint("p", i), 1, fmt.Sprintf(`device.driver == "%d"`, i)); err != nil || node != "" {
			t.Fatalf("node %q (%v), want none", node, err)
		}
		if node, err := w.claims("good", fmt.Sprint("p", i), 2, `device.driver != "e"`); err != nil || node != "a" && i < 4 {
			t.Fatalf("node %q (%v), want a", node, err)
		}
	}
}

// requiredTerms is a pod with n required affinity terms that differ, the first with n values, beside a pod that all of
// them match, and one that they do not.
func requiredTerms(t *testing.T, n int) {
	node := api.MakeNode("a", "4", "8Gi").Obj()
	other := api.MakePod("other").Obj()
	other.Labels = map[string]string{}
	pods := [2]*api.Pod{api.MakePod("near").Obj(), api.MakePod("nowhere").Obj()}
	for i := range n {
		key := fmt.Sprint("key-", i)
		node.Labels[key], other.Labels[key] = "x", "x"
		for k, value := range []string{"x", "y"} {
			term := api.PodAffinityTerm{TopologyKey: key, LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{key: value}}}
			if i == 0 {
				term.LabelSelector = &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{{Key: key, Operator: api.LabelSelectorOpIn, Values: manyValues(value, n)}}}
			}
			if pods[k].Spec.Affinity == nil {
				pods[k].Spec.Affinity = &api.Affinity{PodAffinity: &api.PodAffinity{}}
			}
			terms := &pods[k].Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			*terms = append(*terms, term)
		}
	}
	w := newWorld(t, node)
	w.add(w.derive(other), "a")
	w.decide(w.derive(pods[0]), true)
	w.decide(w.derive(pods[1]), false)
}

// manyValues is the value and n others.
func manyValues(value string, n int) []string {
	list := []string{value}
	for i := range n {
		list = append(list, fmt.Sprint("other-", i))
	}
	return list
}

// hardClaim is a claim that is hard on each of n/31 nodes: no device meets its last request, and
// every choice of devices for the others is tried.
func hardClaim(t *testing.T, n int) {
	w := newDeviceWorld(t, 24)
	for i := range n / 31 {
		name := fmt.Sprint("n", i)
		slice := *framework.Lookup[api.ResourceSlice](w.snap, "a")
		slice.Name, slice.Spec.NodeName, slice.Spec.Pool.Name = name, &name, name
		put(w, &slice)
		if err := w.snap.AddNode(api.MakeNode(name, "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	claim := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "hard", Namespace: "default"}}
	for r := range 9 {
		any := api.DeviceSubRequest{Name: "any", DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1}
		if r == 8 {
			any.Selectors = selectors("false")
		}
		claim.Spec.Devices.Requests = append(claim.Spec.Devices.Requests, api.DeviceRequest{Name: fmt.Sprint("r", r), FirstAvailable: []api.DeviceSubRequest{any}})
	}
	put(w, claim)
	pod := api.MakePod("p").Requests("1m", "1Mi").Obj()
	pod.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "x", ResourceClaimName: new("hard")}}
	if _, err := w.sched.Schedule(w.snap, w.derive(pod)); err == nil {
		t.Fatal("the pod fits")
	}
}
