//go:build full

package whatif_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// scratch is a cluster of two zones with a node each, a and b, and a storage class that binds like this.
func scratch(mode api.VolumeBindingMode) *framework.Snapshot {
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "8", "64Gi").Zone("z1"), api.MakeNode("b", "8", "64Gi").Zone("z2")})
	put(s, &api.StorageClass{
		ObjectMeta:  api.ObjectMeta{Name: "fast", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner: "csi.example.com", VolumeBindingMode: &mode,
	})
	return s
}

// withScratch is a pod with an ephemeral volume of a class, "" for the default one.
func withScratch(name, class string) *api.Pod {
	p := api.MakePod(name).UID(api.UID("uid-"+name)).Owner("ReplicaSet", "web").Requests("2", "1Gi").Obj()
	t := &api.PersistentVolumeClaimTemplate{}
	if class != "" {
		t.Spec.StorageClassName = &class
	}
	p.Spec.Volumes = []api.Volume{{Name: "scratch", VolumeSource: api.VolumeSource{Ephemeral: &api.EphemeralVolumeSource{VolumeClaimTemplate: t}}}}
	return p
}

// runsWithScratch adds such a pod that runs on a, with its claim and its volume, which only zone z1 reaches.
func runsWithScratch(s *framework.Snapshot, class string) *framework.PodInfo {
	p := withScratch("web", class)
	p.Spec.NodeName, p.Status.Phase = "a", api.PodRunning
	c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{
		Name: "web-scratch", Namespace: "default", UID: "c", Annotations: map[string]string{api.AnnBindCompleted: "yes"},
		OwnerReferences: []api.OwnerReference{{Kind: "Pod", Name: "web", UID: "uid-web", Controller: new(true)}},
	}}
	c.Spec.StorageClassName, c.Spec.VolumeName = new("fast"), "v"
	put(s, c)
	v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "v"}}
	v.Spec.StorageClassName, v.Spec.ClaimRef = "fast", &api.ObjectReference{Namespace: "default", Name: "web-scratch", UID: "c"}
	v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: "h"}
	v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
		MatchExpressions: []api.NodeSelectorRequirement{{Key: api.LabelTopologyZone, Operator: api.NodeSelectorOpIn, Values: []string{"z1"}}},
	}}}}
	put(s, v)
	web := pod(s, p)
	if err := s.AddPod(web, "a"); err != nil {
		panic(err)
	}
	return web
}

// The claim of an ephemeral volume goes with its pod: the pod in its place gets another one, anywhere.
func TestEphemeralVolumesMove(t *testing.T) {
	for _, mode := range []api.VolumeBindingMode{api.VolumeBindingWaitForFirstConsumer, api.VolumeBindingImmediate} {
		for _, class := range []string{"fast", ""} {
			s := scratch(mode)
			web := runsWithScratch(s, class)
			p := planner(s)
			before := content(s)
			for range 2 { // the first question must leave no trace
				if d, err := p.Drain("a"); err != nil || len(d.Moves) != 1 || d.Moves[0].To != "b" {
					t.Errorf("%s, class %q: drain %+v, %v; want a move to b", mode, class, d, err)
				}
				if r, err := p.Removable("a"); err != nil || !r[0].Removable {
					t.Errorf("%s, class %q: removable %+v, %v", mode, class, r, err)
				}
				if w, err := p.WhyNot(web, "b"); err != nil || len(w.Rejections) > 0 {
					t.Errorf("%s, class %q: why not b: %+v, %v; want no rejection", mode, class, w, err)
				}
				if h, err := p.Headroom(web, 0); err != nil || h.Total != 7 {
					t.Errorf("%s, class %q: headroom %+v, %v; want 7", mode, class, h, err)
				}
				if h, err := p.Headroom(web, 5); err != nil || h.Total != 5 || !h.Stopped {
					t.Errorf("%s, class %q: headroom %+v, %v; want 5 and more", mode, class, h, err)
				}
				pods, err := whatif.Replicas(web, 9)
				if err != nil {
					t.Fatal(err)
				}
				if n, err := p.NodesNeeded(pods, whatif.NodeType{Name: "t", Node: api.MakeNode("t", "8", "64Gi").Obj()}); err != nil || len(n.Placement.Placed) != 9 || n.Counts[0].Nodes != 1 {
					t.Errorf("%s, class %q: nodes needed %+v, %v; want 1", mode, class, n, err)
				}
				if w, err := p.Sweep(pods[:1], []whatif.Weights{{"NodeResourcesFit": 5}}); err != nil || w.Base[0] == "" {
					t.Errorf("%s, class %q: sweep %+v, %v", mode, class, w, err)
				}
			}
			if content(s) != before {
				t.Error("the questions left a trace")
			}
			if err := s.Check(); err != nil {
				t.Error(err)
			}
			taken, err := whatif.TakeOff(s, web)
			if err != nil || taken.Pod.Spec.NodeName != "" || framework.Lookup[api.PersistentVolumeClaim](s, "default/web-scratch").UID == "c" {
				t.Errorf("%s, class %q: taken off: %+v, %v; want a claim that was just made", mode, class, taken, err)
			}
		}
	}
}

