package gang

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/berth-sched/berth/framework/api"
)

// A Choice names how a domain is chosen for a group, and how pods are divided among the
// domains within it.
type Choice uint8

const (
	// Kubernetes137 does what kube-scheduler 1.37 does: it tries every domain, and takes
	// the one with the highest total of the placement scores. It is the zero value.
	//
	// Differs: the order of domains.
	// Original: kube-scheduler follows map order.
	// Here: a domain comes when its first node does, in the snapshot's order.
	// Why: the answer must be the same on every run.
	//
	// Differs: domains with equal totals.
	// Original: kube-scheduler draws one of them.
	// Here: the first of them wins, or one that a seed draws.
	// Switch: [Rules.Draw].
	//
	// Differs: which domain a refusal tells of, if several were tried.
	// Original: the first in map order.
	// Here: the one that took the most pods.
	// Why: it is the one closest to success.
	Kubernetes137 Choice = iota
	// BestFit takes the smallest domain that is large enough, so large domains stay whole
	// for large groups. Within, it fills the children with the most room, and ends with
	// the smallest that holds the rest.
	//
	// Source: Kueue, Topology Aware Scheduling (KEP-2724), BestFit.
	BestFit
	// MostPacked takes the domain whose capacity is used up most, among those that are
	// large enough. Within, it divides as BestFit does.
	MostPacked
	// LeastFree takes the smallest domain that is large enough, as BestFit does. Within,
	// it fills the children with the least room first.
	//
	// Source: Kueue, Topology Aware Scheduling (KEP-2724), LeastFreeCapacity.
	LeastFree
)

var choiceNames = [...]string{"Kubernetes137", "BestFit", "MostPacked", "LeastFree"}

// String returns the choice's name.
func (c Choice) String() string {
	if int(c) < len(choiceNames) {
		return choiceNames[c]
	}
	return fmt.Sprintf("Choice(%d)", uint8(c))
}

// An Order names in which order the pods of a group are tried. Kubernetes137 always tries
// them as given; so do groups with slices, whose order says which pods are in a slice.
type Order uint8

const (
	// AsGiven tries the pods in the order of [Group.Pods].
	AsGiven Order = iota
	// LargestFirst tries pods that ask for a larger part of the domain first, and equal
	// ones in their order.
	LargestFirst
	// Both tries both orders and keeps the result that places more pods, or else the
	// first.
	Both
)

// Rules say how groups are placed. The zero value has the rules of kube-scheduler 1.37.
type Rules struct {
	// Choice names the rule by which a domain is chosen.
	Choice Choice
	// Compare, if not nil, chooses in place of Choice: all domains are tried, and the one
	// whose trial sorts first among those that succeeded is taken. Within domains, pods
	// are divided as by BestFit.
	Compare func(a, b *Trial) int
	// Order names in which order the pods are tried.
	Order Order
	// Exact stops when the minimum stands. Otherwise the other pods are tried, too, as
	// kube-scheduler does.
	Exact bool
	// Search is how many steps the search may take after the greedy attempt has failed
	// in a domain: each step asks the filters about one pod on one node. 0 means no
	// search. Kubernetes137 never searches. Pods are tried in their order alone.
	Search int
	// Decisions is how many decisions about one pod in one domain an attempt may make: with
	// more it ends with an error, and the group does not stand. 0 means 300,000, which take
	// about a second; with a negative number there is no bound. Each pod may be tried once.
	// The groups of a [Set] share the bound, and each of their pods may be tried twice.
	// A decision for which a search for devices was given up counts as 50,000.
	Decisions int
	// Scores are the placement scores of Kubernetes137 with their weights; nil means
	// [PlacementScores].
	Scores []WeightedScore
	// Draw draws among domains with equal totals by Seed. Otherwise the first wins.
	Draw bool
	// Seed gives the random words of all decisions about groups, together with the
	// group's name.
	Seed uint64
	// Detailed tries every domain pod by pod even if counts tell the result, so that
	// each trial lists its pods.
	Detailed bool
	// Workers is how many domains Kubernetes137 tries at once, each on a fork of the
	// snapshot; up to 1, they are tried one after the other. The outcome is the same. Each
	// worker keeps answers of its own, so the first attempts cost more.
	Workers int
	// NoTopology says that the feature gate TopologyAwareWorkloadScheduling is off. It
	// changes texts, and levels are ignored. Only Kubernetes137 reads it.
	NoTopology bool
}

func (r *Rules) kubernetes() bool { return r.Choice == Kubernetes137 && r.Compare == nil }

// ignoresLevels reports whether groups are placed as if they had no levels.
func (r *Rules) ignoresLevels() bool { return r.kubernetes() && r.NoTopology }

// check refuses rules that make no sense.
func (r *Rules) check() error {
	invalid := func(field, value, text string) error {
		return &api.InvalidError{Object: "rules", Field: field, Value: value, Err: errors.New(text)}
	}
	switch {
	case r.Choice > LeastFree:
		return invalid("choice", r.Choice.String(), "is unknown")
	case r.Order > Both:
		return invalid("order", strconv.Itoa(int(r.Order)), "is unknown")
	case r.Workers < 0:
		return invalid("workers", strconv.Itoa(r.Workers), "must not be negative")
	case r.Search < 0:
		return invalid("search", strconv.Itoa(r.Search), "must not be negative")
	}
	for i, s := range r.Scores {
		switch {
		case s.Scorer == nil:
			return invalid("scores["+strconv.Itoa(i)+"]", "", "has no scorer")
		case s.Weight < 0 || s.Weight > maxWeight:
			return invalid("scores["+strconv.Itoa(i)+"].weight", strconv.FormatInt(s.Weight, 10), "must be from 0 to 1000000000000")
		}
	}
	return nil
}

const maxWeight = 1_000_000_000_000
