package soak

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// chance is true once in n times.
func chance(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

const gpu resource.Name = "example.com/gpu"

// node makes a node of a random shape. Few distinct shapes make ties frequent,
// small ones make clusters full.
func node(r *rand.Rand, name string) *api.Node {
	b := api.MakeNode(name, pick(r, "2", "4", "4", "8"), pick(r, "4Gi", "8Gi", "16Gi")).
		Labels(api.LabelHostname, name, "disk", pick(r, "ssd", "hdd"), "cores", pick(r, "4", "8"))
	if !chance(r, 8) {
		b = b.Zone(pick(r, "a", "b", "c")).Region("r")
	}
	if chance(r, 2) {
		b = b.Labels("rack", pick(r, "r1", "r2", "r3", "r4"))
	}
	b = b.Allocatable(resource.Pods, pick(r, "4", "8", "110"))
	if chance(r, 4) {
		b = b.Resource(gpu, pick(r, "1", "4"))
	}
	if chance(r, 3) {
		b = b.Resource("attachable-volumes-aws-ebs", pick(r, "1", "2", "4"))
	}
	if chance(r, 5) {
		b = b.Taint(pick(r, "dedicated=db:NoSchedule", "spot:PreferNoSchedule", "old:NoExecute", "dedicated=web:PreferNoSchedule"))
	}
	if chance(r, 15) {
		b = b.Unschedulable()
	}
	if chance(r, 4) {
		b = b.Labels(shiftLabel, pick(r, "60", "200", "1000"))
	}
	for i := range 3 {
		if chance(r, 3) {
			b = b.Image(pick(r, "30Mi", "300Mi", "900Mi"), fmt.Sprintf("app-%d:v1", i))
		}
	}
	n := withGPUs(r, b).Obj()
	if chance(r, 2) {
		n.Status.DeclaredFeatures = []string{"UserNamespacesHostNetworkSupport"}
	}
	return n
}

// evenNode makes a node that plugins can tell from most others only by what it has room
// for.
func evenNode(r *rand.Rand, name string) *api.Node {
	b := api.MakeNode(name, pick(r, "4", "8"), pick(r, "8Gi", "16Gi")).
		Labels(api.LabelHostname, name).Zone(pick(r, "a", "b", "c")).Region("r").Allocatable(resource.Pods, pick(r, "9", "110"))
	if chance(r, 60) {
		b = b.Taint("spot:PreferNoSchedule") // once it is full, all others are alike
	}
	return b.Obj()
}

// template makes the pod of a class: all pods made from it are alike but for
// their names.
func template(r *rand.Rand, i int) *api.Pod {
	b := member(r, i)
	switch r.IntN(4) {
	case 0:
	case 1:
		b = b.Requests("100m", "200Mi")
	case 2:
		b = b.Requests(pick(r, "250m", "1", "1500m"), pick(r, "512Mi", "1Gi", "3Gi"))
	case 3:
		b = b.Request(resource.CPU, pick(r, "0", "500m", "100"))
	}
	if chance(r, 6) {
		b = b.Request(gpu, pick(r, "1", "2"))
	}
	if chance(r, 4) {
		b = b.NodeSelector("disk", pick(r, "ssd", "hdd", "tape"))
	}
	if chance(r, 4) {
		b = b.NodeAffinity(pick(r, "topology.kubernetes.io/zone in (a,b)", "cores>4", "disk!=ssd"))
	}
	for range r.IntN(3) {
		b = b.PreferNodes(int32(1+r.IntN(100)), pick(r, "topology.kubernetes.io/zone=a", "disk=ssd", "cores<8"))
	}
	if chance(r, 3) {
		b = b.Tolerates(pick(r, "dedicated=db:NoSchedule", "spot", "old:NoExecute", ""))
	}
	if chance(r, 6) {
		b = b.HostPort(int32(8000 + r.IntN(2)))
	}
	if chance(r, 6) {
		b = b.InitContainer("init").Image("app-2:v1").Requests("1", "1Gi")
	}
	p := wantsGPUs(r, needsDevices(r, mounts(r, neighbours(r, b))))
	if chance(r, 12) {
		p.Spec.HostNetwork, p.Spec.HostUsers = true, new(false) // a feature that nodes declare
	}
	return p
}

// modest makes the pod of a class that asks for little more than room, so that
// it is others that keep it from a node.
func modest(r *rand.Rand, i int) *api.Pod {
	b := member(r, i).Requests(pick(r, "500m", "1", "1500m"), pick(r, "512Mi", "1Gi", "3Gi"))
	if chance(r, 6) {
		b = b.HostPort(int32(8000 + r.IntN(2)))
	}
	if chance(r, 6) {
		b = b.Tolerates("")
	}
	if chance(r, 4) {
		return neighbours(r, b)
	}
	if chance(r, 4) {
		return needsDevices(r, mounts(r, b.Obj()))
	}
	return wantsGPUs(r, b.Obj())
}

// small makes the pod of a class that differs from others in how little it requests.
func small(r *rand.Rand, i int) *api.Pod {
	b := api.MakePod("pod").Labels("app", fmt.Sprintf("app-%d", i%5)).
		Requests(fmt.Sprintf("%dm", 10*(1+r.IntN(40))), fmt.Sprintf("%dMi", 16*(1+r.IntN(40))))
	switch {
	case chance(r, 10):
		b = b.HostPort(int32(8000 + r.IntN(2)))
	case chance(r, 10):
		b = b.Tolerates("")
	}
	return b.Obj()
}

// member begins a pod: where it belongs and what it is worth.
func member(r *rand.Rand, i int) api.PodBuilder {
	b := api.MakePod("pod").Namespace(pick(r, "default", "default", "team")).
		Labels("app", fmt.Sprintf("app-%d", i%5)).Image(fmt.Sprintf("app-%d", i%4))
	if chance(r, 3) {
		b = b.Labels("tier", pick(r, "front", "back"))
	}
	if chance(r, 8) {
		b = b.Sidecar("proxy").Requests("50m", "64Mi")
	}
	if chance(r, 8) {
		b = b.Overhead(resource.CPU, pick(r, "100m", "1")).Overhead(resource.Memory, "64Mi")
	}
	if chance(r, 8) {
		b = b.PodRequest(resource.CPU, pick(r, "300m", "2"))
	}
	return owned(r, ranked(r, b))
}

// stamp makes one pod of a template.
func stamp(t *api.Pod, serial int) *api.Pod {
	p := *t
	p.Name = fmt.Sprintf("pod-%d", serial)
	p.UID = api.UID(strings.ToUpper(p.Name))
	return &p
}

// changeServices lets a service, or a workload, select one sort of pod and
// another in turn, so that what was counted for one of them counts again. Pods of
// a class are decided for between, and now and then a node moves.
func (h *history) changeServices() error {
	r := h.r
	of := pick(r, h.templates...)
	kinds := []map[string]string{{"app": of.Labels["app"]}, {"tier": pick(r, "front", "back")}}
	if tier, ok := of.Labels["tier"]; ok {
		kinds[1]["tier"] = tier
	}
	owner := of.ControllerRef()
	for i := range 3 + r.IntN(6) {
		if owner != nil && owner.Kind == "ReplicaSet" && chance(r, 3) {
			set := &api.ReplicaSet{ObjectMeta: api.ObjectMeta{Name: owner.Name, Namespace: of.Namespace}}
			set.Spec.Selector = &api.LabelSelector{MatchLabels: kinds[i%2]}
			if err := framework.Put(h.snap, set); err != nil {
				return err
			}
		}
		s := &api.Service{ObjectMeta: api.ObjectMeta{Name: "turning", Namespace: of.Namespace}}
		s.Spec.Selector = kinds[i%2]
		if err := framework.Put(h.snap, s); err != nil {
			return err
		}
		if chance(r, 6) {
			if err := h.snap.UpdateNode(h.node(h.someNode().Name())); err != nil {
				return err
			}
		}
		if err := h.scheduleOf(of, true); err != nil {
			return err
		}
	}
	return nil
}
