package framework

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"

	"github.com/berth-sched/berth/resource"
)

type classKey struct {
	fields PodFields
	text   string
}

// ClassKey returns a string that is equal for two pods exactly when all the
// given parts of them are equal. Pods of one snapshot lineage (one schema) can
// be compared; the text means nothing outside the process. It is computed once
// per pod and set of fields in use.
func (p *PodInfo) ClassKey(fields PodFields) string {
	if k := p.key.Load(); k != nil && k.fields == fields {
		return k.text
	}
	k := &classKey{fields, string(appendKey(nil, p, fields))}
	p.key.Store(k)
	return k.text
}

// appendKey appends the fields in the order of their bits. Every part is
// either of fixed size or carries its length, so no two pods run together.
func appendKey(b []byte, p *PodInfo, fields PodFields) []byte {
	m, spec := &p.Pod.ObjectMeta, &p.Pod.Spec
	has := func(f PodFields) bool { return fields&f != 0 }
	if has(FieldNamespace) {
		b = appendString(b, m.Namespace)
	}
	if has(FieldIdentity) {
		b = appendString(appendString(b, m.Name), string(m.UID))
	}
	if has(FieldLabels) {
		b = appendMap(b, m.Labels)
	}
	if has(FieldAnnotations) {
		b = appendMap(b, m.Annotations)
	}
	if has(FieldOwner) {
		b = appendJSON(b, m.ControllerRef() != nil, m.OwnerReferences)
	}
	if has(FieldNodeName) {
		b = appendString(b, spec.NodeName)
	}
	if has(FieldNominated) {
		b = appendString(b, p.Pod.Status.NominatedNodeName)
	}
	if has(FieldNodeChoice) {
		b = appendBool(b, spec.NodeSelector != nil)
		b = appendMap(b, spec.NodeSelector)
		a := spec.Affinity != nil && spec.Affinity.NodeAffinity != nil
		b = appendBool(b, a)
		if a {
			b = appendJSON(b, true, spec.Affinity.NodeAffinity)
		}
	}
	if has(FieldPodAffinity) {
		a := spec.Affinity
		if a == nil {
			a = &Affinity{}
		}
		b = appendJSON(b, a.PodAffinity != nil, a.PodAffinity)
		b = appendJSON(b, a.PodAntiAffinity != nil, a.PodAntiAffinity)
	}
	if has(FieldTolerations) {
		b = appendJSON(b, len(spec.Tolerations) > 0, spec.Tolerations)
	}
	if has(FieldSpread) {
		b = appendJSON(b, len(spec.TopologySpreadConstraints) > 0, spec.TopologySpreadConstraints)
	}
	if has(FieldRequests) {
		b = appendVector(b, p.Requests)
		b = appendVector(b, p.ScoredRequests)
		b = appendVector(b, p.UsedRequests)
		b = binary.AppendVarint(binary.AppendVarint(b, p.UsedNonZero[0]), p.UsedNonZero[1])
	}
	if has(FieldLimits) {
		for _, list := range [...][]Container{spec.InitContainers, spec.Containers} {
			b = binary.AppendUvarint(b, uint64(len(list)))
			for i := range list {
				b = appendJSON(b, true, list[i].Resources)
				b = appendBool(b, isSidecar(&list[i]))
			}
		}
		b = appendJSON(b, spec.Resources != nil, spec.Resources)
		b = appendJSON(b, spec.Overhead != nil, spec.Overhead)
	}
	if has(FieldHostPorts) {
		b = binary.AppendUvarint(b, uint64(len(p.HostPorts)))
		for _, h := range p.HostPorts {
			b = appendString(appendString(b, h.IP), string(h.Protocol))
			b = binary.AppendVarint(b, int64(h.Port))
		}
	}
	if has(FieldImages) {
		images := PodImages(p.Pod)
		b = binary.AppendUvarint(b, uint64(len(images)))
		for _, name := range images {
			b = appendString(b, name)
		}
	}
	if has(FieldVolumes) {
		b = appendJSON(b, len(spec.Volumes) > 0, spec.Volumes)
	}
	if has(FieldPriority) {
		b = binary.AppendVarint(b, int64(p.Priority))
		b = appendString(b, spec.PriorityClassName)
		b = appendJSON(b, spec.PreemptionPolicy != nil, spec.PreemptionPolicy)
	}
	if has(FieldSpec) {
		b = appendJSON(b, true, spec)
	}
	return b
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendMap(b []byte, m map[string]string) []byte {
	b = binary.AppendUvarint(b, uint64(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b = appendString(appendString(b, k), m[k])
	}
	return b
}

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

// appendJSON appends v's JSON, which is the same for equal values because
// encoding/json sorts map keys. The types of this package always marshal.
func appendJSON(b []byte, present bool, v any) []byte {
	if !present {
		return append(b, 0)
	}
	text, err := json.Marshal(v)
	if err != nil {
		text = []byte(err.Error())
	}
	return append(binary.AppendUvarint(append(b, 1), uint64(len(text))), text...)
}
