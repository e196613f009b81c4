package framework

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/runner"
	"github.com/berth-sched/berth/resource"
)

var (
	errNegative = errors.New("must not be negative")
	errEmpty    = errors.New("must not be empty")
)

// A PodInfo is a pod and everything that is derived from it once: its request
// vectors, its host ports, its class key, and what plugins derive
// ([PodDerived]). Everything in it is read only; it may be shared by
// goroutines and by all snapshots that use its schema.
type PodInfo struct {
	// The first two cache lines hold what is read whenever the pod comes to a node or
	// leaves it.

	// Pod is the object. It must not change while the PodInfo is in use.
	Pod *api.Pod
	// Priority is spec.priority, 0 when unset.
	Priority int32
	hint     atomic.Int32 // see Snapshot.NodeOf

	// UsedRequests is what the pod counts as once it is on a node: like Requests, but
	// never below what is allocated or in force there.
	UsedRequests resource.Vector
	// UsedNonZero is UsedRequests with the non-zero defaults for containers
	// that request no CPU or memory: milli-CPU and bytes.
	UsedNonZero [2]int64
	schema      *resource.Schema

	amounts [fewResources]int64 // what UsedRequests is made of, if it fits
	runner  runner.Pod

	// HostPorts are the ports that the pod takes on its node.
	HostPorts []api.HostPort
	// Requests is what the spec asks of a node, with pod-level requests and overhead;
	// filters compare it. All vectors are in the schema's units (milli-CPU, bytes, and
	// counts), rounded up.
	Requests resource.Vector
	// ScoredRequests is what kube-scheduler's NodeResourcesFit scorer counts for a pod
	// to be placed: the spec with non-zero defaults and overhead, without pod-level
	// requests.
	ScoredRequests resource.Vector
	// Unknown are the requests for resources that no node had when the pod was derived
	// and that the schema has no number for, in the order of their names. The vectors
	// leave them out. See [PodInfo.Fresh].
	Unknown []UnknownRequest

	derived memo
	key     atomic.Pointer[classKey]
}

// fewResources is the length of the vectors that lie in the object that they belong
// to: every schema has so many resources. Longer vectors are allocated separately.
const fewResources = resource.IndexEphemeralStorage + 1

// NewPodInfo derives the PodInfo of a pod for snapshots that use the schema.
// It is an [*api.InvalidError] if the pod is nil, has no name or has a negative
// request, and if the schema is nil.
func NewPodInfo(p *api.Pod, schema *resource.Schema) (*PodInfo, error) {
	if p == nil {
		return nil, &api.InvalidError{Object: "pod", Err: errNil}
	}
	if p.Name == "" {
		return nil, &api.InvalidError{Object: podObject(p), Field: "metadata.name", Err: errEmpty}
	}
	if schema == nil {
		return nil, &api.InvalidError{Object: podObject(p), Err: errors.New("the schema is nil")}
	}
	i := &PodInfo{Pod: p, schema: schema, HostPorts: api.HostPorts(p), runner: runner.Pod{Parts: partsOf(p)}}
	if len(i.HostPorts) > 0 {
		i.runner.Parts |= runner.HasHostPorts
	}
	if i.runner.Parts&runner.NamesNodes != 0 {
		i.runner.OnlyNode[0] = onlyNode(&p.Spec)
	}
	if p.Spec.Priority != nil {
		i.Priority = *p.Spec.Priority
	}
	alike := !p.HasRequestStatus() && !p.HasPodLevelRequests()
	summed := alike && i.sumRequests()
	if !summed || !requestsOnlyInContainers(p) {
		if err := checkRequests(p); err != nil {
			return nil, err
		}
	}
	if !summed {
		i.deriveRequests(alike)
	}
	for k := fewResources; k < len(i.Requests); k++ {
		if i.Requests[k] != 0 && mayBeDevices(i.schema.Name(k)) {
			i.runner.Parts |= runner.HasExtended
		}
	}
	return i, nil
}

// deriveRequests derives the request vectors from the lists of package api. The pod is
// alike if neither its status nor requests of the pod as a whole change the sum.
func (i *PodInfo) deriveRequests(alike bool) {
	p, schema := i.Pod, i.schema
	spec := api.PodRequests(p, api.RequestOptions{PodLevel: true})
	used := spec
	if !alike {
		used = api.PodRequests(p, api.RequestOptions{PodLevel: true, Status: true})
	}
	left := schema.AdmitGuests(spec, used)
	if i.Unknown = unknownRequests(left, spec, used); len(i.Unknown) > 0 {
		i.runner.Parts |= runner.HasUnknown
	}
	spec, used = without(left, spec), without(left, used)
	i.UsedRequests = near(schema.Vector(used), &i.amounts)
	if i.Requests = i.UsedRequests; !alike {
		i.Requests = schema.Vector(spec)
	}
	if i.ScoredRequests = i.Requests; !p.RequestsCPUAndMemory() || p.HasPodLevelRequests() {
		i.ScoredRequests = schema.Vector(without(left, api.PodRequests(p, api.RequestOptions{NonZero: true})))
	}
	nonZero := i.ScoredRequests
	if !alike {
		nonZero = schema.Vector(without(left, api.PodRequests(p, api.RequestOptions{PodLevel: true, Status: true, NonZero: true})))
	}
	i.UsedNonZero = [2]int64{nonZero.At(resource.IndexCPU), nonZero.At(resource.IndexMemory)}
}

// podObject names the pod in an error.
func podObject(p *api.Pod) string {
	if key := p.Key(); key != "" {
		return "pod " + key
	}
	return "pod"
}

// Schema returns the schema that the pod's vectors follow.
func (p *PodInfo) Schema() *resource.Schema { return p.schema }

