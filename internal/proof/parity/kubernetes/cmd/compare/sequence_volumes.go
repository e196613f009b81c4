package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/cases"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/rival"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/workload"
	"github.com/berth-sched/berth/resource"
)

// put puts an object on both sides.
func put[B api.Object, K any, P interface {
	*K
	runtime.Object
}](w *walk, object *B) error {
	theirs, err := workload.Convert[K](object)
	if err != nil {
		return err
	}
	return errors.Join(framework.Put(w.snapshot, object), w.theirs.Put(P(theirs)))
}

// putVolume puts a copy of the volume on both sides, as a new version.
func (w *walk) putVolume(v api.PersistentVolume) error {
	w.version++
	v.ResourceVersion = strconv.Itoa(w.version)
	w.volumes[v.Key()] = true
	return put[api.PersistentVolume, v1.PersistentVolume](w, &v)
}

// putClaim puts a copy of the claim on both sides, as a new version.
func (w *walk) putClaim(c api.PersistentVolumeClaim) error {
	w.version++
	c.ResourceVersion = strconv.Itoa(w.version)
	w.claims[c.Key()] = true
	return put[api.PersistentVolumeClaim, v1.PersistentVolumeClaim](w, &c)
}

// object takes a step about an object or about a pod's reservations.
func (w *walk) object(s *cases.Step) error {
	switch {
	case s.Volume != nil:
		return w.putVolume(*s.Volume)
	case s.Claim != nil:
		return w.putClaim(*s.Claim)
	case s.CSINode != nil:
		return put[api.CSINode, storage.CSINode](w, s.CSINode)
	case s.Capacity != nil:
		return put[api.CSIStorageCapacity, storage.CSIStorageCapacity](w, s.Capacity)
	case s.Leaving != "":
		v := framework.Lookup[api.PersistentVolume](w.snapshot, s.Leaving)
		if v == nil {
			return nil
		}
		copied := *v
		copied.DeletionTimestamp = new(time.Unix(1_700_000_000, 0).UTC())
		return w.putVolume(copied)
	case s.DropVolume != "":
		gone := &v1.PersistentVolume{}
		gone.Name = s.DropVolume
		framework.Delete[api.PersistentVolume](w.snapshot, s.DropVolume)
		return w.theirs.Drop(gone)
	case s.DropClaim != "":
		c := framework.Lookup[api.PersistentVolumeClaim](w.snapshot, s.DropClaim)
		if c == nil {
			return nil
		}
		gone := &v1.PersistentVolumeClaim{}
		gone.Name, gone.Namespace = c.Name, c.Namespace
		framework.Delete[api.PersistentVolumeClaim](w.snapshot, s.DropClaim)
		return w.theirs.Drop(gone)
	case s.Write != "":
		return w.write(w.unbound(s.Write))
	case s.Finish != "":
		return w.finish(w.unbound(s.Finish))
	case s.Fail != "":
		return w.fail(w.unbound(s.Fail))
	}
	if p := w.unbound(s.Release); p != nil {
		return w.remove(p.ours.Pod.Key())
	}
	return nil
}

// unbound returns the pod with that key, or the next one, that is on a node but not
// bound. It returns nil if there is none.
func (w *walk) unbound(key string) *placed {
	return next(w.pods, key, func(p *placed) bool { return p.reserved != nil })
}

// next returns the first accepted pod from a key on. After the last key it goes on
// with the first.
func next(pods map[string]*placed, key string, will func(*placed) bool) *placed {
	keys := slices.Sorted(maps.Keys(pods))
	at, _ := slices.BinarySearch(keys, key)
	for i := range keys {
		if p := pods[keys[(at+i)%len(keys)]]; will(p) {
			return p
		}
	}
	return nil
}

