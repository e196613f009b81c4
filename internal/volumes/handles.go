package volumes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A Handle identifies a volume of a CSI driver.
type Handle struct {
	Driver, Name string
	unmade       bool // Name is the key of the claim that needs the volume
}

// Handles is a set of volumes.
type Handles map[Handle]struct{}

// add adds a volume; the zero Handle is none.
func (h *Handles) add(v Handle) {
	if v == (Handle{}) {
		return
	}
	if *h == nil {
		*h = Handles{}
	}
	(*h)[v] = struct{}{}
}

// AppendHandles appends the CSI volumes that a pod would use to an empty list, in the order of their
// drivers, each once. known says whether the drivers of the node are known. An error names the first
// volume that cannot be determined; for a missing claim it is a [*MissingError].
func AppendHandles(list []Handle, s *framework.Snapshot, p *framework.PodInfo, known bool) ([]Handle, error) {
	mounts := Of(p).Mounts
	for i := range mounts {
		h, err := handleOfMount(s, p.Pod, &mounts[i], known)
		if err != nil {
			return list[:0], err
		}
		if h != (Handle{}) {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, compareHandles)
	return slices.Compact(list), nil
}

// compareHandles orders handles by driver.
func compareHandles(a, b Handle) int {
	switch {
	case a.Driver != b.Driver:
		return strings.Compare(a.Driver, b.Driver)
	case a.Name != b.Name:
		return strings.Compare(a.Name, b.Name)
	case a.unmade == b.unmade:
		return 0
	case b.unmade:
		return -1
	}
	return 1
}

// NextDriver splits a list that is in the order of drivers before the handles of its second driver.
func NextDriver(list []Handle) (first, rest []Handle) {
	n := 1
	for n < len(list) && list[n].Driver == list[0].Driver {
		n++
	}
	return list[:n], list[n:]
}

var errNoName = errors.New("PersistentVolumeClaim had no name")

// handleOfMount returns the CSI volume of a pod's mount, the zero Handle if it is none. If
// known is set, the drivers of the node are known, and in-tree disks count as volumes of the
// driver that took them over.
//
// Source: kube-scheduler 1.37, nodevolumelimits, filterAttachableVolumes.
func handleOfMount(s *framework.Snapshot, p *api.Pod, m *Mount, known bool) (Handle, error) {
	if m.Disk != nil {
		return handleOfDisk(m.Disk, known)
	}
	if m.Claim.Name == "" {
		return Handle{}, errNoName
	}
	claim, err := Claim(s, p.Namespace, m.Claim.Name)
	if err != nil {
		return Handle{}, fmt.Errorf("looking up PVC %s/%s: %w", p.Namespace, m.Claim.Name, err)
	}
	if m.Claim.Ephemeral {
		if err := CheckOwner(p, claim); err != nil {
			return Handle{}, err
		}
	}
	return handleOfClaim(s, claim, known), nil
}

// handleOfDisk returns the volume of a disk that a pod names directly.
func handleOfDisk(v *api.Volume, known bool) (Handle, error) {
	plugin := inTreeOf(&v.VolumeSource)
	if !known || !plugin.countable {
		return Handle{}, nil
	}
	name, err := handleOf(&v.VolumeSource)
	if err != nil {
		return Handle{}, fmt.Errorf("converting volume(%s) from inline to csi: %w", v.Name, err)
	}
	return Handle{Driver: plugin.driver, Name: name}, nil
}

// handleOfClaim returns the CSI volume of a claim, or the volume to be made for it.
// It returns the zero Handle if this is not a CSI volume.
func handleOfClaim(s *framework.Snapshot, c *api.PersistentVolumeClaim, known bool) (h Handle) {
	if v := framework.Lookup[api.PersistentVolume](s, c.Spec.VolumeName); v != nil {
		h = handleOfPersistent(v, known)
	} else {
		h = handleOfClass(s, c, known)
	}
	if h.Driver == "" || h.Name == "" {
		return Handle{}
	}
	return h
}

func handleOfPersistent(v *api.PersistentVolume, known bool) Handle {
	if v.Spec.CSI != nil {
		return Handle{Driver: v.Spec.CSI.Driver, Name: v.Spec.CSI.VolumeHandle}
	}
	plugin := inTreeOfVolume(&v.Spec.PersistentVolumeSource)
	if plugin == nil || !plugin.countable || !known {
		return Handle{}
	}
	name, err := handleOfVolume(v)
	if err != nil {
		return Handle{}
	}
	return Handle{Driver: plugin.driver, Name: name}
}

func handleOfClass(s *framework.Snapshot, c *api.PersistentVolumeClaim, known bool) Handle {
	name := ClassOfClaim(c)
	class := framework.Lookup[api.StorageClass](s, name)
	if name == "" || class == nil {
		return Handle{}
	}
	h := Handle{Driver: class.Provisioner, Name: key(c.Namespace, c.Name), unmade: true}
	if plugin := inTreeNamed(class.Provisioner); plugin != nil {
		if !known || !plugin.countable {
			return Handle{}
		}
		h.Driver = plugin.driver
	}
	return h
}
