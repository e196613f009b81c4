package volumes

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// Pods are of one class if their claims allow the same, whatever the claims are called: the pods of a
// StatefulSet, each with a claim of its own, are alike until the volumes are in different zones. The
// keys say what answers read of claims, and of volumes and classes behind them. What else answers read
// belongs to nodes, or is followed by [Attached].

// KeySource is the source of KeyVersion, for [incremental.SharedKeyer].
const KeySource = "internal/volumes"

// KeyVersion identifies all that keys of pods read besides the pod. Every change has a number of its own,
// and so has what a rollback brings back.
func KeyVersion(s *framework.Snapshot) uint64 {
	if !hasVolumes(s) {
		return 0 // nothing can be told apart, and no extension is needed
	}
	return attachedKey.Of(s).version
}

// hasVolumes reports whether the snapshot ever had objects that [framework.ReadsVolumes] stands for.
func hasVolumes(s *framework.Snapshot) bool {
	return s.ObjectVersions().Differ(framework.ObjectVersions{})&framework.ReadsVolumes != 0
}

// Reads is what a volume plugin reads besides parts of the pod: it is bound in every decision, because its class
// key comes from claims and volumes.
const Reads = framework.ReadsNode | framework.ReadsDomain | framework.ReadsVolumes

// ScopeOf declares what an answer about a pod with claims depends on, if its class key says what the claims
// allow. Claims that are made for the pod have names that follow from its own.
func ScopeOf(pod *framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: Of(pod).Fields() & framework.FieldIdentity, Reads: Reads}
}

// What a part of a key is about.
const (
	keyProblem = 'x' // PreFilter rejects the pod
	keyBound   = 'b' // a claim with a volume
	keyMissing = 'm' // a claim whose volume does not exist
	keyWaiting = 'w' // a claim that gets its volume with the node
	keyAgain   = 'a' // the same claim as before, which gets another volume
	keyUnknown = 'e' // an error, with its text
)

// AppendBindingKey appends what a [Finder] of the pod reads, and what the sizes of its claims mean for
// scores. It appends nothing for a pod without claims.
func AppendBindingKey(b []byte, s *framework.Snapshot, pod *framework.PodInfo) []byte {
	refs := Of(pod).Claims
	start := len(b)
	var buffers [2][4]string
	volumes, claims := distinct[string]{list: buffers[0][:0]}, distinct[string]{list: buffers[1][:0]}
	for _, ref := range refs {
		claim, err := usableClaim(s, pod.Pod, ref)
		if err != nil {
			return AppendProblem(b[:start], err.Error())
		}
		switch waits, err := waits(s, claim); {
		case err != nil:
			return AppendProblem(b[:start], err.Error())
		case IsBound(claim):
			if name := claim.Spec.VolumeName; !volumes.has(name) {
				volumes = volumes.with(name)
				b = appendBound(b, s, claim)
			}
		case waits:
			if at := claims.at(ref.Name); at >= 0 {
				b = binary.AppendUvarint(append(b, keyAgain), uint64(at))
				break
			}
			claims = claims.with(ref.Name)
			b = appendWaiting(b, s, claim)
		default:
			return AppendProblem(b[:start], string(errUnbound))
		}
	}
	return b
}

// AppendProblem appends why PreFilter rejects the pod, in every decision.
func AppendProblem(b []byte, text string) []byte {
	return match.AppendString(append(b, keyProblem), text)
}

// appendBound appends where the volume of a claim can be used.
func appendBound(b []byte, s *framework.Snapshot, c *api.PersistentVolumeClaim) []byte {
	v := framework.Lookup[api.PersistentVolume](s, c.Spec.VolumeName)
	if v == nil {
		return append(b, keyMissing)
	}
	b = append(b, keyBound)
	if a := v.Spec.NodeAffinity; a == nil || a.Required == nil {
		b = append(b, 0)
	} else {
		b = match.AppendNodeSelectorKey(append(b, 1), a.Required)
	}
	plugin := inTreeOfVolume(&v.Spec.PersistentVolumeSource)
	if plugin == nil || !plugin.countable {
		return append(b, 0)
	}
	b = match.AppendString(append(b, 1), plugin.name)
	if _, err := handleOfVolume(v); err != nil {
		b = match.AppendString(append(b, keyUnknown), err.Error())
	}
	return AppendZones(b, v)
}

