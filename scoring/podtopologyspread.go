package scoring

import (
	"fmt"
	"math"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/topo"
)

// PodTopologySpread scores nodes by how many pods their topology domains have
// already, for the pod's spread constraints with the action ScheduleAnyway: the
// fewer, the better. A node's raw score is the rounded sum of [SpreadScore] over the
// constraints whose label the node has. SpreadScore weighs the pods in the domain by
// the number of domains, and adds the constraint's maxSkew minus 1.
//
// A pod counts if it is in the pod's namespace, the constraint selects it and it is
// not terminating. Its node must have the labels of all constraints of the action,
// and the constraint's node policies must include it. By host name, only the pods of
// the node itself count. An empty selector counts no pod. Only domains of feasible
// nodes count.
//
// Feasible nodes that lack the label of a constraint get 0. Normalizing gives the
// others 100*(largest + smallest - raw)/largest, or 100 if the largest is 0; see
// [SpreadNormalizeScore]. With the system's default constraints no node is left out.
//
// The snapshot keeps the counts, so scoring a node costs one lookup per constraint.
//
// Source: kube-scheduler 1.37, plugin PodTopologySpread.
type PodTopologySpread struct {
	// ListDefaulting applies DefaultConstraints to pods without any constraints. If
	// it is off, which is the default, such pods get the system's: host name with
	// maxSkew 3 and zone with maxSkew 5. Either way the pod's services and
	// controller give the selector; without them there are no constraints.
	ListDefaulting bool
	// DefaultConstraints go with ListDefaulting. They must not have selectors of
	// their own, and must not change while the plugin is in use.
	DefaultConstraints []api.TopologySpreadConstraint
}

// Name returns "PodTopologySpread".
func (PodTopologySpread) Name() string { return "PodTopologySpread" }

// Validate reports default constraints that would be unused, or that are malformed,
// duplicated or have a selector.
func (p PodTopologySpread) Validate() error {
	return topo.CheckDefaults(p.ListDefaulting, p.DefaultConstraints)
}

// systemConstraints are the defaults for pods without constraints.
var systemConstraints = []api.TopologySpreadConstraint{
	{TopologyKey: api.LabelHostname, WhenUnsatisfiable: api.ScheduleAnyway, MaxSkew: 3},
	{TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: api.ScheduleAnyway, MaxSkew: 5},
}

func (p PodTopologySpread) defaults() []api.TopologySpreadConstraint {
	if p.ListDefaulting {
		return p.DefaultConstraints
	}
	return systemConstraints
}

// Scope declares that a score reads the pod's choice of nodes, pods in the node's topology
// domains, and which nodes are feasible. For pods without constraints it also reads
// services and controllers. The pod's namespace, labels, owner and constraints matter as
// far as AppendClassKey says.
func (p PodTopologySpread) Scope(pod *framework.PodInfo) framework.Scope {
	var s framework.Scope
	if own, some := topo.OwnSpread(pod, api.ScheduleAnyway); own {
		if !some {
			return s
		}
	} else {
		if len(p.defaults()) == 0 {
			return s
		}
		s.Reads |= framework.ReadsObjects
	}
	s.Pod |= framework.FieldNodeChoice | framework.FieldTolerations
	s.Reads |= framework.ReadsNode | framework.ReadsPods | framework.ReadsDomain | framework.ReadsFeasible
	return s
}

// ScopeVaries implements [incremental.VaryingScoper].
func (PodTopologySpread) ScopeVaries() framework.PodParts { return framework.PartSpread }

// AppendClassKey implements [incremental.ClassKeyer]: it appends which pods count, or all
// constraints if one is malformed.
func (p PodTopologySpread) AppendClassKey(b []byte, s *framework.Snapshot, pod *framework.PodInfo) []byte {
	if pod.HasSpread() {
		topo.ShareRules(s, pod)
	} else if topo.Uncounted(s) && !topo.KnowsDefaults(s) {
		return topo.AppendUncounted(b, s, pod)
	}
	rules := p.rules(s, pod)
	switch {
	case rules.Err != nil:
		return topo.AppendMalformed(b, pod)
	case len(rules.List) == 0:
		return b
	case topo.Uncounted(s):
		return topo.AppendUncounted(b, s, pod)
	}
	return topo.Of(s).Soft(pod, rules, rules.Own || p.ListDefaulting).AppendKey(b, rules)
}

