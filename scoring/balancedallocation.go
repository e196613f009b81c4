package scoring

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// NodeResourcesBalancedAllocation scores how evenly a node's resources would be
// used with the pod. Raw scores are from 0 to 100 and are not normalized.
//
// Unlike NodeResourcesFit, it counts real requests: no defaults for containers
// without requests, but pod-level requests. A pod that requests none of the
// resources is not scored. Resources that a node does not have, and scalar resources
// that the pod does not request, take no part.
//
// The rules [Kubernetes118] always compare cpu and memory, use requests with the
// non-zero defaults, and score every pod. CPU overhead counts there as one
// thousandth of a core per core, rounded up.
//
// Source: kube-scheduler 1.37, plugin NodeResourcesBalancedAllocation.
//
// Differs: sums beyond int64.
// Original: kube-scheduler's wrap around.
// Here: they saturate.
// Why: a wrapped number helps nobody.
//
// Differs: pods without requests, with the rules [Kubernetes134].
// Original: early releases with these rules scored them.
// Here: they are not scored.
// Why: one set of rules stands for all of these releases; later ones do not score
// them.
//
// Differs: CPU overhead in 1.22.
// Original: kube-scheduler 1.22 counted it as 1.18 did.
// Here: the rules of 1.22 count it exactly.
// Why: one set of rules stands for 1.22 and later releases, which count it exactly.
//
// Differs: requests finer than a thousandth of a core, with the rules
// [Kubernetes118].
// Original: 1.18 rounded those of each container.
// Here: they are added up before rounding up.
// Why: the snapshot keeps one sum per pod, for all rules.
//
// Differs: a pod's disk counts in 1.18.
// Original: kube-scheduler kept them with a node until the node's pods changed, so
// they also counted for later pods without disks.
// Here: they count only for their own pod.
// Why: a score must not depend on earlier attempts.
type NodeResourcesBalancedAllocation struct {
	// Resources take part in the score; if empty, cpu and memory do. Weights must be
	// 0 or 1, and have no effect. The rules [Kubernetes118] ignore them.
	Resources []ResourceSpec
	// Rules names the formula; "" means [Kubernetes137].
	Rules Rules
	// AttachedVolumes lets the rules [Kubernetes118] count the disks that a pod
	// would attach as a third resource ([BalancedVolumesScoreKubernetes118]), as the
	// alpha feature BalanceAttachedNodeVolumes did. List the filters of the profile
	// that limit disks, in the order of the profile. Only the disks known to the
	// last of these filters that applies to the pod count, and its limit on the node
	// gives the free capacity; volumes of CSI drivers do not count. Empty turns the
	// feature off, which was the default.
	AttachedVolumes []VolumeLimit
	// DeviceSelectors compiles the selectors of device classes; nil means the built-in
	// compiler, as for [DynamicResources].
	DeviceSelectors api.DeviceSelectorCompiler
}

const balancedName = "NodeResourcesBalancedAllocation"

// Name returns "NodeResourcesBalancedAllocation".
func (NodeResourcesBalancedAllocation) Name() string { return balancedName }

// Validate reports unknown rules, a weight other than 0 and 1, a resource that is
// named twice, and errors in AttachedVolumes.
func (p NodeResourcesBalancedAllocation) Validate() error {
	if err := p.Rules.check(balancedName); err != nil {
		return err
	}
	seen := make(map[resource.Name]bool, len(p.Resources)) // each is compared with all before it
	for i, s := range p.Resources {
		if seen[s.Name] {
			return fmt.Errorf("%s: resources[%d]: %s is there already", balancedName, i, s.Name)
		}
		seen[s.Name] = true
	}
	if err := p.checkVolumes(); err != nil {
		return err
	}
	return checkWeights(balancedName, p.Resources, 1)
}

// Scope declares that a score reads the pod's requests, the node's allocatable and
// the totals of its pods. With AttachedVolumes it also reads the pod's disks, those
// of the node's pods, and the objects of the cluster.
func (p NodeResourcesBalancedAllocation) Scope(pod *framework.PodInfo) framework.Scope {
	scope := framework.Scope{Pod: framework.FieldRequests, Reads: framework.ReadsNode | framework.ReadsPods}
	if p.countsVolumes(pod) {
		scope.Pod |= framework.FieldVolumes | framework.FieldNamespace
		scope.Reads |= framework.ReadsVolumes
	}
	return scope
}

// ScopeVaries implements [incremental.VaryingScoper].
func (NodeResourcesBalancedAllocation) ScopeVaries() framework.PodParts {
	return framework.PartVolumes
}

