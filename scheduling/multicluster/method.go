package multicluster

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// A Method divides a number of replicas among clusters by weight.
type Method uint8

// The methods of division. Neither gives a cluster more than its weight, as
// long as the replicas are not more than all weights together.
const (
	// Webster gives the replicas out one by one, each to the cluster with the
	// greatest weight / (2 * replicas + 1); ties go to the cluster with fewer
	// replicas, then by name. It is the method of Karmada 1.16 and later, and
	// the zero value.
	Webster Method = iota
	// Floor gives each cluster its share rounded down, and one more each to the
	// first clusters by weight, then by previous replicas, then by name, until
	// nothing is left. It is the method of Karmada up to 1.15, where the last
	// tie is broken at random.
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
	// Previous is how many replicas the cluster had before; only Floor reads it,
	// to break ties.
	Previous int64 `json:"previous,omitempty"`
}

// A NameOrder breaks ties between clusters by their names.
type NameOrder bool

// The orders of names. Karmada takes the one or the other by the workload, so
// that small workloads do not all crowd into the first cluster.
const (
	Ascending  NameOrder = false
	Descending NameOrder = true
)

// NameOrderOf returns the order for a workload: Descending if the FNV-1a hash
// (32 bits) of its UID is odd, Ascending otherwise and without a UID.
//
// Source: Karmada 1.16.
func NameOrderOf(uid framework.UID) NameOrder {
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
	errNegative   = errors.New("must not be negative")
	errSum        = errors.New("the sum of the weights exceeds 2^63-1")
	errTooMany    = errors.New("more than 2^53 replicas")
	errNamedTwice = errors.New("the cluster is named twice")
)

// maxDivided bounds what is divided, held replicas included, so that nothing
// overflows on the way.
const maxDivided = 1 << 53

// Divide divides n replicas and returns, by name, what every cluster in weights
// has then, clusters with nothing included. held says what clusters have
// already: Webster counts it as given out before, Floor adds to it; clusters
// that are only in held keep it. If all weights are 0, nothing is divided and
// held is returned.
//
// A negative number, a cluster named twice, and sums that no int64 holds are
// [*framework.InvalidError]s.
//
// Cost: O(k log n) for k clusters.
//
// Source: Karmada 1.13 and 1.16, the dispenser. Karmada gives replicas out one
// by one in Webster's method; here all but about k are given out at once, with
// the same result.
//
// Differs: ties in Floor are broken by name, not at random. Fractions are
// compared as integers, not as floating-point numbers.
func (m Method) Divide(n int64, weights []Weight, held []Target, ties NameOrder) ([]Target, error) {
	sum, err := checkDivision(n, weights, held)
	if err != nil {
		return nil, err
	}
	result := make([]Target, 0, len(weights)+len(held))
	seats := make(map[string]int64, len(held))
	for _, t := range held {
		seats[t.Name] = t.Replicas
	}
	if sum > 0 && (n > 0 || len(held) == 0) {
		divide := webster
		if m == Floor {
			divide = floor
		}
		parties := make([]party, len(weights))
		for i, w := range weights {
			parties[i] = party{Weight: w, seats: seats[w.Name]}
		}
		divide(n, uint64(sum), parties, ties)
		for i := range parties {
			result = append(result, Target{parties[i].Name, parties[i].seats})
			delete(seats, parties[i].Name)
		}
	}
	for name, replicas := range seats {
		result = append(result, Target{name, replicas})
	}
	sortByName(result)
	return result, nil
}

func sortByName(targets []Target) {
	slices.SortFunc(targets, func(a, b Target) int { return cmp.Compare(a.Name, b.Name) })
}

// checkDivision returns the sum of the weights.
func checkDivision(n int64, weights []Weight, held []Target) (int64, error) {
	if n < 0 {
		return 0, &framework.InvalidError{Field: "replicas", Value: fmt.Sprint(n), Err: errNegative}
	}
	var sum int64
	seen := make(map[string]bool, len(weights))
	for _, w := range weights {
		switch {
		case w.Weight < 0:
			return 0, &framework.InvalidError{Object: "cluster " + w.Name, Field: "weight", Value: fmt.Sprint(w.Weight), Err: errNegative}
		case w.Weight > math.MaxInt64-sum:
			return 0, &framework.InvalidError{Object: "cluster " + w.Name, Field: "weight", Value: fmt.Sprint(w.Weight), Err: errSum}
		case seen[w.Name]:
			return 0, &framework.InvalidError{Object: "cluster " + w.Name, Field: "weight", Err: errNamedTwice}
		}
		seen[w.Name] = true
		sum += w.Weight
	}
	all := n
	clear(seen)
	for _, t := range held {
		switch {
		case t.Replicas < 0:
			return 0, &framework.InvalidError{Object: "cluster " + t.Name, Field: "replicas", Value: fmt.Sprint(t.Replicas), Err: errNegative}
		case seen[t.Name]:
			return 0, &framework.InvalidError{Object: "cluster " + t.Name, Field: "replicas", Err: errNamedTwice}
		}
		seen[t.Name] = true
		all = resource.SatAdd(all, t.Replicas)
	}
	if all > maxDivided {
		return 0, &framework.InvalidError{Field: "replicas", Value: fmt.Sprint(all), Err: errTooMany}
	}
	return sum, nil
}

// A party is a cluster in a division and what it has.
type party struct {
	Weight
	seats int64
}

// floor gives out n replicas by rounding down.
func floor(n int64, sum uint64, parties []party, ties NameOrder) {
	left := n
	order := make([]int, len(parties))
	for i := range parties {
		order[i] = i
		share := int64(mulDiv(uint64(parties[i].Weight.Weight), uint64(n), 0, sum))
		parties[i].seats += share
		left -= share
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &parties[a], &parties[b]
		return cmp.Or(cmp.Compare(y.Weight.Weight, x.Weight.Weight), cmp.Compare(y.Previous, x.Previous), ties.compare(x.Name, y.Name))
	})
	for _, i := range order[:left] {
		parties[i].seats++
	}
}

// mulDiv returns (a*b + c) / d. The result must fit into 64 bits.
func mulDiv(a, b, c, d uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	lo, carry := bits.Add64(lo, c, 0)
	q, _ := bits.Div64(hi+carry, lo, d)
	return q
}
