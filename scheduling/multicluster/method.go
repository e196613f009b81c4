package multicluster

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A Method divides a number of replicas among clusters by weight.
type Method uint8

// The methods of division. Neither gives a cluster more than its weight, as long as
// the replicas are no more than the sum of the weights.
const (
	// Webster gives the replicas out one by one, each to the cluster with the
	// greatest weight / (2 * replicas + 1). Ties go to the cluster with fewer
	// replicas, then by name. It is the method of Karmada 1.16 and later, and the
	// zero value.
	Webster Method = iota
	// Floor gives each cluster its share rounded down. The replicas left over go one
	// each to the first clusters by weight, then by previous replicas, then by name.
	// It is the method of Karmada up to 1.15, which breaks the last tie at random.
	Floor
)

var methodNames = [...]string{Webster: "Webster", Floor: "Floor"}

// String returns the method's name.
func (m Method) String() string {
	if int(m) < len(methodNames) {
		return methodNames[m]
	}
	return fmt.Sprintf("Method(%d)", uint8(m))
}

// A Target is a cluster and a number of replicas in it.
type Target struct {
	Name     string `json:"name"`
	Replicas int64  `json:"replicas"`
}

// A Weight is a cluster's claim in a division.
type Weight struct {
	Name   string `json:"name"`
	Weight int64  `json:"weight"`
	// Previous is how many replicas the cluster had before. Only Floor reads it, to
	// break ties.
	Previous int64 `json:"previous,omitempty"`
}

// A NameOrder breaks ties between clusters by their names.
type NameOrder bool

// The orders of names. Karmada chooses one for each workload, so that small
// workloads do not all crowd into the first cluster.
const (
	Ascending  NameOrder = false
	Descending NameOrder = true
)

// NameOrderOf returns the order for a workload: Descending if the FNV-1a hash (32
// bits) of its UID is odd, and Ascending otherwise or without a UID.
//
// Source: Karmada 1.16.
func NameOrderOf(uid api.UID) NameOrder {
	if uid == "" {
		return Ascending
	}
	h := fnv.New32a()
	h.Write([]byte(uid))
	return h.Sum32()%2 == 1
}

