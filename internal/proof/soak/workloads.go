package soak

import (
	"fmt"
	"math/rand/v2"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// namespace makes or changes a namespace.
func namespace(r *rand.Rand) *api.Namespace {
	n := &api.Namespace{ObjectMeta: api.ObjectMeta{Name: pick(r, "default", "team")}}
	if !chance(r, 3) {
		n.Labels = map[string]string{"env": pick(r, "prod", "test")}
	}
	return n
}

func service(r *rand.Rand) *api.Service {
	return &api.Service{ObjectMeta: named(r, "a", "b"), Spec: api.ServiceSpec{Selector: labels(r)}}
}

func named(r *rand.Rand, names ...string) api.ObjectMeta {
	return api.ObjectMeta{Name: pick(r, names...), Namespace: pick(r, "default", "default", "team")}
}

// labels are what a service or a workload may select; nil for nothing.
func labels(r *rand.Rand) map[string]string {
	switch r.IntN(8) {
	case 0:
		return nil
	case 1:
		return map[string]string{}
	case 2:
		return map[string]string{"tier": pick(r, "front", "back")}
	}
	return map[string]string{"app": fmt.Sprint("app-", r.IntN(3))}
}

// The names of workloads; few of them, so that owners come, go and change.
func workloadName(r *rand.Rand) string { return pick(r, "w0", "w1", "w2") }

// owned makes some pods belong to a workload, which may exist or not.
func owned(r *rand.Rand, b api.PodBuilder) api.PodBuilder {
	if chance(r, 3) {
		return b
	}
	kind := pick(r, "ReplicaSet", "ReplicaSet", "StatefulSet", "ReplicationController", "Job", "Deployment")
	if kind == "Deployment" {
		b = b.Labels("pod-template-hash", pick(r, "a", "b"))
	}
	return b.Owner(kind, workloadName(r))
}

// changeObjects puts or deletes an object that pods belong with.
func (h *history) changeObjects() error {
	r := h.r
	switch r.IntN(12) {
	case 0:
		framework.Delete[api.Namespace](h.snap, "team")
	case 1:
		framework.Delete[api.Service](h.snap, pick(r, "default/a", "default/b", "team/a"))
	case 2:
		key := "default/" + workloadName(r)
		framework.Delete[api.ReplicaSet](h.snap, key)
		framework.Delete[api.StatefulSet](h.snap, key)
		framework.Delete[api.ReplicationController](h.snap, key)
		framework.Delete[api.Deployment](h.snap, key)
	case 3, 4:
		return framework.Put(h.snap, namespace(r))
	case 5, 6, 7:
		return framework.Put(h.snap, service(r))
	case 8:
		s := &api.StatefulSet{ObjectMeta: named(r, workloadName(r))}
		s.Spec.Selector = selector(r)
		return framework.Put(h.snap, s)
	case 9:
		rc := &api.ReplicationController{ObjectMeta: named(r, workloadName(r))}
		rc.Spec.Selector = labels(r)
		return framework.Put(h.snap, rc)
	case 10:
		d := &api.Deployment{ObjectMeta: named(r, workloadName(r))}
		d.Spec.Selector = selector(r)
		return framework.Put(h.snap, d)
	default:
		s := &api.ReplicaSet{ObjectMeta: named(r, workloadName(r))}
		s.Spec.Selector = selector(r)
		return framework.Put(h.snap, s)
	}
	return nil
}
