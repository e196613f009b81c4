package framework

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/digest"
	"github.com/berth-sched/berth/resource"
)

type classKey struct {
	fields PodFields
	text   string
}

// ClassKey returns a string that is equal for two pods exactly if all the given parts
// of them are equal. An absent list or map equals an empty one, and two times are
// equal if they are the same instant. Keys for different fields are never equal. Only
// keys of pods of one schema can be compared; the text means nothing outside the
// process. A key beyond 512 bytes is a SHA-256 digest, so pods with long texts keep short keys.
//
// The pod keeps the key for the fields that were asked for last, so asking again costs
// nothing.
func (p *PodInfo) ClassKey(fields PodFields) string {
	if k := p.key.Load(); k != nil && k.fields == fields {
		return k.text
	}
	b := p.AppendClassKey(nil, fields)
	if len(b) > longKey {
		sum := digest.Sum(b)
		b = append(b[:0:0], digestKey)
		b = append(b, sum[:]...)
	}
	k := &classKey{fields, string(b)}
	p.key.Store(k)
	return k.text
}

// longKey is the number of bytes beyond which ClassKey is a digest. It starts with digestKey then: other keys start with their
// fields, and a key of no fields has nothing else.
const (
	longKey   = 512
	digestKey = 0
)

// AppendClassKey appends the text of ClassKey to b. It keeps nothing with the pod. It
// allocates nothing if b is long enough and the fields are strings, numbers and maps
// of few labels.
func (p *PodInfo) AppendClassKey(b []byte, fields PodFields) []byte {
	return p.AppendClassKeyWithin(b, fields, math.MaxInt-len(b))
}

// AppendClassKeyWithin is AppendClassKey for a text of at most so many bytes. Of a longer one it
// appends more bytes than that, but leaves out parts, so it costs little to find out: such a
// result is no key.
func (p *PodInfo) AppendClassKeyWithin(b []byte, fields PodFields, most int) []byte {
	return appendKey(binary.AppendUvarint(b, uint64(fields)), p, fields, len(b)+most)
}

// appendKey appends the fields in the order of their bits, until b is longer than most bytes.
// Every part has a fixed size or starts with its length, so different pods never have the same
// key.
func appendKey(b []byte, p *PodInfo, fields PodFields, most int) []byte {
	if fields&FieldsAll == FieldsAll {
		return appendValue(b, p.Pod, most)
	}
	m, spec := &p.Pod.ObjectMeta, &p.Pod.Spec
	has := func(f PodFields) bool { return fields&f != 0 && len(b) <= most }
	if has(FieldNamespace) {
		b = appendString(b, m.Namespace, most)
	}
	if has(FieldIdentity) {
		b = appendString(appendString(b, m.Name, most), string(m.UID), most)
	}
	if has(FieldLabels) {
		b = appendMap(b, m.Labels, most)
	}
	if has(FieldAnnotations) {
		b = appendMap(b, m.Annotations, most)
	}
	if has(FieldOwner) {
		b = appendValue(b, m.ControllerRef(), most)
	}
	if has(FieldNodeName) {
		b = appendString(b, spec.NodeName, most)
	}
	if has(FieldNominated) {
		b = appendString(b, p.Pod.Status.NominatedNodeName, most)
	}
	if has(FieldNodeChoice) {
		b = appendMap(b, spec.NodeSelector, most)
		if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
			b = append(b, 0)
		} else {
			b = appendValue(b, spec.Affinity.NodeAffinity, most)
		}
	}
	if has(FieldPodAffinity) {
		var affinity api.Affinity
		if spec.Affinity != nil {
			affinity = *spec.Affinity
		}
		b = appendValue(appendValue(b, affinity.PodAffinity, most), affinity.PodAntiAffinity, most)
	}
	if has(FieldTolerations) {
		b = appendTolerations(b, spec.Tolerations, most)
	}
	if has(FieldSpread) {
		b = appendValue(b, spec.TopologySpreadConstraints, most)
	}
	if has(FieldRequests) {
		b = appendVector(b, p.Requests)
		b = appendOtherVector(b, p.ScoredRequests, p.Requests)
		b = appendOtherVector(b, p.UsedRequests, p.Requests)
		b = binary.AppendVarint(binary.AppendVarint(b, p.UsedNonZero[0]), p.UsedNonZero[1])
		b = binary.AppendUvarint(b, uint64(len(p.Unknown)))
		for _, u := range p.Unknown {
			if len(b) > most {
				break
			}
			b = binary.AppendVarint(binary.AppendVarint(appendString(b, string(u.Name), most), u.Requested), u.Used)
		}
	}
	if has(FieldLimits) {
		for _, list := range [...][]api.Container{spec.InitContainers, spec.Containers} {
			b = binary.AppendUvarint(b, uint64(len(list)))
			for i := range list {
				b = appendBool(appendRequirements(b, &list[i].Resources, most), list[i].IsSidecar())
			}
		}
		b = appendList(appendValue(b, spec.Resources, most), spec.Overhead, most)
	}
	if has(FieldHostPorts) {
		b = binary.AppendUvarint(b, uint64(len(p.HostPorts)))
		for _, h := range p.HostPorts {
			if len(b) > most {
				break
			}
			b = appendString(appendString(b, h.IP, most), string(h.Protocol), most)
			b = binary.AppendVarint(b, int64(h.Port))
		}
	}
	if has(FieldImages) {
		b = appendImages(b, p.Pod, most)
	}
	if has(FieldVolumes) {
		b = appendVolumes(b, spec.Volumes, most)
	}
	if has(FieldPriority) {
		b = binary.AppendVarint(b, int64(p.Priority))
		b = appendValue(appendString(b, spec.PriorityClassName, most), spec.PreemptionPolicy, most)
	}
	if has(FieldSpec) {
		b = appendValue(b, spec, most)
	}
	if has(FieldClaims) {
		b = appendValue(appendValue(b, spec.ResourceClaims, most), p.Pod.Status.ResourceClaimStatuses, most)
	}
	return b
}