// What stays in the way of an ephemeral volume is not hidden: a claim of its name that is not the pod's, and a
// class that waits for volumes made by hand.
func TestEphemeralVolumesInTheWay(t *testing.T) {
	s := scratch(api.VolumeBindingImmediate)
	put(s, &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Name: "web-scratch", Namespace: "default"}})
	w, err := planner(s).WhyNot(pod(s, withScratch("web", "fast")), "a")
	if err != nil || len(w.Rejections) != 1 || w.Rejections[0].Plugin != "VolumeBinding" {
		t.Errorf("claim of others: %+v, %v; want a rejection of VolumeBinding", w, err)
	}
	manual := &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "manual"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: new(api.VolumeBindingImmediate)}
	put(s, manual)
	if h, err := planner(s).Headroom(pod(s, withScratch("other", "manual")), 0); err != nil || h.Total != 0 {
		t.Errorf("volumes made by hand: %+v, %v; want no headroom", h, err)
	}
}

// Gangs of pods with ephemeral volumes are counted with the claims that will be made.
func TestCapacityWithEphemeralVolumes(t *testing.T) {
	s := scratch(api.VolumeBindingWaitForFirstConsumer)
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	g, err := gang.New(sched, gang.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := g.Capacity(s, &gang.Group{Name: "g", Pods: []*framework.PodInfo{pod(s, withScratch("web", "fast")), pod(s, withScratch("web2", "fast"))}}, 0)
	if err != nil || c.Fits != 4 {
		t.Errorf("%+v, %v; want 4 gangs", c, err)
	}
}

// gpus is a cluster of one node with devices that all nodes reach, and a template of one of them.
func gpus(names ...string) (s *framework.Snapshot, demand api.DeviceClaim) {
	s = cluster([]api.NodeBuilder{api.MakeNode("n", "8", "64Gi"), api.MakeNode("m", "8", "64Gi")})
	class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}
	class.Spec.ExtendedResourceName = new("x.io/g")
	put(s, class)
	slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "s"}}
	slice.Spec = api.ResourceSliceSpec{Driver: "d.io", AllNodes: new(true), Pool: api.ResourcePool{Name: "all", Generation: 1, ResourceSliceCount: 1}}
	for _, name := range names {
		slice.Spec.Devices = append(slice.Spec.Devices, api.Device{Name: name})
	}
	put(s, slice)
	demand = api.DeviceClaim{Requests: []api.DeviceRequest{{Name: "r", Exactly: &api.ExactDeviceRequest{
		DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1,
	}}}}
	t := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "t", Namespace: "default"}}
	t.Spec.Spec.Devices = demand
	put(s, t)
	return s, demand
}

// holding is a claim that has a device, for these pods.
func holding(name, device string, demand api.DeviceClaim, pods ...string) *api.ResourceClaim {
	c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default", UID: api.UID(name)}}
	c.Spec.Devices = demand
	c.Status.Allocation = &api.AllocationResult{Devices: api.DeviceAllocationResult{Results: []api.DeviceRequestAllocationResult{{
		Request: demand.Requests[0].Name, Driver: "d.io", Pool: "all", Device: device,
	}}}}
	for _, p := range pods {
		c.Status.ReservedFor = append(c.Status.ReservedFor, api.ResourceClaimConsumerReference{Resource: "pods", Name: p, UID: api.UID("uid-" + p)})
	}
	return c
}

