package simulate

import (
	"fmt"
	"strconv"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/internal/volumes"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// keep notes what the controllers of claims need of an object that came or changed, before the scheduler takes
// it in. The scheduler tells of objects that cannot be.
func (w *world) keep(object any) {
	switch o := object.(type) {
	case *api.PersistentVolume:
		_ = framework.Put(w.claims, o)
	case *api.PersistentVolumeClaim:
		_ = framework.Put(w.claims, o)
	case *api.StorageClass:
		_ = framework.Put(w.claims, o)
	case *api.ResourceClaim:
		_ = framework.Put(w.claims, o)
	}
}

// drop is keep for an object that went.
func (w *world) drop(ref Ref) {
	switch ref.Kind {
	case "PersistentVolume":
		framework.Delete[api.PersistentVolume](w.claims, ref.Name)
	case "PersistentVolumeClaim":
		framework.Delete[api.PersistentVolumeClaim](w.claims, ref.Name)
	case "StorageClass":
		framework.Delete[api.StorageClass](w.claims, ref.Name)
	case "ResourceClaim":
		framework.Delete[api.ResourceClaim](w.claims, ref.Name)
	}
}

// change tells of claims and volumes that controllers have changed. Their versions are no numbers, so that
// the scheduler does not ignore them.
func (w *world) change(o *api.Objects) {
	for _, v := range o.PersistentVolumes {
		v.ResourceVersion = ""
	}
	for _, c := range o.PersistentVolumeClaims {
		c.ResourceVersion = ""
	}
	for _, c := range o.ResourceClaims {
		c.ResourceVersion = ""
	}
	for _, x := range items(o) {
		w.update(x)
	}
}

// provision makes the volumes of claims that came, or whose class came, and that wait for no pod. A claim stays as
// it is if its class has volumes that are free.
func (w *world) provision(came *api.Objects) {
	list := came.PersistentVolumeClaims
	if len(came.StorageClasses) > 0 {
		list = framework.List[api.PersistentVolumeClaim](w.claims)
	}
	if len(list) == 0 {
		return
	}
	free := map[string]bool{}
	for _, v := range framework.List[api.PersistentVolume](w.claims) {
		if r := v.Spec.ClaimRef; r == nil || r.UID == "" {
			free[volumes.ClassOfVolume(v)] = true
		}
	}
	for _, c := range list {
		if !free[volumes.ClassOfClaim(c)] {
			o := volumes.AtOnce(w.claims, c)
			w.change(&o)
		}
	}
}

// makeClaims makes the claims of a pod's ephemeral volumes, before it comes.
func (w *world) makeClaims(p *api.Pod) error {
	if w.config.Trace.Recorded {
		return nil
	}
	o, err := volumes.NewClaims(w.claims, p)
	if err != nil {
		return err
	}
	if w.madeClaims += len(o.PersistentVolumeClaims); w.madeClaims > maxMade {
		return &api.InvalidError{
			Object: "pod " + p.Key(), Field: "spec.volumes", Value: strconv.Itoa(len(p.Spec.Volumes)),
			Err: fmt.Errorf("%d claims have been made for ephemeral volumes: want fewer pods with them", w.madeClaims),
		}
	}
	w.change(&o)
	return nil
}

// bindClaims writes what the binding of a pod, and then controllers, write into claims that it names.
func (w *world) bindClaims(a *lifecycle.Attempt) {
	if a.State != lifecycle.Bound || w.config.Trace.Recorded || !a.Pod.HasClaims() && !a.Pod.HasVolumeClaims() {
		return
	}
	s := w.driver.Snapshot()
	l, node := w.pods[a.Pod.Pod.Key()], s.Node(a.Decision.Node)
	if l == nil || l.node == nil || node == nil || l.pod.UID != a.Pod.Pod.UID {
		return // it has gone meanwhile
	}
	o := volumes.Bound(s, a.Pod.Pod, node.Node)
	o.ResourceClaims = devices.Settled(w.claims, s, a.Pod)
	w.change(&o)
}

// leaveClaims takes a pod that went off its claims. Those that were made for it go, too.
func (w *world) leaveClaims(p *api.Pod) {
	if w.config.Trace.Recorded {
		return
	}
	changed, gone := devices.Left(w.claims, p)
	w.change(&api.Objects{ResourceClaims: changed})
	for _, c := range gone {
		w.forget(Ref{"ResourceClaim", c.Key()}, lifecycle.Delete(c))
	}
	o := volumes.GoneClaims(w.claims, p)
	for _, c := range o.PersistentVolumeClaims {
		w.forget(Ref{"PersistentVolumeClaim", c.Key()}, lifecycle.Delete(c))
	}
	for _, v := range o.PersistentVolumes {
		w.forget(Ref{"PersistentVolume", v.Name}, lifecycle.Delete(v))
	}
}