// ClassKeyVersion implements [incremental.ClassKeyer].
func (p PodTopologySpread) ClassKeyVersion(s *framework.Snapshot) uint64 {
	return topo.KeyVersion(s)
}

// ClassKeySource implements [incremental.SharedKeyer].
func (PodTopologySpread) ClassKeySource() string { return topo.KeySource }

// rules returns the pod's own constraints or, if it has none, default ones.
func (p PodTopologySpread) rules(s *framework.Snapshot, pod *framework.PodInfo) *topo.Rules {
	rules := topo.SoftRules(pod)
	if !rules.Own && rules.Err == nil {
		rules = topo.DefaultsOf(s, pod, p.defaults(), api.ScheduleAnyway)
	}
	return rules
}

// Idle implements [incremental.Idler]: the pod has no constraints, and no service or
// controller gives it default ones. It does not find out what these are before it scores.
func (p PodTopologySpread) Idle(c *framework.Cycle) bool {
	if !c.Pod.HasSpread() && !topo.KnowsDefaults(c.Snapshot) {
		return false
	}
	rules := p.rules(c.Snapshot, c.Pod)
	return rules.Err == nil && len(rules.List) == 0
}

// PreScore skips pods without constraints of the action. A malformed one is an
// error.
func (p PodTopologySpread) PreScore(c *framework.Cycle, feasible []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	s := framework.Scratch[podTopologySpread](c)
	s.list = feasible
	return p.preScore(c, s, &s.list)
}

// PreScoreGroups implements [incremental.GroupPreScorePlugin].
func (p PodTopologySpread) PreScoreGroups(c *framework.Cycle, feasible incremental.FeasibleNodes) (framework.NodeScorer, framework.Status) {
	return p.preScore(c, framework.Scratch[podTopologySpread](c), feasible)
}

func (p PodTopologySpread) preScore(c *framework.Cycle, s *podTopologySpread, feasible incremental.FeasibleNodes) (framework.NodeScorer, framework.Status) {
	rules := p.rules(c.Snapshot, c.Pod)
	if rules.Err != nil {
		return nil, framework.AsStatus(fmt.Errorf(
			"calculating preScoreState: obtaining pod's soft topology spread constraints: %w", rules.Err))
	}
	strict := rules.Own || p.ListDefaulting
	if len(rules.List) == 0 {
		return nil, framework.SkipStatus()
	}
	s.rules = rules.List
	s.spread = topo.In(c).Soft(c.Pod, rules, strict)
	s.weigh(feasible)
	return s, framework.Status{}
}

// eachFeasible shows a plain list as groups of one node.
type eachFeasible []*framework.NodeInfo

// Len implements [incremental.FeasibleNodes].
func (l eachFeasible) Len() int { return len(l) }

// Each implements [incremental.FeasibleNodes].
func (l eachFeasible) Each(f func(node *framework.NodeInfo, nodes int)) {
	for _, n := range l {
		f(n, 1)
	}
}

// podTopologySpread is the bound scorer.
type podTopologySpread struct {
	rules   []topo.Rule
	spread  *topo.Spread
	sizes   []int     // number of domains of each rule among the feasible nodes
	weights []float64 // of each rule
	seen    [][]bool  // domains met, by rule
	scored  int       // feasible nodes that are not left out
	visit   func(*framework.NodeInfo, int)
	version uint64
	list    eachFeasible
}