func owned(c *api.ResourceClaim, by string) *api.ResourceClaim {
	c.OwnerReferences = []api.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: by, UID: api.UID("uid-" + by), Controller: new(true)}}
	return c
}

func running(name, node string) *api.Pod {
	return api.MakePod(name).UID(api.UID("uid-"+name)).Owner("ReplicaSet", name).Requests("1", "1Gi").Node(node).Phase(api.PodRunning).Obj()
}

// deviceHolders are pods that run on n and hold the device a in each of the ways.
func deviceHolders(t *testing.T, check func(t *testing.T, s *framework.Snapshot, web *framework.PodInfo)) {
	t.Helper()
	for name, make := range map[string]func(s *framework.Snapshot, demand api.DeviceClaim) *api.Pod{
		"template": func(s *framework.Snapshot, demand api.DeviceClaim) *api.Pod {
			put(s, owned(holding("web-e-1", "a", demand, "web"), "web"))
			p := running("web", "n")
			p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "e", ResourceClaimTemplateName: new("t")}}
			p.Status.ResourceClaimStatuses = []api.PodResourceClaimStatus{{Name: "e", ResourceClaimName: new("web-e-1")}}
			return p
		},
		"extended": func(s *framework.Snapshot, demand api.DeviceClaim) *api.Pod {
			demand.Requests = []api.DeviceRequest{{Name: "container-0-request-0", Exactly: demand.Requests[0].Exactly}}
			c := owned(holding("web-extended-resources-1", "a", demand, "web"), "web")
			c.Annotations = map[string]string{api.AnnExtendedResourceClaim: "true"}
			put(s, c)
			p := running("web", "n")
			p.Spec.Containers[0].Resources.Requests["x.io/g"] = api.MakePod("x").Request("x.io/g", "1").Obj().Spec.Containers[0].Resources.Requests["x.io/g"]
			return p
		},
		"named": func(s *framework.Snapshot, demand api.DeviceClaim) *api.Pod {
			put(s, holding("shared", "a", demand, "web"))
			p := running("web", "n")
			p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "e", ResourceClaimName: new("shared")}}
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, demand := gpus("a")
			web := pod(s, make(s, demand))
			if err := s.AddPod(web, "n"); err != nil {
				t.Fatal(err)
			}
			before := content(s)
			check(t, s, web)
			if content(s) != before {
				t.Error("the questions left a trace")
			}
			if err := s.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A pod that is placed again does not compete with its own devices, in whichever way it holds them.
func TestDevicesOfRunningPodsMove(t *testing.T) {
	deviceHolders(t, func(t *testing.T, s *framework.Snapshot, web *framework.PodInfo) {
		p := planner(s)
		for range 2 {
			if d, err := p.Drain("n"); err != nil || len(d.Moves) != 1 || d.Moves[0].To != "m" {
				t.Errorf("drain %+v, %v; want a move to m", d, err)
			}
			if r, err := p.Removable("n"); err != nil || !r[0].Removable {
				t.Errorf("removable %+v, %v", r, err)
			}
			for _, n := range []string{"n", "m"} {
				if w, err := p.WhyNot(web, n); err != nil || len(w.Rejections) > 0 {
					t.Errorf("why not %s: %+v, %v; want no rejection", n, w, err)
				}
			}
		}
	})
}

// To remove a pod frees its devices.
func TestWhyNotRemovesHolderOfDevice(t *testing.T) {
	deviceHolders(t, func(t *testing.T, s *framework.Snapshot, web *framework.PodInfo) {
		other := api.MakePod("new").UID("v").Requests("1", "1Gi").Obj()
		other.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "e", ResourceClaimTemplateName: new("t")}}
		p := planner(s)
		for range 2 {
			w, err := p.WhyNot(pod(s, other), "n")
			if err != nil || !contains(w.Remedies, "remove pod default/web from n") {
				t.Errorf("%+v, %v; want to remove web", w, err)
			}
			if to, err := p.Decide(pod(s, other), "n", whatif.Change{Kind: whatif.ChangeRemove, Name: "default/web", From: "n"}); err != nil || to == "" {
				t.Errorf("Decide %q, %v; want a node", to, err)
			}
		}
	})
}