// claimsOf returns the claims of a pod that wait for their volumes.
func (w *walk) claimsOf(p *placed) (list []*api.PersistentVolumeClaim) {
	for _, v := range p.ours.Pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		c := framework.Lookup[api.PersistentVolumeClaim](w.snapshot, p.ours.Pod.Namespace+"/"+v.PersistentVolumeClaim.ClaimName)
		if c != nil && c.Annotations[api.AnnBindCompleted] == "" && !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// reservedFor returns the first volume reserved for a claim, nil if there is none.
func (w *walk) reservedFor(c *api.PersistentVolumeClaim) *api.PersistentVolume {
	if list := w.allReservedFor(c); len(list) > 0 {
		return list[0]
	}
	return nil
}

// allReservedFor returns the volumes reserved for a claim. A pod that names a claim twice
// reserves two.
func (w *walk) allReservedFor(c *api.PersistentVolumeClaim) (list []*api.PersistentVolume) {
	for _, v := range framework.List[api.PersistentVolume](w.snapshot) {
		if r := v.Spec.ClaimRef; r != nil && r.Name == c.Name && r.Namespace == c.Namespace && r.UID == c.UID {
			list = append(list, v)
		}
	}
	return list
}

// sharedReservations returns what kube-scheduler holds reserved for the pod's claims before
// the pod is placed. Only another pod can have reserved it.
func (w *walk) sharedReservations(p *placed) (rival.Reservations, error) {
	if !refusedAtReserve(p) {
		return rival.Reservations{}, nil
	}
	var volumes, claims []string
	for _, c := range w.claimsOf(p) {
		claims = append(claims, c.Key())
		for _, v := range w.allReservedFor(c) {
			volumes = append(volumes, v.Name)
		}
	}
	return w.theirs.Reservations(volumes, claims)
}

// reinstate puts right what kube-scheduler does otherwise: if a pod is rejected at Reserve,
// it also reverts the reservations of another pod for the same claims. See deviations.
func (w *walk) reinstate(p *placed, shared rival.Reservations, theirErr error) error {
	var refused *rival.Refused
	if !refusedAtReserve(p) || !errors.As(theirErr, &refused) {
		return nil
	}
	n, err := w.theirs.Reinstate(shared)
	w.known += one(n > 0)
	w.events["reverted for another pod"] += n
	return err
}

func refusedAtReserve(p *placed) bool {
	return p.ours.Pod.Annotations[cases.AnnRefuse] == "Reserve"
}

// write writes the reservations of the pod's claims, as PreBind does.
func (w *walk) write(p *placed) error {
	if p == nil {
		return nil
	}
	for _, c := range w.claimsOf(p) {
		if v := w.reservedFor(c); v != nil {
			w.events["volume written"]++
			if err := w.putVolume(*v); err != nil {
				return err
			}
		}
		if c.Annotations[api.AnnSelectedNode] != "" {
			if err := w.putClaim(*c); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish gives the pod's claims their volumes, as controllers do, and binds the
// pod.
func (w *walk) finish(p *placed) error {
	if p == nil {
		return nil
	}
	for _, c := range w.claimsOf(p) {
		v := w.reservedFor(c)
		w.events["bound to a volume"] += one(v != nil)
		if v == nil && c.Annotations[api.AnnSelectedNode] == p.node {
			v = made(c, p.node)
			w.events["volume made"]++
		}
		if v == nil {
			continue
		}
		bound, claim := *v, *c
		bound.Status.Phase = api.VolumeBound
		claim.Spec.VolumeName, claim.Status.Phase = v.Name, api.ClaimBound
		claim.Annotations = maps.Clone(c.Annotations)
		if claim.Annotations == nil {
			claim.Annotations = map[string]string{}
		}
		claim.Annotations[api.AnnBindCompleted] = "yes"
		if err := errors.Join(w.putVolume(bound), w.putClaim(claim)); err != nil {
			return err
		}
	}
	p.reserved = nil
	return nil
}

// made returns a volume that was made for a claim on a node.
func made(c *api.PersistentVolumeClaim, node string) *api.PersistentVolume {
	name := "made-" + c.Namespace + "-" + c.Name
	v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: name, UID: api.UID(name)}}
	v.Spec.Capacity = resource.List{resource.Storage: c.Spec.Resources.Requests[resource.Storage]}
	v.Spec.AccessModes = c.Spec.AccessModes
	v.Spec.StorageClassName = *c.Spec.StorageClassName
	v.Spec.ClaimRef = &api.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name, UID: c.UID}
	v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: name}
	if v.Spec.StorageClassName == "tracked" {
		v.Spec.CSI.Driver = "other.example.com"
	}
	v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
		MatchExpressions: []api.NodeSelectorRequirement{{
			Key: api.LabelHostname, Operator: api.NodeSelectorOpIn, Values: []string{node},
		}},
	}}}}
	return v
}

// fail makes provisioning fail: it removes the selected node from the claims, and
// the pod from its node.
func (w *walk) fail(p *placed) error {
	if p == nil {
		return nil
	}
	for _, c := range w.claimsOf(p) {
		if c.Annotations[api.AnnSelectedNode] == "" {
			continue
		}
		claim := *c
		claim.Annotations = maps.Clone(c.Annotations)
		delete(claim.Annotations, api.AnnSelectedNode)
		w.events["volume not made"]++
		if err := w.putClaim(claim); err != nil {
			return err
		}
	}
	return w.remove(p.ours.Pod.Key())
}

// stateful reports whether the step may change the reservations of volumes.
func (w *walk) stateful(s *cases.Step) bool {
	return len(w.volumes)+len(w.claims) > 0 && s.UpdateNode == nil && s.AddNode == nil
}

// compareVolumes compares all volumes and claims as VolumeBinding sees them.
func (w *walk) compareVolumes() (string, error) {
	for _, name := range slices.Sorted(maps.Keys(w.volumes)) {
		theirs, err := w.theirs.Volume(name)
		if err != nil {
			return "", err
		}
		got, want := "none", "none"
		if v := framework.Lookup[api.PersistentVolume](w.snapshot, name); v != nil {
			got = fmt.Sprint(v.Status.Phase, v.Annotations)
			if r := v.Spec.ClaimRef; r != nil {
				got += fmt.Sprint(" ", r.Kind, r.Namespace, r.Name, r.UID)
			}
		}
		if theirs != nil {
			want = fmt.Sprint(theirs.Status.Phase, theirs.Annotations)
			if r := theirs.Spec.ClaimRef; r != nil {
				want += fmt.Sprint(" ", r.Kind, r.Namespace, r.Name, r.UID)
			}
		}
		if got != want {
			return fmt.Sprintf("volume %s = %q, want %q", name, got, want), nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(w.claims)) {
		theirs, err := w.theirs.Claim(key)
		if err != nil {
			return "", err
		}
		got, want := "none", "none"
		if c := framework.Lookup[api.PersistentVolumeClaim](w.snapshot, key); c != nil {
			got = fmt.Sprint(c.Status.Phase, c.Spec.VolumeName, c.Annotations)
		}
		if theirs != nil {
			want = fmt.Sprint(theirs.Status.Phase, theirs.Spec.VolumeName, theirs.Annotations)
		}
		if got != want {
			return fmt.Sprintf("claim %s = %q, want %q", key, got, want), nil
		}
	}
	return "", nil
}