// weigh computes the weight of each rule.
func (s *podTopologySpread) weigh(feasible incremental.FeasibleNodes) {
	known, versioned := feasible.(incremental.VersionedNodes)
	if !versioned {
		s.meetAll(feasible)
		s.version = s.spread.Sized(s.sizes)
		return
	}
	nodes := known.FeasibleVersion()
	sizes, version, ok := s.spread.SizedFor(nodes)
	if !ok {
		s.meetAll(feasible)
		s.version = s.spread.Sized(s.sizes)
		s.spread.RememberSized(nodes, s.version)
		return
	}
	s.version = version
	if !slices.Equal(s.sizes, sizes) || len(s.weights) != len(sizes) { // the pod before may have had the same
		s.sizes = append(s.sizes[:0], sizes...)
		s.findWeights()
	}
}

// meetAll finds sizes and weights from the feasible nodes.
func (s *podTopologySpread) meetAll(feasible incremental.FeasibleNodes) {
	n := len(s.rules)
	s.sizes, s.weights = append(s.sizes[:0], make([]int, n)...), s.weights[:0]
	for len(s.seen) < n {
		s.seen = append(s.seen, nil)
	}
	for i := range n {
		clear(s.seen[i])
	}
	s.scored = 0
	if s.visit == nil {
		s.visit = s.meetNodes
	}
	feasible.Each(s.visit)
	for i := range s.rules {
		if s.rules[i].Key == api.LabelHostname {
			s.sizes[i] = s.scored
		}
	}
	s.findWeights()
}

// findWeights finds the weights from the sizes.
func (s *podTopologySpread) findWeights() {
	s.weights = s.weights[:0]
	for _, size := range s.sizes {
		s.weights = append(s.weights, SpreadWeight(size))
	}
}

// meetNodes records feasible nodes of one group.
func (s *podTopologySpread) meetNodes(node *framework.NodeInfo, nodes int) {
	if s.spread.Ignores(node) {
		return
	}
	s.scored += nodes
	for i := range s.rules {
		if s.rules[i].Key != api.LabelHostname {
			s.meet(i, int(s.spread.Place(i, node)))
		}
	}
}

// meet records that a feasible node is in the domain.
func (s *podTopologySpread) meet(rule, domain int) {
	seen := &s.seen[rule]
	for len(*seen) <= domain {
		*seen = append(*seen, false)
	}
	if !(*seen)[domain] {
		(*seen)[domain] = true
		s.sizes[rule]++
	}
}

// current returns the counts, which are looked up again if the tables have given them up: a plugin may make trials
// between two scores.
func (s *podTopologySpread) current() *topo.Spread {
	if s.spread.Dropped() {
		s.spread = s.spread.Renewed()
		s.version = s.spread.Sized(s.sizes)
	}
	return s.spread
}

func (s *podTopologySpread) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	if s.current().Ignores(node) {
		return 0
	}
	var sum float64
	for i := range s.rules {
		if s.spread.Has(i, node) {
			sum += SpreadScore(s.spread.Counts[i].At(node), s.rules[i].MaxSkew, s.weights[i])
		}
	}
	return int64(math.Round(sum))
}

// GroupScore implements [incremental.ExceptionScorer].
func (s *podTopologySpread) GroupScore(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	if s.current().Ignores(node) {
		return 0
	}
	var sum float64
	for i := range s.rules {
		if s.spread.Has(i, node) {
			sum += SpreadScore(s.spread.GroupAt(i, node), s.rules[i].MaxSkew, s.weights[i])
		}
	}
	return int64(math.Round(sum))
}

// Exceptions implements [incremental.ExceptionScorer]: nodes with pods that a rule by host
// name counts.
func (s *podTopologySpread) Exceptions(visit func(slot int)) { s.current().SoftExceptions(visit) }

// ExceptionsChanged implements [incremental.ExceptionScorer].
func (s *podTopologySpread) ExceptionsChanged(since uint64, known []int32, visit func(slot int)) bool {
	return s.spread.SoftExceptionsChanged(since, s.version, known, visit)
}

// Excludes implements [framework.RangeExcluder].
func (s *podTopologySpread) Excludes(node *framework.NodeInfo) bool { return s.current().Ignores(node) }

