//go:build full

package gang_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/gang"
)

// A holding is a cluster of at most 4 nodes and a group of at most 4 pods with claims: on
// devices of nodes, or on volumes that some nodes reach. Every placement of the pods and
// every choice of a device or volume for each claim can be tried.
type holding struct {
	cpu    []int
	things []thing
	claims []claim
	pods   []claimant
}

// A thing is a device or a volume: large or not, and the nodes that reach it.
type thing struct {
	device, large bool
	nodes         []int
}

// A claim is what a pod, or two, must hold.
type claim struct{ device, large bool }

type claimant struct {
	ask       int
	claim     int // -1 for none
	apart     bool
	nominated int // node, -1 for none
}

func drawHolding(t *rapid.T) holding {
	var h holding
	for range rapid.IntRange(1, 4).Draw(t, "nodes") {
		h.cpu = append(h.cpu, rapid.IntRange(1, 3).Draw(t, "cpu"))
	}
	node := rapid.IntRange(0, len(h.cpu)-1)
	device := rapid.Bool().Draw(t, "devices")
	for range rapid.IntRange(0, 5).Draw(t, "things") {
		x := thing{device: device, large: rapid.Bool().Draw(t, "large thing"), nodes: []int{node.Draw(t, "at")}}
		if !device && rapid.Bool().Draw(t, "far") {
			x.nodes = append(x.nodes, node.Draw(t, "and"))
		}
		h.things = append(h.things, x)
	}
	claims, nominated := rapid.Bool().Draw(t, "claims"), rapid.IntRange(0, 3).Draw(t, "nominated") == 0
	apart := rapid.IntRange(0, 2).Draw(t, "some apart") == 0
	for range rapid.IntRange(1, 4).Draw(t, "pods") {
		p := claimant{ask: rapid.IntRange(1, 2).Draw(t, "ask"), claim: -1, nominated: -1}
		if claims {
			p.claim = rapid.IntRange(-1, len(h.claims)).Draw(t, "claim") // of an earlier pod, or a new one
			if p.claim == len(h.claims) {
				h.claims = append(h.claims, claim{device, rapid.Bool().Draw(t, "large claim")})
			}
		}
		p.apart = apart && rapid.Bool().Draw(t, "apart")
		if nominated && rapid.Bool().Draw(t, "is nominated") {
			p.nominated = node.Draw(t, "to")
		}
		h.pods = append(h.pods, p)
	}
	return h
}

// size is "2" for large things and claims, "1" for others.
func size(large bool) string {
	if large {
		return "2"
	}
	return "1"
}

