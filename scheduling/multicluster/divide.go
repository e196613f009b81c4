package multicluster

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A Strategy says how to divide the replicas of a workload among its chosen
// clusters.
type Strategy uint8

// The strategies of Karmada.
const (
	// Duplicated gives every cluster all replicas.
	Duplicated Strategy = iota
	// StaticWeight divides by the placement's weights and ignores how many replicas
	// a cluster can take.
	StaticWeight
	// DynamicWeight divides by how many replicas each cluster can take.
	DynamicWeight
	// Aggregated divides like DynamicWeight, but among as few clusters as can take
	// all replicas together. Clusters that already have replicas come first, then
	// those with the most availability.
	Aggregated
)

var strategyNames = [...]string{
	Duplicated: "Duplicated", StaticWeight: "StaticWeight", DynamicWeight: "DynamicWeight", Aggregated: "Aggregated",
}

// String returns the strategy's name.
func (s Strategy) String() string {
	if int(s) < len(strategyNames) {
		return strategyNames[s]
	}
	return fmt.Sprintf("Strategy(%d)", uint8(s))
}

// A Demand describes the replicas to divide.
type Demand struct {
	// Replicas is the total that the workload wants, or the number per cluster if
	// Duplicated. With 0, every candidate is a target without replicas.
	Replicas int64
	Strategy Strategy
	// Method says how replicas are divided by weight.
	Method Method
	// Ties breaks ties of the method.
	Ties NameOrder
	// Previous lists how many replicas each cluster has now. DynamicWeight and
	// Aggregated keep them if they can.
	Previous []Target
	// Fresh makes DynamicWeight and Aggregated divide everything anew.
	Fresh bool
	// Overflow makes DynamicWeight and Aggregated fill the candidates tier by tier.
	Overflow bool
}

// A Candidate is a cluster that may get replicas.
type Candidate struct {
	Name string
	// Available is how many more replicas the cluster can take. DynamicWeight and
	// Aggregated read it.
	Available int64
	// Weight is the cluster's static weight. StaticWeight reads it.
	Weight int64
	// Tier is the overflow tier, from 0. It is read only if Demand.Overflow is set.
	Tier int
	// Rank orders candidates that can take equally many: the smallest comes first,
	// and equal ranks go by name.
	Rank int
}

// A Step names the way in which a division was made.
type Step string

// The steps of a division.
const (
	StepNone       Step = "no replicas"
	StepDuplicated Step = "duplicated"
	StepStatic     Step = "static weight"
	StepUnchanged  Step = "unchanged"
	StepScaleUp    Step = "scale up"
	StepScaleDown  Step = "scale down"
	StepFresh      Step = "fresh scale"
	StepOverflow   Step = "overflow"
)

// A Division is the result of dividing replicas. Its JSON form is stable.
type Division struct {
	// Targets holds the clusters that get replicas, by name.
	Targets []Target `json:"targets"`
	Step    Step     `json:"step"`
	// Divided is how many replicas were divided by Weights. Kept holds the replicas
	// that stayed where they were.
	Divided int64    `json:"divided,omitempty"`
	Weights []Weight `json:"weights,omitempty"`
	Kept    []Target `json:"kept,omitempty"`
	// Tier is the overflow tier of this division. Tiers holds the divisions of a
	// StepOverflow, by tier.
	Tier  int        `json:"tier,omitempty"`
	Tiers []Division `json:"tiers,omitempty"`
}

// A ShortageError says that the clusters cannot take all replicas.
type ShortageError struct {
	Step Step
	// Available is how many replicas the clusters can take. Wanted is how many they
	// should take.
	Available, Wanted int64
}

// Error returns Karmada's text.
func (e *ShortageError) Error() string {
	prefix := ""
	switch e.Step {
	case StepOverflow:
		return "Clusters available replicas are not enough to schedule."
	case StepScaleUp, StepScaleDown:
		prefix = "failed to " + string(e.Step) + ": "
	case StepFresh:
		prefix = "failed to do fresh scale: "
	}
	return prefix + fmt.Sprintf("Clusters available replicas %d are not enough to schedule.", e.Available)
}

// ErrNoClusters says that there is no cluster to give replicas to.
var ErrNoClusters = errors.New("no clusters available to schedule")

