package framework

import (
	"errors"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// SnapshotOf makes a snapshot of the nodes with the pods that run on them, and returns
// the PodInfos of the pods that wait for a place.
//
// Nodes and pods are added in their order in o. A pod whose spec.nodeName is set is
// added to that node, unless it Succeeded or Failed: such a pod no longer uses its
// node. A pod without a node is pending, even if it has scheduling gates; it is left
// out if it Succeeded, Failed or is being deleted. Objects of other kinds are put into
// the snapshot ([Put]); of several with one key the last one stays. The time is not
// set.
//
// The objects are taken as they are: call [api.Objects.Default] first for those
// that have never passed an API server.
//
// The error joins an [*api.InvalidError] for each node or pod that [Snapshot.AddNode] or
// [Snapshot.NewPodInfo] refuses, whose name or UID another one has, or whose node is
// not there. All others are in the snapshot and in pending nevertheless, so a caller
// may go on after an error. It costs O(nodes + pods).
func SnapshotOf(o *api.Objects, order NodeOrder) (s *Snapshot, pending []*PodInfo, err error) {
	s = NewSnapshot(order)
	if o == nil {
		return s, nil, &api.InvalidError{Object: "objects", Err: errNil}
	}
	var errs []error
	for _, node := range o.Nodes {
		if err := s.AddNode(node); err != nil {
			errs = append(errs, err)
		}
	}
	seen := podRegister{make(map[podName]struct{}, len(o.Pods)), make(map[api.UID]*api.Pod, len(o.Pods))}
	for _, p := range o.Pods {
		waits, err := s.load(p, seen)
		if err != nil {
			errs = append(errs, err)
		}
		if waits != nil {
			pending = append(pending, waits)
		}
	}
	errs = append(errs, putAll(s, o)...)
	return s, pending, errors.Join(errs...)
}

// putAll puts the objects that are neither pods nor nodes into the snapshot.
func putAll(s *Snapshot, o *api.Objects) []error {
	return slices.Concat(
		putEach(s, o.Namespaces), putEach(s, o.PriorityClasses), putEach(s, o.PodDisruptionBudgets), putEach(s, o.PodGroups),
		putEach(s, o.CompositePodGroups), putEach(s, o.Workloads),
		putEach(s, o.Services), putEach(s, o.ReplicationControllers), putEach(s, o.ReplicaSets),
		putEach(s, o.StatefulSets), putEach(s, o.Deployments), putEach(s, o.DaemonSets), putEach(s, o.Jobs),
		putEach(s, o.PersistentVolumes), putEach(s, o.PersistentVolumeClaims), putEach(s, o.StorageClasses),
		putEach(s, o.CSINodes), putEach(s, o.CSIDrivers), putEach(s, o.CSIStorageCapacities),
		putEach(s, o.VolumeAttachments), putEach(s, o.DeviceClasses), putEach(s, o.ResourceSlices), putEach(s, o.ResourceClaims),
		putEach(s, o.ResourceClaimTemplates), putEach(s, o.DeviceTaintRules), putEach(s, o.NodeMetrics), putEach(s, o.Clusters),
	)
}

func putEach[T api.Object](s *Snapshot, list []*T) (errs []error) {
	for _, x := range list {
		if err := Put(s, x); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// load adds a pod that runs to its node, and returns one that waits.
func (s *Snapshot) load(p *api.Pod, seen podRegister) (waits *PodInfo, err error) {
	info, err := s.NewPodInfo(p)
	if err != nil {
		return nil, err
	}
	if err := seen.add(p); err != nil {
		return nil, err
	}
	switch {
	case p.Status.Phase.HasEnded():
		return nil, nil
	case p.Spec.NodeName != "":
		return nil, s.AddPod(info, p.Spec.NodeName)
	case p.DeletionTimestamp != nil:
		return nil, nil
	}
	return info, nil
}

// podRegister finds pods of one name or UID.
type podRegister struct {
	names map[podName]struct{}
	uids  map[api.UID]*api.Pod
}

func (r podRegister) add(p *api.Pod) error {
	name := podName{p.Namespace, p.Name}
	if _, ok := r.names[name]; ok {
		return &api.InvalidError{Object: podObject(p), Field: "metadata.name", Value: p.Name, Err: errDuplicatePod}
	}
	r.names[name] = struct{}{}
	if p.UID == "" {
		return nil
	}
	if other, ok := r.uids[p.UID]; ok {
		return &api.InvalidError{
			Object: podObject(p), Field: "metadata.uid", Value: string(p.UID), Err: fmt.Errorf("pod %s has the same", other.Key()),
		}
	}
	r.uids[p.UID] = p
	return nil
}

var errDuplicatePod = errors.New("there is already a pod of this name")