func (h holding) snapshot(t *rapid.T) (*framework.Snapshot, []*framework.PodInfo) {
	var nodes []*api.Node
	for i, cpu := range h.cpu {
		name := fmt.Sprint("n", i)
		nodes = append(nodes, api.MakeNode(name, fmt.Sprint(cpu), "64Gi").Labels(api.LabelHostname, name).Obj())
	}
	s := cluster(nodes)
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	late := api.VolumeBindingWaitForFirstConsumer
	check(framework.Put(s, &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "local"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &late}))
	for _, large := range []bool{false, true} {
		class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "size-" + size(large)}}
		class.Spec.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.attributes["example.com"].size >= ` + size(large)}}}
		check(framework.Put(s, class))
	}
	devices := make([][]api.Device, len(h.cpu))
	for i, x := range h.things {
		name := fmt.Sprint("thing-", i)
		if x.device {
			of := int64(1)
			if x.large {
				of = 2
			}
			devices[x.nodes[0]] = append(devices[x.nodes[0]], api.Device{Name: name, Attributes: map[string]api.DeviceAttribute{"size": {IntValue: &of}}})
			continue
		}
		v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: name}}
		v.Spec.StorageClassName, v.Status.Phase = "local", api.VolumeAvailable
		v.Spec.Capacity = map[resource.Name]resource.Quantity{"storage": resource.MustParse(size(x.large) + "Gi")}
		v.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOnce}
		term := api.NodeSelectorRequirement{Key: api.LabelHostname, Operator: api.NodeSelectorOpIn}
		for _, n := range x.nodes {
			term.Values = append(term.Values, fmt.Sprint("n", n))
		}
		v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{MatchExpressions: []api.NodeSelectorRequirement{term}}}}}
		check(framework.Put(s, v))
	}
	for i, list := range devices {
		if len(list) == 0 {
			continue
		}
		name := fmt.Sprint("n", i)
		slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: name}}
		slice.Spec = api.ResourceSliceSpec{Driver: "example.com", NodeName: &name, Pool: api.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}, Devices: list}
		check(framework.Put(s, slice))
	}
	for i, c := range h.claims {
		meta := api.ObjectMeta{Namespace: "default", Name: fmt.Sprint("claim-", i), UID: api.UID(fmt.Sprint("uid-claim-", i))}
		if c.device {
			x := &api.ResourceClaim{ObjectMeta: meta}
			x.Spec.Devices.Requests = []api.DeviceRequest{{Name: "one", Exactly: &api.ExactDeviceRequest{
				DeviceClassName: "size-" + size(c.large), AllocationMode: api.DeviceAllocationModeExactCount, Count: 1,
			}}}
			check(framework.Put(s, x))
			continue
		}
		x, class := &api.PersistentVolumeClaim{ObjectMeta: meta}, "local"
		x.Spec.StorageClassName, x.Spec.AccessModes = &class, []api.PersistentVolumeAccessMode{api.ReadWriteOnce}
		x.Spec.Resources.Requests = map[resource.Name]resource.Quantity{"storage": resource.MustParse(size(c.large) + "Gi")}
		check(framework.Put(s, x))
	}
	var pods []*framework.PodInfo
	for i, p := range h.pods {
		b := api.MakePod(fmt.Sprint("m-", i)).UID(api.UID(fmt.Sprint("uid-m-", i))).Labels("app", "m").Requests(fmt.Sprint(p.ask), "1Mi")
		name := fmt.Sprint("claim-", p.claim)
		if p.claim >= 0 && !h.claims[p.claim].device {
			b = b.Claim(name)
		}
		if p.apart {
			b = b.PodAntiAffinity(api.LabelHostname, "app=m")
		}
		if p.nominated >= 0 {
			b = b.Nominated(fmt.Sprint("n", p.nominated))
		}
		pod := b.Obj()
		if p.claim >= 0 && h.claims[p.claim].device {
			pod.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "it", ResourceClaimName: &name}}
		}
		pods = append(pods, info(s, pod))
		if p.nominated >= 0 {
			check(s.Nominate(pods[i], fmt.Sprint("n", p.nominated), ""))
		}
	}
	return s, pods
}

// exists reports whether at least min of the pods fit, each holding what it claims.
func (h holding) exists(least int) bool {
	node := make([]int, len(h.pods))
	var from func(i, placed int) bool
	from = func(i, placed int) bool {
		if i == len(h.pods) {
			return placed >= least && h.stands(node)
		}
		for n := range h.cpu {
			node[i] = n
			if from(i+1, placed+1) {
				return true
			}
		}
		node[i] = -1
		return from(i+1, placed)
	}
	return from(0, 0)
}

// stands reports whether the pods may be on the nodes; -1 is for pods that do not stand.
func (h holding) stands(node []int) bool {
	free := slices.Clone(h.cpu)
	for i, n := range node {
		if n < 0 {
			continue
		}
		if free[n] -= h.pods[i].ask; free[n] < 0 {
			return false
		}
		for k, other := range node {
			if k != i && other == n && h.pods[i].apart {
				return false
			}
		}
	}
	taken := make([]bool, len(h.things))
	var hold func(c int) bool
	hold = func(c int) bool {
		if c == len(h.claims) {
			return true
		}
		var users []int // nodes
		for i, p := range h.pods {
			if p.claim == c && node[i] >= 0 {
				users = append(users, node[i])
			}
		}
		if len(users) == 0 {
			return hold(c + 1)
		}
		for i, x := range h.things {
			if taken[i] || h.claims[c].large && !x.large || slices.ContainsFunc(users, func(n int) bool { return !slices.Contains(x.nodes, n) }) {
				continue
			}
			taken[i] = true
			if hold(c + 1) {
				return true
			}
			taken[i] = false
		}
		return false
	}
	return hold(0)
}

// certain reports whether an order of the pods cannot matter.
func (h holding) certain() bool {
	return !slices.ContainsFunc(h.pods, func(p claimant) bool { return p.claim >= 0 || p.nominated >= 0 })
}

// Whatever pods hold, a placement that is found exists, and where one is ruled out there
// is none: filters take the first device and the smallest volume for a claim, so a search
// that ends without success proves nothing about such pods.
func TestProofsAgreeWithExhaustionOfClaims(t *testing.T) {
	seen := map[string]int{}
	enough.Check(t, seen, map[string]int{"groups placed": 1, "groups ruled out": 1, "groups left open": 1}, func(t *rapid.T) {
		h := drawHolding(t)
		s, pods := h.snapshot(t)
		least := rapid.IntRange(1, len(pods)).Draw(t, "min")
		g := &gang.Group{Name: "g", Pods: pods, Min: least}
		exists := h.exists(least)
		for _, rules := range []gang.Rules{{}, {Choice: gang.BestFit}, {Choice: gang.BestFit, Search: 1 << 30}, {Choice: gang.LeastFree, Order: gang.Both, Search: 1 << 30}} {
			out, err := placer(rules).Try(s, g)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case out.Status == gang.Placed && !exists:
				t.Fatalf("%v: placed %v, but there is no placement", rules.Choice, out.Placed)
			case out.Status == gang.Placed:
				seen["groups placed"]++
			case out.Proved && exists:
				t.Fatalf("%v, search %d: %v is proved, %q, but there is a placement", rules.Choice, rules.Search, out.Status, out.Text)
			case out.Proved:
				seen["groups ruled out"]++
			case rules.Search > 0 && h.certain() && !out.GaveUp:
				t.Fatalf("%v: an unlimited search does not prove its no: %+v", rules.Choice, out)
			default:
				seen["groups left open"]++
			}
		}
	})
}
