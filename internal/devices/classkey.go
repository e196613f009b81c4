package devices

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// Pods are of one class if their claims ask for the same, whatever the claims are called
// and whether they have been made. The key of a class says what the claims ask, or what
// allocated ones allow. Everything else that verdicts read belongs to nodes, or to the
// version of a [Finder].

// KeySource is the source of KeyVersion, for [incremental.SharedKeyer].
const KeySource = "internal/devices"

// KeyVersion identifies all that keys of pods read besides the pod: claims, templates and
// classes. It is the number of the last change.
func KeyVersion(s *framework.Snapshot) uint64 {
	if s.Objects() == 0 {
		return 0
	}
	return max(framework.ObjectsVersion[api.ResourceClaim](s), framework.ObjectsVersion[api.ResourceClaimTemplate](s),
		framework.ObjectsVersion[api.DeviceClass](s))
}

// versions are those of the objects of a snapshot at a version of all.
type versions struct {
	objects uint64
	key     uint64 // KeyVersion
	classes uint64
	rules   uint64
}

func (v *versions) of(s *framework.Snapshot) *versions {
	if now := s.Objects(); v.objects != now {
		*v = versions{now, KeyVersion(s), framework.ObjectsVersion[api.DeviceClass](s), framework.ObjectsVersion[api.DeviceTaintRule](s)}
	}
	return v
}

// AppendKey appends what verdicts about the pod read of its claims and of its requests for
// extended resources. It appends nothing for a pod that needs no devices.
func AppendKey(b []byte, s *framework.Snapshot, pod *framework.PodInfo) []byte {
	if !Needs(s, pod) {
		return b
	}
	x := stateKey.Of(s)
	version := x.version.of(s).key
	if k := &x.key; k.pod != pod || k.version != version {
		k.pod, k.version = pod, version
		k.text = x.appendKey(k.text[:0], s, pod)
	}
	return append(b, x.key.text...)
}

// A podKey is the key of a pod at a version.
type podKey struct {
	pod     *framework.PodInfo
	version uint64
	text    []byte
}

// What a part of a key is about. Pods that must wait are alike, for whichever claim:
// PreFilter rejects them in every decision, and its reason is never kept.
const (
	keyProblem   = 'x' // the pod must wait
	keyDemand    = 'd' // a claim without devices
	keySame      = 's' // a claim that asks for the same as an earlier one
	keyAllocated = 'a' // a claim with devices
	keyExtended  = 'e' // extended resources, and then their claim
)

// appendKey appends the key of a pod that needs devices. Whether a claim is in flight makes no
// difference: then PreFilter rejects the pod, in every decision.
func (x *State) appendKey(b []byte, s *framework.Snapshot, pod *framework.PodInfo) []byte {
	refs, err := x.refsOf(s, pod)
	if err != nil {
		return append(b, keyProblem)
	}
	var known map[string]int // texts of a long list, where each is first
	if len(refs) > fewClaims {
		known = make(map[string]int, fewClaims)
	}
	for i := range refs {
		text := x.refs.text(i)
		if len(text) == 0 {
			b = appendAllocated(b, refs[i].claim)
			continue
		}
		if first, ok := known[string(text)]; ok {
			b = appendCount(append(b, keySame), first)
			continue
		}
		if known != nil {
			known[string(text)] = i
		}
		b = append(append(b, keyDemand), text...)
	}
	resources := extendedResources(s, pod)
	if resources == nil {
		return b
	}
	b = append(append(b, keyExtended), x.replicasOf(pod, resources).key()...)
	switch c := x.madeExtendedClaim(s, pod.Pod); {
	case c == nil:
		return b
	case c.Status.Allocation == nil:
		return appendDemand(append(b, keyDemand), &c.Spec.Devices)
	default:
		return appendAllocated(b, c)
	}
}

// appendAllocated appends where the devices of an allocated claim can be used.
func appendAllocated(b []byte, c *api.ResourceClaim) []byte {
	a := c.Status.Allocation
	b = binary.AppendVarint(append(b, keyAllocated), scoreOf(c, a))
	b = appendFlag(b, hasAlternatives(&c.Spec.Devices))
	b = appendFlag(b, len(c.Spec.Devices.Requests) > 0) // of the claim for extended resources
	b = appendFlag(b, skipsNode(a))
	ready, failed, _ := bindingState(c)
	b = appendFlag(appendFlag(b, ready), failed)
	if t := a.AllocationTimestamp; t != nil && !ready && !failed {
		b = binary.AppendVarint(binary.AppendVarint(b, t.Unix()), int64(t.Nanosecond()))
	}
	if b = appendFlag(b, a.NodeSelector != nil); a.NodeSelector != nil {
		b = match.AppendNodeSelectorKey(b, a.NodeSelector)
	}
	return b
}