// near moves a short vector to the memory that the object has for it.
func near(v resource.Vector, to *[fewResources]int64) resource.Vector {
	if len(v) > len(to) {
		return v
	}
	return to[:copy(to[:], v)]
}

// Runner returns the part of the pod that only this module's runners use.
func (p *PodInfo) Runner() *runner.Pod { return &p.runner }

func partsOf(p *api.Pod) (parts runner.Parts) {
	if a := p.Spec.Affinity; a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
		parts |= runner.HasPodAffinity
	}
	if len(p.Spec.TopologySpreadConstraints) > 0 {
		parts |= runner.HasSpread
	}
	if len(p.Spec.Volumes) > 0 {
		parts |= runner.HasVolumes
	}
	if len(p.Spec.SchedulingGates) > 0 {
		parts |= runner.HasGates
	}
	if p.Spec.NodeName != "" {
		parts |= runner.HasNodeName
	}
	if mayNeedFeatures(&p.Spec) {
		parts |= runner.NeedsFeatures
	}
	if toleratesCordon(p.Spec.Tolerations) {
		parts |= runner.ToleratesCordon
	}
	if p.Status.NominatedNodeName != "" {
		parts |= runner.IsNominated
	}
	if len(p.Spec.ResourceClaims) > 0 {
		parts |= runner.HasClaims
	}
	if namesNodes(p.Spec.Affinity) {
		parts |= runner.NamesNodes
	}
	return parts
}

// toleratesCordon reports whether the pod tolerates nodes that are cordoned, as the pods of a
// DaemonSet do, by a toleration of the usual forms.
func toleratesCordon(list []api.Toleration) bool {
	for i := range list {
		t := &list[i] // large, and almost every pod has some
		if t.Operator == api.TolerationOpExists && (t.Key == "" || t.Key == api.TaintNodeUnschedulable) &&
			(t.Effect == "" || t.Effect == api.TaintEffectNoSchedule) {
			return true
		}
	}
	return false
}

// mayNeedFeatures reports whether the pod has something that only nodes with a declared feature
// support: restart rules, mounts with options, or users of its own in the node's network.
func mayNeedFeatures(s *api.PodSpec) bool {
	if s.HostNetwork && s.HostUsers != nil && !*s.HostUsers {
		return true
	}
	for _, containers := range [...][]api.Container{s.Containers, s.InitContainers} {
		for i := range containers {
			c := &containers[i]
			if len(c.RestartPolicyRules) > 0 || slices.ContainsFunc(c.VolumeMounts, func(m api.VolumeMount) bool { return len(m.BindMountOptions) > 0 }) {
				return true
			}
		}
	}
	return false
}

// fieldNodeName is the only field of nodes that a selector can ask for.
const fieldNodeName = "metadata.name"

// onlyNode returns the name of the node if nothing but that is required of nodes.
func onlyNode(s *api.PodSpec) string {
	if len(s.NodeSelector) > 0 {
		return ""
	}
	terms := s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if len(terms) != 1 || len(terms[0].MatchExpressions) > 0 || len(terms[0].MatchFields) != 1 {
		return ""
	}
	f := &terms[0].MatchFields[0]
	if f.Key != fieldNodeName || f.Operator != api.NodeSelectorOpIn || len(f.Values) != 1 {
		return ""
	}
	return f.Values[0]
}

// namesNodes reports whether a required term of the affinity has match fields: the only
// field of a node is its name.
func namesNodes(a *api.Affinity) bool {
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	return slices.ContainsFunc(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, func(t api.NodeSelectorTerm) bool { return len(t.MatchFields) > 0 })
}

// HasPodAffinity reports whether the pod has pod affinity or anti-affinity, even an
// empty one.
func (p *PodInfo) HasPodAffinity() bool { return p.has(runner.HasPodAffinity) }

// HasSpread reports whether the pod has topology spread constraints.
func (p *PodInfo) HasSpread() bool { return p.has(runner.HasSpread) }

// HasClaims reports whether the pod has resource claims.
func (p *PodInfo) HasClaims() bool { return p.has(runner.HasClaims) }

// HasExtended reports whether the pod requests a resource that a device class may stand
// behind: an extended resource, or one that is named after a class
// ([api.PrefixDeviceClass]). [PodInfo.Unknown] does not count.
func (p *PodInfo) HasExtended() bool { return p.has(runner.HasExtended) }

func mayBeDevices(name resource.Name) bool {
	return name.IsExtended() || len(name) > len(api.PrefixDeviceClass) && strings.HasPrefix(string(name), api.PrefixDeviceClass)
}

// HasGates reports whether the pod has scheduling gates.
func (p *PodInfo) HasGates() bool { return p.has(runner.HasGates) }

// Gates returns the names of the pod's scheduling gates, nil if it has none.
func (p *PodInfo) Gates() (names []string) {
	for _, g := range p.Pod.Spec.SchedulingGates {
		names = append(names, g.Name)
	}
	return names
}

// HasVolumes reports whether the pod has volumes, of whatever source.
func (p *PodInfo) HasVolumes() bool { return p.has(runner.HasVolumes) }

// HasVolumeClaims reports whether a volume of the pod is a claim, or has one made for the pod. Other
// volumes, such as the token that every pod of a cluster has, or disks, concern one node only.
func (p *PodInfo) HasVolumeClaims() bool {
	return p.HasVolumes() && slices.ContainsFunc(p.Pod.Spec.Volumes, func(v api.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil })
}

// IsNominated reports whether the pod's status names a nominated node.
func (p *PodInfo) IsNominated() bool { return p.has(runner.IsNominated) }