// appendWaiting appends what a claim asks for, and who offers that.
func appendWaiting(b []byte, s *framework.Snapshot, c *api.PersistentVolumeClaim) []byte {
	x, class, spec := catalogKey.Of(s), ClassOfClaim(c), &c.Spec
	free, _ := x.free.Get(class)
	offered, _ := x.offered.Get(class)
	b = match.AppendString(append(b, keyWaiting), class)
	for _, version := range [...]uint64{free.version, offered.version, framework.ObjectsVersion[api.StorageClass](s), framework.ObjectsVersion[api.CSIDriver](s)} {
		b = binary.AppendUvarint(b, version)
	}
	b = match.AppendString(b, string(modeOf(spec.VolumeMode)))
	b = match.AppendString(b, deref(spec.VolumeAttributesClassName))
	b = appendModes(b, spec.AccessModes)
	b = binary.AppendUvarint(b, uint64(len(spec.Resources.Requests)))
	for _, name := range slices.Sorted(maps.Keys(spec.Resources.Requests)) {
		b = match.AppendString(match.AppendString(b, string(name)), spec.Resources.Requests[name].String())
	}
	node, selected := c.Annotations[api.AnnSelectedNode]
	if b = appendFlag(b, selected); selected {
		b = match.AppendString(b, node)
	}
	names, _ := x.reserved.Get(c.Key())
	if b = appendFlag(b, spec.Selector != nil || len(names) > 0); spec.Selector != nil || len(names) > 0 {
		// Such a claim is seldom: it is a class of its own, in the versions of its volumes.
		b = match.AppendString(b, c.Key())
		b = binary.AppendUvarint(binary.AppendUvarint(b, framework.ObjectsVersion[api.PersistentVolumeClaim](s)), framework.ObjectsVersion[api.PersistentVolume](s))
	}
	return b
}

// AppendZones appends the zones and regions in the labels of a volume.
func AppendZones(b []byte, v *api.PersistentVolume) []byte {
	for _, name := range zoneLabels {
		value, ok := v.Labels[name]
		if b = appendFlag(b, ok); ok {
			b = match.AppendString(b, value)
		}
	}
	return b
}

// AppendLimitKey appends which volumes the pod adds to a node: for each driver how many that no pod
// uses anywhere, the others by name, and whether a node must have the driver. It appends nothing for a
// pod without mounts.
func AppendLimitKey(b []byte, s *framework.Snapshot, pod *framework.PodInfo) []byte {
	if len(Of(pod).Mounts) == 0 {
		return b
	}
	a := AttachedTo(s)
	var room [8]Handle
	for _, known := range [2]bool{true, false} {
		list, err := AppendHandles(room[:0], s, pod, known)
		if b = appendFlag(b, err != nil); err != nil {
			b = match.AppendString(b, err.Error())
			continue
		}
		for len(list) > 0 {
			var driver []Handle
			driver, list = NextDriver(list)
			b = appendFlag(match.AppendString(append(b, 1), driver[0].Driver), IsRequired(s, driver[0].Driver))
			fresh := 0
			for _, h := range driver {
				if !a.uses(h) {
					fresh++
					continue
				}
				b = appendFlag(match.AppendString(append(b, 1), h.Name), h.unmade)
			}
			b = binary.AppendUvarint(append(b, 0), uint64(fresh))
		}
		b = append(b, 0)
	}
	return b
}

// IsRequired reports whether nodes without the driver must not get pods with its volumes.
func IsRequired(s *framework.Snapshot, driver string) bool {
	d := framework.Lookup[api.CSIDriver](s, driver)
	return d != nil && d.Spec.PreventPodSchedulingIfMissing != nil && *d.Spec.PreventPodSchedulingIfMissing
}

func appendFlag(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}