// NormalizeScore implements [framework.RangeNormalizer].
func (s *podTopologySpread) NormalizeScore(raw, smallest, largest int64) int64 {
	return SpreadNormalizeScore(raw, smallest, largest)
}

// Groups implements [incremental.Grouper].
func (s *podTopologySpread) Groups() incremental.Groups { return s.spread.SoftGroups() }

// Version implements [incremental.DomainTracker].
func (s *podTopologySpread) Version() uint64 { return s.version }

// Changed implements [incremental.DomainTracker].
func (s *podTopologySpread) Changed(since uint64, dirty func(slot int)) bool {
	return s.spread.SoftChanged(since, s.version, dirty)
}

// GroupsChanged implements [incremental.GroupTracker].
func (s *podTopologySpread) GroupsChanged(since uint64, dirty func(group int)) bool {
	return s.spread.SoftGroupsChanged(since, s.version, dirty)
}

// AppendState implements [incremental.ForkTracker].
func (s *podTopologySpread) AppendState(b []byte) []byte {
	return s.spread.AppendSoftState(b, s.version)
}

// AppendOrigin implements [incremental.ForkTracker].
func (s *podTopologySpread) AppendOrigin(b []byte) []byte {
	return s.spread.AppendSoftOrigin(b, s.version)
}

// ChangedFrom implements [incremental.ForkTracker].
func (s *podTopologySpread) ChangedFrom(state []byte, dirty func(slot int)) bool {
	return s.spread.SoftChangedFrom(state, s.version, dirty)
}

// ExceptionsChangedFrom implements [incremental.ForkExceptionScorer].
func (s *podTopologySpread) ExceptionsChangedFrom(state []byte, known []int32, visit func(slot int)) bool {
	return s.spread.SoftExceptionsChangedFrom(state, s.version, known, visit)
}

// SpreadWeight returns the weight of a spread constraint with that many domains
// among the feasible nodes: the natural logarithm of their number plus 2. It keeps
// many small domains from outweighing a few large ones. Numbers below 0 count as 0.
//
// Source: kube-scheduler 1.37, topologyNormalizingWeight.
func SpreadWeight(domains int) float64 { return math.Log(float64(max(domains, 0)) + 2) }

// SpreadScore returns what a spread constraint adds to the raw score of a node whose
// domain has count pods: count*weight + (maxSkew-1). The last part makes small
// differences matter less if a large skew is allowed.
//
// Source: kube-scheduler 1.37, scoreForCount.
func SpreadScore(count, maxSkew int64, weight float64) float64 {
	return float64(float64(count)*weight) + float64(maxSkew-1)
}

// SpreadNormalizeScore maps a raw score in [smallest, largest] to [0,100], lower
// being better: 100*(largest+smallest-raw)/largest, truncated, and 100 if the
// largest is not above 0. A raw score of -1 gives 0: it marks a node that is left
// out, even if it results from a constraint with a maxSkew of 0.
//
// Source: kube-scheduler 1.37, PodTopologySpread's NormalizeScore.
//
// Differs: sums beyond int64.
// Original: they wrap around.
// Here: they do not.
// Why: a wrapped number helps nobody.
//
// Differs: negative results, possible only with an invalid maxSkew.
// Original: the cycle fails.
// Here: they become 0.
// Why: the score must be from 0 to 100.
//
// Differs: a raw score out of the range.
// Original: the formula leaves [0,100].
// Here: it counts as the nearer end.
// Why: the score must be from 0 to 100.
func SpreadNormalizeScore(raw, smallest, largest int64) int64 {
	if raw == leftOut {
		return 0
	}
	if largest <= 0 {
		return framework.MaxNodeScore
	}
	raw = min(max(raw, smallest), largest)
	above := uint64(raw) - uint64(smallest) // exact, as raw is not below smallest
	if raw < smallest || above >= uint64(largest) {
		return 0
	}
	return percent(largest-int64(above), largest)
}

// leftOut is the original's raw score for nodes that are left out.
const leftOut = -1
