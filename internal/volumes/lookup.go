package volumes

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/errtext"
)

// key returns the key of a namespaced object.
func key(namespace, name string) string {
	m := api.ObjectMeta{Namespace: namespace, Name: name}
	return m.Key()
}

// A MissingError reports that an object does not exist, in the words of the
// Kubernetes API.
type MissingError struct {
	Kind, Name string
}

// maxText is how much of a name an error repeats. An API server takes 253 bytes.
const maxText = 1 << 10

// Error returns a text such as `persistentvolumeclaim "data" not found`.
func (e *MissingError) Error() string {
	return fmt.Sprintf("%s %q not found", e.Kind, errtext.Cut(e.Name, maxText))
}

// Claim returns a claim, or a [*MissingError].
func Claim(s *framework.Snapshot, namespace, name string) (*api.PersistentVolumeClaim, error) {
	if c := framework.Lookup[api.PersistentVolumeClaim](s, key(namespace, name)); c != nil {
		return c, nil
	}
	return nil, &MissingError{"persistentvolumeclaim", name}
}

// Volume returns a persistent volume, or a [*MissingError].
func Volume(s *framework.Snapshot, name string) (*api.PersistentVolume, error) {
	if v := framework.Lookup[api.PersistentVolume](s, name); v != nil {
		return v, nil
	}
	return nil, &MissingError{"persistentvolume", name}
}

// Class returns a storage class, or a [*MissingError].
func Class(s *framework.Snapshot, name string) (*api.StorageClass, error) {
	if c := framework.Lookup[api.StorageClass](s, name); c != nil {
		return c, nil
	}
	return nil, &MissingError{"storageclass.storage.k8s.io", name}
}

// CSINode returns the CSI drivers on a node, or nil if they are not known.
func CSINode(s *framework.Snapshot, node string) *api.CSINode {
	return framework.Lookup[api.CSINode](s, node)
}

// annBetaClass is the annotation for the class before the field existed.
const annBetaClass = "volume.beta.kubernetes.io/storage-class"

// ClassOfClaim returns the name of a claim's class, or "" for none.
func ClassOfClaim(c *api.PersistentVolumeClaim) string {
	if name, ok := c.Annotations[annBetaClass]; ok {
		return name
	}
	if c.Spec.StorageClassName != nil {
		return *c.Spec.StorageClassName
	}
	return ""
}

// ClassOfVolume returns the name of a volume's class, or "" for none.
func ClassOfVolume(v *api.PersistentVolume) string {
	if name, ok := v.Annotations[annBetaClass]; ok {
		return name
	}
	return v.Spec.StorageClassName
}

// CheckOwner returns an error unless the claim of an ephemeral volume was made
// for the pod.
func CheckOwner(p *api.Pod, c *api.PersistentVolumeClaim) error {
	if owner := c.ControllerRef(); c.Namespace == p.Namespace && owner != nil && owner.UID == p.UID {
		return nil
	}
	return fmt.Errorf("PVC %s/%s was not created for pod %s/%s (pod is not owner)", c.Namespace, c.Name, p.Namespace, p.Name)
}