// appendImages says also which images are of init containers and of volumes: rules differ in what
// counts.
func appendImages(b []byte, p *api.Pod, most int) []byte {
	bytes := 0
	for _, list := range [...][]api.Container{p.Spec.InitContainers, p.Spec.Containers} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for i := range list {
			bytes += len(list[i].Image) + 1
		}
	}
	if bytes > most-len(b) {
		return exceed(b, most)
	}
	images := api.PodImages(p)
	b = binary.AppendUvarint(b, uint64(len(images)))
	for _, name := range images {
		b = appendString(b, name, most)
	}
	return b
}

// appendVolumes leaves out volumes whose source package api does not keep, such as the
// token that the API server mounts into every pod under a name of its own.
func appendVolumes(b []byte, list []api.Volume, most int) []byte {
	for i := 0; i < len(list) && len(b) <= most; i++ {
		if list[i].VolumeSource != (api.VolumeSource{}) {
			b = appendValue(append(b, 1), list[i], most)
		}
	}
	return append(b, 0)
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendString(b []byte, s string, most int) []byte {
	if len(s) > most-len(b) {
		return exceed(b, most)
	}
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// exceed makes a key that cannot be within most bytes longer than that.
func exceed(b []byte, most int) []byte {
	return append(b, make([]byte, max(0, most-len(b)+1))...)
}

// appendTolerations is a faster appendValue for what almost every pod of a cluster has.
func appendTolerations(b []byte, list []api.Toleration, most int) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for i := 0; i < len(list) && len(b) <= most; i++ {
		t := &list[i]
		b = appendString(appendString(b, t.Key, most), string(t.Operator), most)
		b = appendString(appendString(b, t.Value, most), string(t.Effect), most)
		if t.TolerationSeconds == nil {
			b = append(b, 0)
		} else {
			b = binary.AppendVarint(append(b, 1), *t.TolerationSeconds)
		}
	}
	return b
}

func appendMap(b []byte, m map[string]string, most int) []byte {
	if len(m) == 0 {
		return append(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(m)))
	if len(m) < 2 { // there is nothing to sort
		for k, v := range m {
			b = appendString(appendString(b, k, most), v, most)
		}
		return b
	}
	var few [16]string // so that the usual labels need no memory
	if len(m) > len(few) {
		left := most - len(b)
		for k, v := range m {
			if left -= len(k) + len(v) + 2; left < 0 { // it need not be sorted
				return exceed(b, most)
			}
		}
	}
	keys := slices.AppendSeq(few[:0], maps.Keys(m))
	slices.Sort(keys)
	for _, k := range keys {
		b = appendString(appendString(b, k, most), m[k], most)
	}
	return b
}

// appendRequirements is a faster appendValue for what every container has.
func appendRequirements(b []byte, r *api.ResourceRequirements, most int) []byte {
	b = appendList(appendList(b, r.Limits, most), r.Requests, most)
	if len(r.Claims) == 0 {
		return append(b, 0)
	}
	return appendValue(b, r.Claims, most)
}

func appendList(b []byte, l resource.List, most int) []byte {
	if len(l) > most-len(b) {
		return exceed(b, most)
	}
	b = binary.AppendUvarint(b, uint64(len(l)))
	var few [8]resource.Name
	names := slices.AppendSeq(few[:0], maps.Keys(l))
	slices.Sort(names)
	for _, name := range names {
		b = appendString(appendString(b, string(name), most), l[name].String(), most)
	}
	return b
}

// appendOtherVector appends a vector that is mostly equal to one that was appended before.
func appendOtherVector(b []byte, v, before resource.Vector) []byte {
	if v.Equal(before) {
		return append(b, 0)
	}
	return appendVector(append(b, 1), v)
}

// appendVector leaves out trailing zeros, so a vector that was made before the schema
// grew equals one that was made after.
func appendVector(b []byte, v resource.Vector) []byte {
	n := len(v)
	for n > 0 && v[n-1] == 0 {
		n--
	}
	b = binary.AppendUvarint(b, uint64(n))
	for _, x := range v[:n] {
		b = binary.AppendVarint(b, x)
	}
	return b
}