// appendDemand appends the requests and constraints of a claim. What it configures is not
// looked at before it has devices.
func appendDemand(b []byte, c *api.DeviceClaim) []byte {
	b = appendCount(b, len(c.Requests))
	for i := range c.Requests {
		r := &c.Requests[i]
		b = appendFlag(appendText(b, r.Name), r.Exactly != nil)
		if r.Exactly != nil {
			b = appendExact(b, r.Exactly)
		}
		b = appendCount(b, len(r.FirstAvailable))
		for k := range r.FirstAvailable {
			b = appendExact(appendText(b, r.FirstAvailable[k].Name), exactly(&r.FirstAvailable[k]))
		}
	}
	b = appendCount(b, len(c.Constraints))
	for i := range c.Constraints {
		x := &c.Constraints[i]
		b = appendOptional(appendOptional(appendTexts(b, x.Requests), x.MatchAttribute), x.DistinctAttribute)
	}
	return b
}

// A plainDemand is what a claim asks for with one request that has nothing which is seldom
// used: most claims are such. Equal ones have the same text.
type plainDemand struct {
	request, class string
	mode           api.DeviceAllocationMode
	count          int64
	admin          bool
	selector       string // if selects is set
	selects        bool
}

// plainDemandOf returns what a claim asks for; false if that is not plain.
func plainDemandOf(c *api.DeviceClaim) (d plainDemand, ok bool) {
	if len(c.Requests) != 1 || len(c.Constraints) > 0 {
		return d, false
	}
	r := &c.Requests[0]
	e := r.Exactly
	if e == nil || len(r.FirstAvailable) > 0 || len(e.Selectors) > 1 || len(e.Tolerations)+len(e.DerivedAttributes) > 0 || e.Capacity != nil {
		return d, false
	}
	d = plainDemand{request: r.Name, class: e.DeviceClassName, mode: e.AllocationMode, count: e.Count, admin: isSet(e.AdminAccess)}
	if len(e.Selectors) == 1 {
		if e.Selectors[0].CEL == nil {
			return d, false
		}
		d.selector, d.selects = e.Selectors[0].CEL.Expression, true
	}
	return d, true
}

// A plainText is the text of a plain demand.
type plainText struct {
	demand plainDemand
	text   []byte // empty if there is none yet
}

// append is appendDemand. It keeps the text of the last demand that is plain: pods that come
// one after the other mostly ask for the same.
func (k *plainText) append(b []byte, c *api.DeviceClaim) []byte {
	d, ok := plainDemandOf(c)
	if !ok {
		return appendDemand(b, c)
	}
	if len(k.text) == 0 || k.demand != d {
		k.demand, k.text = d, appendDemand(k.text[:0], c)
	}
	return append(b, k.text...)
}

func appendExact(b []byte, e *api.ExactDeviceRequest) []byte {
	b = appendCount(appendText(b, e.DeviceClassName), len(e.Selectors))
	for i := range e.Selectors {
		if b = appendFlag(b, e.Selectors[i].CEL != nil); e.Selectors[i].CEL != nil {
			b = appendText(b, e.Selectors[i].CEL.Expression)
		}
	}
	b = binary.AppendVarint(appendText(b, string(e.AllocationMode)), e.Count)
	b = appendFlag(appendFlag(b, isSet(e.AdminAccess)), len(e.DerivedAttributes) > 0)
	b = appendCount(b, len(e.Tolerations))
	for i := range e.Tolerations {
		t := &e.Tolerations[i]
		b = appendText(appendText(appendText(appendText(b, t.Key), string(t.Operator)), t.Value), string(t.Effect))
		if b = appendFlag(b, t.TolerationSeconds != nil); t.TolerationSeconds != nil { // part of what the claim gets
			b = binary.AppendVarint(b, *t.TolerationSeconds)
		}
	}
	if e.Capacity == nil {
		return appendCount(b, 0)
	}
	b = appendCount(b, len(e.Capacity.Requests))
	for _, name := range slices.Sorted(maps.Keys(e.Capacity.Requests)) {
		b = appendText(appendText(b, name), e.Capacity.Requests[name].String())
	}
	return b
}

// Each part of a key has a fixed size or begins with its length, so different parts never
// give the same key.

func appendCount(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(n)) }

func appendText(b []byte, s string) []byte { return append(appendCount(b, len(s)), s...) }

func appendTexts(b []byte, list []string) []byte {
	b = appendCount(b, len(list))
	for _, s := range list {
		b = appendText(b, s)
	}
	return b
}

func appendFlag(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendOptional(b []byte, s *string) []byte {
	if s == nil {
		return append(b, 0)
	}
	return appendText(append(b, 1), *s)
}