// Divide divides the replicas of a workload among the candidates. Their order has no
// effect. If clusters can take equally many replicas, Candidate.Rank breaks the tie.
// [Scheduler] ranks them in the order in which it chose them: by score, availability
// and name, as changed by spread constraints.
//
// StaticWeight divides all replicas each time. If no candidate has a weight, all
// weigh the same. DynamicWeight and Aggregated compare what the candidates have
// together with the replicas wanted. If they are equal, nothing changes. If replicas
// are missing, Divide divides these by availability and adds them. If there are too
// many, it divides all replicas by what the clusters have now. If Fresh, it divides
// all replicas by availability plus what the clusters have now.
//
// With Overflow, the tiers are served in order until no replicas are left. Each tier
// gets as many replicas as its clusters can take, existing ones included, and
// divides them as above. So scaling up goes on to the next tier when one is full,
// and scaling down takes the replicas of the last tier first.
//
// With DynamicWeight and Aggregated, a cluster never gets more new replicas than
// Candidate.Available. Scaling up removes no replicas, and scaling down adds none
// anywhere. If the clusters cannot take everything, the error is a [*ShortageError]
// and nothing is divided. Without candidates it is [ErrNoClusters].
//
// Source: Karmada 1.13, AssignReplicas; for Overflow, Karmada 1.18.
//
// Differs: the order of Previous.
// Original: Karmada 1.13 uses it to scale down an Aggregated workload.
// Here: it has no effect; the name decides.
// Why: the order of a list must not change the answer.
//
// Differs: replicas of clusters that are no longer candidates, when scaling down.
// Original: Karmada 1.13 gives some back to those clusters.
// Here: they are divided among the others, as when scaling up.
// Why: those clusters are no longer candidates.
//
// Differs: clusters that can take equally many, if there are more than twelve.
// Original: Karmada's sort is unstable and may change their order.
// Here: they are in the order of their ranks, as for fewer clusters.
// Why: the answer must be the same on every run.
func Divide(d Demand, candidates []Candidate) (Division, error) {
	if err := checkDemand(d, candidates); err != nil {
		return Division{}, err
	}
	if len(candidates) == 0 {
		return Division{}, ErrNoClusters
	}
	candidates = ranked(candidates)
	switch {
	case d.Replicas == 0:
		return each(candidates, StepNone, 0), nil
	case d.Strategy == Duplicated:
		return each(candidates, StepDuplicated, d.Replicas), nil
	case d.Strategy == StaticWeight:
		return divideStatic(d, candidates)
	}
	if d.Overflow {
		return divideTiers(d, candidates)
	}
	return divideDynamic(d, candidates)
}

// ranked returns the candidates by rank and name.
func ranked(candidates []Candidate) []Candidate {
	compare := func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Name, b.Name))
	}
	if slices.IsSortedFunc(candidates, compare) {
		return candidates
	}
	sorted := slices.Clone(candidates)
	slices.SortFunc(sorted, compare)
	return sorted
}

func checkDemand(d Demand, candidates []Candidate) error {
	if d.Replicas < 0 {
		return &api.InvalidError{Field: "replicas", Value: fmt.Sprint(d.Replicas), Err: errNegative}
	}
	if int(d.Strategy) >= len(strategyNames) {
		return &api.InvalidError{Field: "strategy", Value: d.Strategy.String(), Err: errors.New("unknown strategy")}
	}
	if int(d.Method) >= len(methodNames) {
		return &api.InvalidError{Field: "method", Value: d.Method.String(), Err: errUnknownMethod}
	}
	if d.Overflow && d.Strategy != DynamicWeight && d.Strategy != Aggregated {
		return &api.InvalidError{Field: "strategy", Value: d.Strategy.String(), Err: errOverflow}
	}
	seen := map[string]bool{}
	for _, c := range candidates {
		switch {
		case d.Overflow && c.Tier < 0:
			return &api.InvalidError{Object: "cluster " + c.Name, Field: "tier", Value: fmt.Sprint(c.Tier), Err: errNegative}
		case seen[c.Name]:
			return &api.InvalidError{Object: "cluster " + c.Name, Field: "name", Value: c.Name, Err: errNamedTwice}
		case c.Available < 0:
			return &api.InvalidError{Object: "cluster " + c.Name, Field: "available", Value: fmt.Sprint(c.Available), Err: errNegative}
		case c.Weight < 0:
			return &api.InvalidError{Object: "cluster " + c.Name, Field: "weight", Value: fmt.Sprint(c.Weight), Err: errNegative}
		}
		seen[c.Name] = true
	}
	clear(seen)
	for _, t := range d.Previous {
		switch {
		case seen[t.Name]:
			return &api.InvalidError{Object: "cluster " + t.Name, Field: "previous", Value: fmt.Sprint(t.Replicas), Err: errNamedTwice}
		case t.Replicas < 0:
			return &api.InvalidError{Object: "cluster " + t.Name, Field: "previous", Value: fmt.Sprint(t.Replicas), Err: errNegative}
		}
		seen[t.Name] = true
	}
	return nil
}