// PreScore finds the resources in the schema, and skips pods that request none of
// them. A configuration that Validate rejects is an error.
func (p NodeResourcesBalancedAllocation) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	if err := p.Validate(); err != nil {
		return nil, framework.AsStatus(err)
	}
	b := framework.Scratch[balanced](c)
	if p.Rules == Kubernetes118 {
		b.terms = appendTerms(b.terms[:0], defaultResources, c.Pod.Schema(), c.Pod.ScoredRequests)
		overheadV118(b.terms, c.Pod)
		switch counts, err := b.bindVolumes(c, p.AttachedVolumes); {
		case err != nil:
			return nil, framework.AsStatus(err)
		case counts:
			return (*balancedVolumes)(b), framework.Status{}
		}
		return (*balancedV118)(b), framework.Status{}
	}
	b.terms = appendTerms(b.terms[:0], orDefault(p.Resources), c.Pod.Schema(), c.Pod.UsedRequests)
	bindDevices(b.terms, c, p.DeviceSelectors)
	if !slices.ContainsFunc(b.terms, func(t term) bool { return t.pod != 0 }) && !requestsUncounted(p.Resources, c.Pod) {
		return nil, framework.SkipStatus()
	}
	if p.Rules == Kubernetes134 {
		return (*balancedStd)(b), framework.Status{}
	}
	return (*balancedDelta)(b), framework.Status{}
}

// requestsUncounted reports whether the pod requests one of the resources under a name
// that schedulers keep no accounts of, such as "odd". An API server refuses such a name;
// kube-scheduler then scores, though the resource cannot take part.
func requestsUncounted(specs []ResourceSpec, pod *framework.PodInfo) bool {
	return slices.ContainsFunc(specs, func(s ResourceSpec) bool {
		if _, known := pod.Schema().Index(s.Name); known || s.Name.IsScalar() {
			return false
		}
		q := api.PodRequests(pod.Pod, api.RequestOptions{PodLevel: true})[s.Name]
		return q.Value() != 0
	})
}

// balanced is the state that the scorers of all rules share for a pod.
type balanced struct {
	terms []term

	snapshot *framework.Snapshot // where disks are counted
	disks    []podDisks
}

// The bound scorers, one for each formula.
type (
	balancedDelta balanced
	balancedStd   balanced
	balancedV118  balanced

	balancedVolumes balanced // v1.18 with disks
)

func (b *balancedDelta) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	if len(b.terms) == 2 {
		// The usual two, kept in registers: 6 ns instead of 14.
		s, t := &b.terms[0], &b.terms[1]
		if a, c := node.Allocatable.At(s.index), node.Allocatable.At(t.index); a > 0 && c > 0 {
			u, v := node.Requested.At(s.index), node.Requested.At(t.index)
			with := evennessOfTwo(fraction(resource.SatAdd(u, s.pod), a), fraction(resource.SatAdd(v, t.pod), c))
			return improvement(with, evennessOfTwo(fraction(u, a), fraction(v, c)))
		}
	}
	var with, without [maxOnStack]float64
	w, o := with[:0], without[:0]
	for i := range b.terms {
		t := &b.terms[i]
		allocatable, used := node.Allocatable.At(t.index), node.Requested.At(t.index)
		if allocatable == 0 {
			allocatable, used = t.devicesOn(node)
		}
		if allocatable > 0 {
			w = append(w, fraction(resource.SatAdd(used, t.pod), allocatable))
			o = append(o, fraction(used, allocatable))
		}
	}
	return improvement(evenness(w), evenness(o))
}

// ScoreNodes implements [incremental.BatchScorer].
func (b *balancedDelta) ScoreNodes(pod *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
	scoreStretches(alike.balancedDelta, b, b.terms, pod, nodes, scores)
}

// scoreEach implements [eachScorer].
func (b *balancedDelta) scoreEach(pod *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
	if len(b.terms) != 2 {
		for i, n := range nodes {
			scores[i] = b.Score(pod, n)
		}
		return
	}
	s, t := b.terms[0], b.terms[1]
	for i, n := range nodes {
		a, c := n.Allocatable.At(s.index), n.Allocatable.At(t.index)
		if a <= 0 || c <= 0 {
			scores[i] = b.Score(pod, n)
			continue
		}
		u, v := n.Requested.At(s.index), n.Requested.At(t.index)
		with := evennessOfTwo(fraction(resource.SatAdd(u, s.pod), a), fraction(resource.SatAdd(v, t.pod), c))
		scores[i] = improvement(with, evennessOfTwo(fraction(u, a), fraction(v, c)))
	}
}

func (b *balancedStd) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	var buffer [maxOnStack]float64
	fractions := buffer[:0]
	for i := range b.terms {
		t := &b.terms[i]
		if allocatable := node.Allocatable.At(t.index); allocatable > 0 {
			fractions = append(fractions, fraction(resource.SatAdd(node.Requested.At(t.index), t.pod), allocatable))
		}
	}
	return evenness(fractions)
}

func (b *balancedV118) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	cpu, memory := &b.terms[resource.IndexCPU], &b.terms[resource.IndexMemory]
	return BalancedAllocationScoreKubernetes118(
		cpu.requested(node), node.Allocatable.At(resource.IndexCPU),
		memory.requested(node), node.Allocatable.At(resource.IndexMemory))
}