func (o NameOrder) compare(a, b string) int {
	if o == Descending {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

var (
	errNegative      = errors.New("must not be negative")
	errUnknownMethod = errors.New("unknown method")
	errSum           = errors.New("the sum of the weights exceeds 2^63-1")
	errTooMany       = errors.New("more than 2^53 replicas")
	errNamedTwice    = errors.New("the cluster is named twice")
)

// maxDivided bounds the replicas to divide, held ones included, so that no
// intermediate result overflows.
const maxDivided = 1 << 53

// Divide divides n replicas. It returns, by name, how many every cluster in weights
// then has, clusters with none included. held lists the replicas that clusters
// already have: Webster counts them as given out before, and Floor adds to them.
// Clusters that are only in held keep theirs. If all weights are 0, nothing is
// divided and Divide returns held.
//
// An unknown method, a negative number, a cluster named twice, and sums that
// overflow an int64 are [*api.InvalidError]s.
//
// Cost: O(k log n) for k clusters.
//
// Source: Karmada 1.13 and 1.16, the dispenser. Karmada gives replicas out one by
// one in Webster's method; Divide gives out all but about k at once, with the same
// result.
//
// Differs: ties in Floor.
// Original: Karmada breaks them at random.
// Here: the name decides.
// Why: the answer must be the same on every run.
//
// Differs: fractions.
// Original: Karmada compares them as floating-point numbers.
// Here: they are compared as integers.
// Why: integers are exact.
func (m Method) Divide(n int64, weights []Weight, held []Target, ties NameOrder) ([]Target, error) {
	if int(m) >= len(methodNames) {
		return nil, &api.InvalidError{Field: "method", Value: m.String(), Err: errUnknownMethod}
	}
	sum, err := sumOfWeights(n, weights)
	if err != nil {
		return nil, err
	}
	parties, err := partiesOf(weights)
	if err != nil {
		return nil, err
	}
	others, err := seat(n, parties, held)
	if err != nil {
		return nil, err
	}
	result := make([]Target, 0, len(parties)+len(others))
	if sum > 0 && (n > 0 || len(held) == 0) {
		divide := webster
		if m == Floor {
			divide = floor
		}
		divide(n, uint64(sum), parties, ties)
		for i := range parties {
			result = append(result, Target{parties[i].Name, parties[i].seats})
		}
		if len(others) == 0 {
			return result, nil
		}
		result = append(result, others...)
	} else {
		result = append(result, held...)
	}
	sortByName(result)
	return result, nil
}

func sortByName(targets []Target) {
	slices.SortFunc(targets, func(a, b Target) int { return cmp.Compare(a.Name, b.Name) })
}

// sumOfWeights returns the sum of the weights.
func sumOfWeights(n int64, weights []Weight) (int64, error) {
	if n < 0 {
		return 0, &api.InvalidError{Field: "replicas", Value: fmt.Sprint(n), Err: errNegative}
	}
	var sum int64
	for i := range weights {
		w := &weights[i]
		switch {
		case w.Weight < 0:
			return 0, &api.InvalidError{Object: "cluster " + w.Name, Field: "weight", Value: fmt.Sprint(w.Weight), Err: errNegative}
		case w.Weight > math.MaxInt64-sum:
			return 0, &api.InvalidError{Object: "cluster " + w.Name, Field: "weight", Value: fmt.Sprint(w.Weight), Err: errSum}
		}
		sum += w.Weight
	}
	return sum, nil
}

// A party is a cluster in a division and its replicas.
type party struct {
	Weight
	seats int64
}

// partiesOf returns the parties by name.
func partiesOf(weights []Weight) ([]party, error) {
	parties := make([]party, len(weights))
	sorted := true
	for i := range weights {
		parties[i].Weight = weights[i]
		sorted = sorted && (i == 0 || weights[i-1].Name < weights[i].Name)
	}
	if sorted {
		return parties, nil
	}
	slices.SortFunc(parties, func(a, b party) int { return cmp.Compare(a.Name, b.Name) })
	for i := 1; i < len(parties); i++ {
		if parties[i].Name == parties[i-1].Name {
			p := &parties[i]
			return nil, &api.InvalidError{Object: "cluster " + p.Name, Field: "weight", Value: fmt.Sprint(p.Weight.Weight), Err: errNamedTwice}
		}
	}
	return parties, nil
}

// seat gives the parties their held replicas. It returns the held replicas of other
// clusters.
func seat(n int64, parties []party, held []Target) (others []Target, err error) {
	all := n
	seen := make(map[string]bool, len(held))
	for _, t := range held {
		switch {
		case t.Replicas < 0:
			return nil, &api.InvalidError{Object: "cluster " + t.Name, Field: "replicas", Value: fmt.Sprint(t.Replicas), Err: errNegative}
		case seen[t.Name]:
			return nil, &api.InvalidError{Object: "cluster " + t.Name, Field: "replicas", Value: fmt.Sprint(t.Replicas), Err: errNamedTwice}
		}
		seen[t.Name] = true
		all = resource.SatAdd(all, t.Replicas)
		i, found := slices.BinarySearchFunc(parties, t.Name, func(p party, name string) int { return cmp.Compare(p.Name, name) })
		if found {
			parties[i].seats = t.Replicas
		} else {
			others = append(others, t)
		}
	}
	if all > maxDivided {
		return nil, &api.InvalidError{Field: "replicas", Value: fmt.Sprint(all), Err: errTooMany}
	}
	return others, nil
}

// floor gives out n replicas by rounding down.
func floor(n int64, sum uint64, parties []party, ties NameOrder) {
	left := n
	for i := range parties {
		share := int64(resource.MulDiv(uint64(parties[i].Weight.Weight), uint64(n), 0, sum))
		parties[i].seats += share
		left -= share
	}
	if left == 0 {
		return
	}
	var space [64]rank // avoids an allocation for up to 64 clusters
	order := space[:0]
	for i := range parties {
		r := rank{parties[i].Weight.Weight, parties[i].Previous, i}
		if ties == Descending {
			r.place = -i
		}
		order = append(order, r)
	}
	slices.SortFunc(order, rank.compare)
	for _, r := range order[:left] {
		parties[max(r.place, -r.place)].seats++
	}
}

// A rank is a party's claim to the replicas that rounding down leaves over. place is
// its place by name, negative if names descend.
type rank struct {
	weight, previous int64
	place            int
}

func (r rank) compare(o rank) int {
	switch {
	case r.weight != o.weight:
		return cmp.Compare(o.weight, r.weight)
	case r.previous != o.previous:
		return cmp.Compare(o.previous, r.previous)
	}
	return cmp.Compare(r.place, o.place)
}