// Of pods that hold devices and pods that do not, the fewest are found, and all come back.
func TestWhyNotFewestOfHolders(t *testing.T) {
	s, demand := gpus("a", "b", "c")
	for i, device := range []string{"a", "b", "c"} {
		name := fmt.Sprint("h", i)
		put(s, owned(holding(name+"-e", device, demand, name), name))
		p := running(name, "n")
		p.Spec.Priority = new(int32(i))
		p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "e", ResourceClaimTemplateName: new("t")}}
		p.Status.ResourceClaimStatuses = []api.PodResourceClaimStatus{{Name: "e", ResourceClaimName: new(name + "-e")}}
		if err := s.AddPod(pod(s, p), "n"); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		if err := s.AddPod(pod(s, running(fmt.Sprint("plain", i), "n")), "n"); err != nil {
			t.Fatal(err)
		}
	}
	before := content(s)
	q := api.MakePod("new").UID("v").Requests("4", "1Gi").Obj() // 2 CPU are free
	for _, name := range []string{"e", "f"} {
		q.Spec.ResourceClaims = append(q.Spec.ResourceClaims, api.PodResourceClaim{Name: name, ResourceClaimTemplateName: new("t")})
	}
	w, err := planner(s).WhyNot(pod(s, q), "n")
	if err != nil || len(w.Remedies) != 1 || !strings.HasPrefix(w.Remedies[0].String(), "remove pod default/h0 from n, and remove pod default/h1 from n") {
		t.Errorf("%v, %v; want to remove h0 and h1", w.Remedies, err)
	}
	if content(s) != before {
		t.Error("the question left a trace")
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

// A pod that a scheduler has placed, but that does not name its node yet, is asked about like one that runs.
func TestWhyNotAssumedPodWithMadeClaim(t *testing.T) {
	s, demand := gpus("a")
	c := owned(&api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "web-e-1", Namespace: "default", UID: "c"}}, "web")
	c.Spec.Devices = demand
	put(s, c)
	waits := running("web", "")
	waits.Status.Phase = api.PodPending
	waits.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "e", ResourceClaimTemplateName: new("t")}}
	waits.Status.ResourceClaimStatuses = []api.PodResourceClaimStatus{{Name: "e", ResourceClaimName: new("web-e-1")}}
	web := pod(s, waits)
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	for _, assumed := range []bool{false, true} {
		if assumed {
			if _, err := sched.Place(s, web); err != nil {
				t.Fatal(err)
			}
		}
		p := planner(s)
		for _, n := range []string{"n", "m"} {
			if w, err := p.WhyNot(web, n); err != nil || len(w.Rejections) > 0 {
				t.Errorf("assumed %t: why not %s: %+v, %v; want no rejection", assumed, n, w, err)
			}
			if to, err := p.Decide(web, n); err != nil || to == "" {
				t.Errorf("assumed %t: Decide %q, %v", assumed, to, err)
			}
		}
	}
}

// Pods that come with a node have the devices that they claim there.
func TestNodesNeededWithDaemonsOfDevices(t *testing.T) {
	for _, devices := range []int{1, 2} {
		for how, agent := range map[string]api.PodBuilder{
			"template": api.MakePod("agent").Requests("100m", "100Mi").Owner("DaemonSet", "agent"),
			"extended": api.MakePod("agent").Requests("100m", "100Mi").Request("x.io/g", "1").Owner("DaemonSet", "agent"),
			"none":     api.MakePod("agent").Requests("100m", "100Mi").Owner("DaemonSet", "agent"),
		} {
			s, _ := gpus()
			slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "d"}}
			slice.Spec = api.ResourceSliceSpec{Driver: "d.io", NodeName: new("t"), Pool: api.ResourcePool{Name: "p", Generation: 1, ResourceSliceCount: 1}}
			for i := range devices {
				slice.Spec.Devices = append(slice.Spec.Devices, api.Device{Name: fmt.Sprint(i)})
			}
			daemon := agent.Obj()
			if how == "template" {
				daemon.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "e", ResourceClaimTemplateName: new("t")}}
			}
			kind := whatif.NodeType{Name: "t", Node: api.MakeNode("t", "4", "8Gi").Obj(), Devices: []*api.ResourceSlice{slice}, Pods: []*api.Pod{daemon}}
			web := api.MakePod("web").Requests("1", "1Gi").Obj()
			web.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "e", ResourceClaimTemplateName: new("t")}}
			free := devices
			if how != "none" {
				free--
			}
			n, err := planner(s).NodesNeeded([]*framework.PodInfo{pod(s, web)}, kind)
			if err != nil || len(n.Placement.Placed) != min(1, free) || n.Counts[0].Nodes != min(1, free) {
				t.Errorf("%s, %d devices: %+v, %v; want %d placed", how, devices, n, err, min(1, free))
			}
		}
	}
}

