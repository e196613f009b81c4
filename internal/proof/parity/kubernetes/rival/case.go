package rival

import (
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/workload"

	apps "k8s.io/api/apps/v1"
	policy "k8s.io/api/policy/v1"
	storage "k8s.io/api/storage/v1"
)

// Fill puts the cluster of a case into an empty scheduler: objects, nodes, pods,
// nominated pods. It returns the pod to place.
func (s *Scheduler) Fill(c *golden.Case) (*v1.Pod, error) {
	if err := s.FillObjects(c); err != nil {
		return nil, err
	}
	for _, n := range c.Nodes {
		node, err := workload.Convert[v1.Node](n)
		if err != nil {
			return nil, err
		}
		s.AddNode(node)
	}
	for _, p := range c.Pods {
		pod, err := workload.Convert[v1.Pod](p)
		if err != nil {
			return nil, err
		}
		if err := s.AddPod(pod); err != nil {
			return nil, err
		}
	}
	for _, p := range c.Nominated {
		pod, err := workload.Convert[v1.Pod](p)
		if err != nil {
			return nil, err
		}
		if err := s.Nominate(pod); err != nil {
			return nil, err
		}
	}
	pod, err := workload.Convert[v1.Pod](c.Pod)
	if err != nil {
		return nil, err
	}
	if c.Pod.Spec.NodeSelector != nil && pod.Spec.NodeSelector == nil {
		pod.Spec.NodeSelector = map[string]string{} // JSON leaves it out
	}
	// Preemption asks the API server for the pod.
	return pod, s.pods.Add(pod)
}

// FillObjects adds the objects of a case other than nodes and pods.
func (s *Scheduler) FillObjects(c *golden.Case) error {
	objects, err := objectsOf(c)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := s.known.put(object); err != nil {
			return err
		}
	}
	return nil
}

// objectsOf returns the objects of a case other than nodes and pods.
func objectsOf(c *golden.Case) ([]runtime.Object, error) {
	var list []runtime.Object
	return list, errors.Join(
		convert[v1.Namespace](&list, c.Namespaces),
		convert[v1.Service](&list, c.Services),
		convert[v1.ReplicationController](&list, c.ReplicationControllers),
		convert[apps.ReplicaSet](&list, c.ReplicaSets),
		convert[apps.StatefulSet](&list, c.StatefulSets),
		convert[policy.PodDisruptionBudget](&list, c.PodDisruptionBudgets),
		convert[v1.PersistentVolume](&list, c.PersistentVolumes),
		convert[v1.PersistentVolumeClaim](&list, c.PersistentVolumeClaims),
		convert[storage.StorageClass](&list, c.StorageClasses),
		convert[storage.CSINode](&list, c.CSINodes),
		convert[storage.CSIDriver](&list, c.CSIDrivers),
		convert[storage.CSIStorageCapacity](&list, c.CSIStorageCapacities),
		convert[storage.VolumeAttachment](&list, c.VolumeAttachments),
	)
}

// convert appends the Kubernetes objects with the JSON of berth's objects.
func convert[T, B any, P interface {
	*T
	runtime.Object
}](list *[]runtime.Object, objects []*B) error {
	for _, o := range objects {
		object, err := workload.Convert[T](o)
		if err != nil {
			return err
		}
		*list = append(*list, P(object))
	}
	return nil
}

// Reset empties the scheduler: all objects in it, and all state of its cycles.
func (s *Scheduler) Reset() error {
	dump := s.sched.Cache.Dump()
	for _, n := range dump.Nodes {
		for _, p := range n.GetPods() {
			if err := s.RemovePod(p.GetPod()); err != nil {
				return fmt.Errorf("reset: %w", err)
			}
		}
	}
	for _, n := range dump.Nodes {
		if node := n.Node(); node != nil {
			if err := s.RemoveNode(node); err != nil {
				return fmt.Errorf("reset: %w", err)
			}
		}
	}
	pods, _ := s.sched.SchedulingQueue.PendingPods()
	for _, p := range pods {
		s.sched.SchedulingQueue.Delete(s.logger, p)
	}
	for _, object := range s.pods.List() {
		if p, ok := object.(*v1.Pod); ok {
			s.sched.SchedulingQueue.DeleteNominatedPodIfExists(p)
		}
		if err := s.pods.Delete(object); err != nil {
			return fmt.Errorf("reset: %w", err)
		}
	}
	s.setStart(0)
	if err := s.known.clear(); err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	// Otherwise new nodes with the same names would take the places of the old ones.
	return s.sched.Cache.UpdateSnapshot(s.logger, s.snapshot)
}
