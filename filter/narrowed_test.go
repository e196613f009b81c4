package filter_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/resource"
)

// TestNarrowedHintsLeaveNobodyOut: if a hint about a claim, a template, or a pod with volumes or host
// ports says that it may help, the event is about a subject of the waiting pod.
func TestNarrowedHintsLeaveNobodyOut(t *testing.T) {
	schema := resource.NewSchema()
	dice := rand.New(rand.NewPCG(3, 4))
	for _, plugin := range []queueing.EnqueueExtensions{
		filter.VolumeBinding{},
		filter.VolumeZone{},
		filter.VolumeRestrictions{},
		filter.NodeVolumeLimits{},
		filter.EBSLimits{},
		filter.NodePorts{},
		filter.DynamicResources{},
	} {
		narrowed := 0
		for _, h := range plugin.EventsToRegister() {
			if h.About == nil {
				continue
			}
			narrowed++
			helped, left := 0, 0
			for range 10_000 {
				waiting := drawUser(t, dice, schema)
				before, after := drawObjects(t, dice, schema, h.Event)
				said, err := h.Hint(waiting, before, after)
				if err != nil {
					t.Fatal(err)
				}
				about, subjects := h.About(before, after), h.Subjects(waiting)
				covers := func(x queueing.Subject) bool {
					return x == queueing.Subject{} || slices.ContainsFunc(subjects, func(s queueing.Subject) bool { return s.Covers(x) })
				}
				covered := slices.ContainsFunc(about, covers)
				matters := h.Matters == nil || h.Matters(before, after)
				switch {
				case said == queueing.Queue && !(covered && matters):
					t.Fatalf("%s: the hint about %s says yes to %+v, and the event is about %+v (it matters: %t), the subjects are %+v",
						plugin.Name(), h.Event.Resource, waiting.Pod.Spec, about, matters, subjects)
				case said == queueing.Queue:
					helped++
				case !covered:
					left++
				}
			}
			if helped < 50 || left < 200 {
				t.Errorf("%s, %s: %d events help, %d are about others: too few to tell", plugin.Name(), h.Event.Resource, helped, left)
			}
		}
		if narrowed == 0 {
			t.Errorf("%s narrows no events", plugin.Name())
		}
	}
}

// drawUser draws a pod with volumes, host ports and claims for devices.
func drawUser(t *testing.T, dice *rand.Rand, schema *resource.Schema) *framework.PodInfo {
	t.Helper()
	b := api.MakePod(oneOf(dice, "p", "q")).Namespace(oneOf(dice, "a", "b"))
	if dice.IntN(4) == 0 {
		b = b.Request("example.com/gpu", "1")
	}
	p := b.Obj()
	p.UID = api.UID("uid-" + p.Name)
	p.Spec.Containers[0].Ports = nil
	for range dice.IntN(3) {
		p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, api.ContainerPort{
			HostPort: oneOf[int32](dice, 80, 81, 82), Protocol: oneOf(dice, api.ProtocolTCP, api.ProtocolUDP), HostIP: oneOf(dice, "", "10.0.0.1", "10.0.0.2"),
		})
	}
	for i := range dice.IntN(4) {
		p.Spec.Volumes = append(p.Spec.Volumes, drawVolume(dice, i))
	}
	for i := range dice.IntN(3) {
		entry := api.PodResourceClaim{Name: fmt.Sprint("e", i)}
		if name := oneOf(dice, "x", "y", "z"); dice.IntN(2) == 0 {
			entry.ResourceClaimName = &name
		} else {
			entry.ResourceClaimTemplateName = new("t" + name)
			if dice.IntN(2) == 0 {
				p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, api.PodResourceClaimStatus{Name: entry.Name, ResourceClaimName: &name})
			}
		}
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, entry)
	}
	info, err := framework.NewPodInfo(p, schema)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func drawVolume(dice *rand.Rand, i int) (v api.Volume) {
	v.Name = fmt.Sprint("v", i)
	name, reads := oneOf(dice, "p-v0", "q-v1", "x", "y"), dice.IntN(2) == 0
	switch dice.IntN(8) {
	case 0:
		v.Ephemeral = &api.EphemeralVolumeSource{}
	case 1:
		v.GCEPersistentDisk = &api.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: reads}
	case 2:
		v.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: name}
	case 3:
		v.ISCSI = &api.ISCSIVolumeSource{IQN: name, ReadOnly: reads}
	case 4:
		v.RBD = &api.RBDVolumeSource{RBDImage: name, RBDPool: oneOf(dice, "a", "b"), CephMonitors: []string{oneOf(dice, "m", "n")}, ReadOnly: reads}
	default:
		v.PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: name}
	}
	return v
}

// drawObjects draws an object before and after an event. One of the two may not exist.
func drawObjects(t *testing.T, dice *rand.Rand, schema *resource.Schema, e queueing.ClusterEvent) (before, after any) {
	t.Helper()
	var draw func() any
	meta := api.ObjectMeta{Namespace: oneOf(dice, "a", "b"), Name: oneOf(dice, "p-v0", "q-v1", "x", "y", "tx", "ty")}
	if e.Resource == queueing.ResourceResourceClaim && dice.IntN(3) == 0 {
		owner := oneOf(dice, "p", "q")
		meta.OwnerReferences = []api.OwnerReference{{Kind: "Pod", Name: owner, UID: api.UID("uid-" + owner), Controller: new(true)}}
		meta.Annotations = map[string]string{api.AnnExtendedResourceClaim: "true"}
	}
	switch e.Resource {
	case queueing.ResourcePersistentVolumeClaim:
		draw = func() any {
			c := &api.PersistentVolumeClaim{ObjectMeta: meta}
			c.Spec.VolumeName = oneOf(dice, "", "pv")
			return c
		}
	case queueing.ResourceResourceClaim:
		draw = func() any {
			c := &api.ResourceClaim{ObjectMeta: meta}
			if dice.IntN(2) == 0 {
				c.Status.Allocation = &api.AllocationResult{}
			}
			return c
		}
	case "ResourceClaimTemplate":
		draw = func() any { return &api.ResourceClaimTemplate{ObjectMeta: meta} }
	case queueing.ResourceAssignedPod:
		draw = func() any { return drawUser(t, dice, schema) }
	default:
		t.Fatalf("no objects for events about %s", e.Resource)
	}
	actions := []queueing.ActionType{}
	for _, a := range []queueing.ActionType{queueing.ActionAdd, queueing.ActionUpdate, queueing.ActionDelete} {
		if e.Action&a != 0 {
			actions = append(actions, a)
		}
	}
	switch a := oneOf(dice, actions...); a {
	case queueing.ActionAdd:
		return nil, draw()
	case queueing.ActionDelete:
		return draw(), nil
	}
	return draw(), draw()
}