// A new node gets no name by which objects go that are left of nodes which are gone.
func TestNewNodesBesideLeftNames(t *testing.T) {
	s := cluster([]api.NodeBuilder{api.MakeNode("t-0", "4", "8Gi")})
	put(s, &api.CSINode{ObjectMeta: api.ObjectMeta{Name: "t-1"}})
	put(s, &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: "t-2"}})
	x := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "s"}}
	x.Spec.NodeName, x.Spec.Pool.Name = new("t-3"), "p"
	put(s, x)
	for i, term := range []api.NodeSelectorTerm{
		{MatchExpressions: []api.NodeSelectorRequirement{{Key: api.LabelHostname, Operator: api.NodeSelectorOpIn, Values: []string{"t-4"}}}},
		{MatchFields: []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{"t-5"}}}},
	} {
		v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("v", i)}}
		v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{term}}}
		put(s, v)
	}
	kind := whatif.NodeType{Name: "t", Node: api.MakeNode("t", "4", "8Gi").Obj()}
	if names, err := kind.AddNodes(s, 2); err != nil || fmt.Sprint(names) != "[t-6 t-7]" {
		t.Errorf("%v, %v; want t-6 and t-7", names, err)
	}
}

// A question makes a bounded number of claims.
func TestEphemeralVolumesAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	s := scratch(api.VolumeBindingWaitForFirstConsumer)
	p := withScratch("web", "fast")
	p.Spec.Containers[0].Resources.Requests = nil
	for i := range 1200 {
		v := p.Spec.Volumes[0]
		v.Name = fmt.Sprint("v", i)
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
	web := pod(s, p)
	var invalid *api.InvalidError
	if _, err := planner(s).Headroom(web, 0); !errors.As(err, &invalid) || !strings.Contains(err.Error(), "more than 100000 claims") {
		t.Errorf("headroom: %v", err)
	}
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	g, err := gang.New(sched, gang.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Capacity(s, &gang.Group{Name: "g", Pods: []*framework.PodInfo{web}}, 0); !errors.As(err, &invalid) || !strings.Contains(err.Error(), "more than 100000 claims") {
		t.Errorf("capacity: %v", err)
	}
}

// Claims of pods that may be removed count in the work of WhyNot.
func TestWhyNotCountsClaims(t *testing.T) {
	s := cluster([]api.NodeBuilder{api.MakeNode("n", "8", "64Gi").Resource("pods", "1000")})
	for i := range 100 {
		name := fmt.Sprint("p", i)
		p := api.MakePod(name).UID(api.UID(name)).Requests("80m", "1Mi").Owner("ReplicaSet", name).Node("n").Phase(api.PodRunning).Obj()
		for k := range 300 {
			p.Spec.Volumes = append(p.Spec.Volumes, api.Volume{Name: fmt.Sprint("v", k), VolumeSource: api.VolumeSource{Ephemeral: &api.EphemeralVolumeSource{VolumeClaimTemplate: &api.PersistentVolumeClaimTemplate{}}}})
		}
		if err := s.AddPod(pod(s, p), "n"); err != nil {
			t.Fatal(err)
		}
	}
	_, err := planner(s).WhyNot(pod(s, api.MakePod("web").Requests("4", "1Gi").Obj()), "n")
	var invalid *api.InvalidError
	if !errors.As(err, &invalid) || !strings.Contains(err.Error(), "more than 20000000 steps") {
		t.Errorf("%v, want the error of the bound", err)
	}
}