func each(candidates []Candidate, step Step, replicas int64) Division {
	v := Division{Step: step, Targets: make([]Target, len(candidates))}
	for i, c := range candidates {
		v.Targets[i] = Target{c.Name, replicas}
	}
	sortByName(v.Targets)
	return v
}

func divideStatic(d Demand, candidates []Candidate) (Division, error) {
	v := Division{Step: StepStatic, Divided: d.Replicas}
	previous := byCluster(d.Previous)
	for _, c := range candidates {
		if c.Weight > 0 {
			v.Weights = append(v.Weights, Weight{Name: c.Name, Weight: c.Weight, Previous: previous[c.Name]})
		}
	}
	if len(v.Weights) == 0 {
		for _, c := range candidates {
			v.Weights = append(v.Weights, Weight{Name: c.Name, Weight: 1})
		}
	}
	return v.finish(d, nil)
}

func byCluster(targets []Target) map[string]int64 {
	m := make(map[string]int64, len(targets))
	for _, t := range targets {
		m[t.Name] = t.Replicas
	}
	return m
}

func divideDynamic(d Demand, candidates []Candidate) (Division, error) {
	previous := byCluster(d.Previous)
	var kept []Target // the candidates' replicas
	var have int64
	beyond := false // they are more than an int64 can say
	for _, c := range candidates {
		if n := previous[c.Name]; n > 0 {
			kept = append(kept, Target{c.Name, n})
			beyond = beyond || n > math.MaxInt64-have
			have = resource.SatAdd(have, n)
		}
	}
	sortByName(kept)
	v := Division{Divided: d.Replicas, Weights: make([]Weight, 0, len(candidates))}
	switch {
	case d.Fresh:
		v.Step = StepFresh
		for _, c := range candidates {
			v.Weights = append(v.Weights, Weight{Name: c.Name, Weight: resource.SatAdd(c.Available, previous[c.Name])})
		}
		kept = nil
	case have == d.Replicas && !beyond:
		return Division{Step: StepUnchanged, Targets: kept}, nil
	case have > d.Replicas || beyond:
		v.Step = StepScaleDown
		for _, t := range kept {
			v.Weights = append(v.Weights, Weight{Name: t.Name, Weight: t.Replicas})
		}
		kept = nil
	default:
		v.Step = StepScaleUp
		v.Divided -= have
		for _, c := range candidates {
			v.Weights = append(v.Weights, Weight{Name: c.Name, Weight: c.Available, Previous: previous[c.Name]})
		}
	}
	slices.SortStableFunc(v.Weights, func(a, b Weight) int { return cmp.Compare(b.Weight, a.Weight) })
	var sum int64
	for _, w := range v.Weights {
		sum = resource.SatAdd(sum, w.Weight)
	}
	if sum < v.Divided {
		return Division{}, &ShortageError{Step: v.Step, Available: sum, Wanted: v.Divided}
	}
	if d.Strategy == Aggregated {
		v.aggregate()
	}
	return v.finish(d, kept)
}

// aggregate keeps only as many of the first weights as suffice. Clusters that have
// replicas come first.
func (v *Division) aggregate() {
	slices.SortStableFunc(v.Weights, func(a, b Weight) int {
		switch {
		case a.Previous > 0 && b.Previous == 0:
			return -1
		case a.Previous == 0 && b.Previous > 0:
			return 1
		}
		return 0
	})
	var sum int64
	for i, w := range v.Weights {
		if sum = resource.SatAdd(sum, w.Weight); sum >= v.Divided {
			v.Weights = v.Weights[:i+1]
			return
		}
	}
}

// finish divides by the weights and adds kept.
func (v Division) finish(d Demand, kept []Target) (Division, error) {
	shares, err := d.Method.Divide(v.Divided, v.Weights, nil, d.Ties)
	if err != nil {
		return Division{}, err
	}
	v.Kept = kept
	v.Targets = sumOf(shares, kept)
	return v, nil
}

// sumOf adds two lists of targets. It returns the targets with replicas, by name.
func sumOf(a, b []Target) []Target {
	sum := byCluster(a)
	for _, t := range b {
		sum[t.Name] += t.Replicas
	}
	targets := make([]Target, 0, len(sum))
	for name, n := range sum {
		if n > 0 {
			targets = append(targets, Target{name, n})
		}
	}
	sortByName(targets)
	return targets
}
