package api

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/resource"
)

// The annotations and labels that defaulting reads and writes.
const (
	annDefaultClass     = "storageclass.kubernetes.io/is-default-class"
	annDefaultClassBeta = "storageclass.beta.kubernetes.io/is-default-class"
	annClassBeta        = "volume.beta.kubernetes.io/storage-class"
	labelNamespaceName  = "kubernetes.io/metadata.name"
)

// Default fills in what the API server adds to new objects, as far as scheduling
// reads it. Objects from a cluster are complete. Call Default on manifests before
// you schedule them, because schedulers rely on these values. Default fills in
//
//   - pods: everything that [DefaultPod] does, with the priority classes in o;
//   - nodes: allocatable from capacity, if there is none at all;
//   - namespaces: the label kubernetes.io/metadata.name;
//   - replication controllers: the selector, from the labels of the template;
//   - claims without a volume: the newest default storage class;
//   - storage classes: the volume binding mode Immediate;
//   - volumes of Ceph: the pool rbd;
//   - requests for devices: the mode ExactCount, the count 1, and the operator Equal of
//     tolerations, in claims and in their templates.
//
// Default keeps existing values, so calling it again changes nothing. If a pod
// names a priority class that is neither in o nor built into Kubernetes, Default
// returns an [*InvalidError] and leaves o unchanged.
//
// Nil objects are ignored; [framework.SnapshotOf] reports them. Templates inside
// workloads stay unchanged: default the pods made from them.
//
// Differs: fields that scheduling does not read.
// Original: the API server fills them in, too.
// Here: they stay as they are.
// Why: nothing here reads them.
//
// Differs: invalid objects.
// Original: the API server refuses them.
// Here: they are not checked, except for the priority class of a pod.
// Why: objects are taken as they are; a cluster has checked its own.
//
// Differs: changes by admission plugins that depend on the cluster (service accounts,
// limit ranges, runtime classes).
// Original: the API server lets these plugins change pods.
// Here: they do not run.
// Why: manifests do not have the objects that these plugins read.
//
// Source: Kubernetes 1.37, pkg/apis/core/v1/defaults.go, pkg/registry/core/pod,
// pkg/apis/resource/v1/defaults.go, and the admission plugins Priority and
// DefaultStorageClass.
func (o *Objects) Default() error {
	o = o.withoutNil()
	for _, p := range o.Pods {
		if _, err := priorityClass(p, o.PriorityClasses); err != nil {
			return err
		}
	}
	for _, p := range o.Pods {
		if err := DefaultPod(p, o.PriorityClasses); err != nil {
			return err
		}
	}
	for _, n := range o.Nodes {
		defaultNode(n)
	}
	for _, n := range o.Namespaces {
		if n.Labels[labelNamespaceName] != n.Name {
			n.Labels = withLabel(n.Labels, labelNamespaceName, n.Name)
		}
	}
	for _, c := range o.ReplicationControllers {
		if t := c.Spec.Template; t != nil && len(c.Spec.Selector) == 0 {
			c.Spec.Selector = t.Labels
		}
	}
	for _, c := range o.StorageClasses {
		if c.VolumeBindingMode == nil {
			c.VolumeBindingMode = new(VolumeBindingImmediate)
		}
	}
	class := defaultStorageClass(o.StorageClasses)
	for _, c := range o.PersistentVolumeClaims {
		c.Spec.Resources.Requests = wholeMilli(c.Spec.Resources.Requests)
		if _, ok := c.Annotations[annClassBeta]; class != "" && !ok && c.Spec.StorageClassName == nil && c.Spec.VolumeName == "" {
			c.Spec.StorageClassName = new(class)
		}
	}
	for _, v := range o.PersistentVolumes {
		v.Spec.Capacity = wholeMilli(v.Spec.Capacity)
		if r := v.Spec.RBD; r != nil && r.RBDPool == "" {
			r.RBDPool = defaultRBDPool
		}
	}
	for _, c := range o.ResourceClaims {
		defaultDeviceClaim(&c.Spec.Devices)
	}
	for _, c := range o.ResourceClaimTemplates {
		defaultDeviceClaim(&c.Spec.Spec.Devices)
	}
	return nil
}

// withoutNil returns the objects that Default reads, without nil entries.
func (o *Objects) withoutNil() *Objects {
	return &Objects{
		Pods: present(o.Pods), PriorityClasses: o.PriorityClasses, Nodes: present(o.Nodes), Namespaces: present(o.Namespaces),
		ReplicationControllers: present(o.ReplicationControllers), StorageClasses: present(o.StorageClasses),
		PersistentVolumeClaims: present(o.PersistentVolumeClaims), PersistentVolumes: present(o.PersistentVolumes),
		ResourceClaims: present(o.ResourceClaims), ResourceClaimTemplates: present(o.ResourceClaimTemplates),
	}
}

// present returns the list without nils.
func present[T any](list []*T) []*T {
	if !slices.Contains(list, nil) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(x *T) bool { return x == nil })
}

const defaultRBDPool = "rbd"

// defaultNode fills in a node's allocatable resources.
func defaultNode(n *Node) {
	s := &n.Status
	s.Capacity, s.Allocatable = wholeMilli(s.Capacity), wholeMilli(s.Allocatable)
	if s.Allocatable == nil {
		s.Allocatable = s.Capacity.Clone()
	}
}

// defaultStorageClass returns the name of the storage class for claims without one:
// the newest class marked as default, by name among equally new ones. It returns ""
// if there is none.
func defaultStorageClass(classes []*StorageClass) string {
	var best *StorageClass
	for _, c := range classes {
		if c.Annotations[annDefaultClass] != "true" && c.Annotations[annDefaultClassBeta] != "true" {
			continue
		}
		if best == nil || c.CreationTimestamp.After(best.CreationTimestamp) ||
			c.CreationTimestamp.Equal(best.CreationTimestamp) && c.Name < best.Name {
			best = c
		}
	}
	if best == nil {
		return ""
	}
	return best.Name
}

// withLabel returns a copy of labels with one more.
func withLabel(labels map[string]string, key, value string) map[string]string {
	labels = maps.Clone(labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[key] = value
	return labels
}

// wholeMilli returns l with every quantity rounded up to thousandths, as the API
// server stores them. It copies l if there is anything to round.
func wholeMilli(l resource.List) resource.List {
	if isWholeMilli(l) {
		return l
	}
	rounded := make(resource.List, len(l))
	for name, q := range l {
		if r := resource.Milli(q.MilliValue()); q.Cmp(r) < 0 { // greater if MilliValue is saturated
			q = r
		}
		rounded[name] = q
	}
	return rounded
}

// isWholeMilli reports whether wholeMilli has nothing to round.
func isWholeMilli(l resource.List) bool {
	for _, q := range l {
		if q.Cmp(resource.Milli(q.MilliValue())) < 0 {
			return false
		}
	}
	return true
}
