package capacity

import (
	"errors"
	"fmt"
	"math"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

const summaryField = "status.resourceSummary"

var errNegative = errors.New("must not be negative")

// checkSummary returns an error about the first negative number of a summary that estimates may
// read. Pods without a node may request any number of resources that no node has; these are not read.
func checkSummary(s *api.ResourceSummary) (first error) {
	read := *s
	read.Allocating = nil
	if waitingNegative(s) {
		read.Allocating = waitingForNodes(s)
	}
	eachNegative(&read, func(err *api.InvalidError) bool {
		first = err
		return false
	})
	return first
}

// waitingNegative reports whether pods without a node request less than nothing of what nodes have.
func waitingNegative(s *api.ResourceSummary) bool {
	for name := range s.Allocatable {
		if q := s.Allocating[name]; q.Sign() < 0 {
			return true
		}
	}
	q := s.Allocating[resource.Pods]
	return q.Sign() < 0
}

// waitingForNodes returns what pods without a node request of what nodes have, and their number.
func waitingForNodes(s *api.ResourceSummary) resource.List {
	l := make(resource.List, len(s.Allocatable)+1)
	for name := range s.Allocatable {
		if q, found := s.Allocating[name]; found {
			l[name] = q
		}
	}
	if q, found := s.Allocating[resource.Pods]; found {
		l[resource.Pods] = q
	}
	return l
}

// eachNegative reports the negative numbers of a summary until report returns
// false.
func eachNegative(s *api.ResourceSummary, report func(*api.InvalidError) bool) {
	for _, part := range summaryParts(s) {
		if !anyNegative(part.list) {
			continue
		}
		for _, name := range part.list.Names() {
			if q := part.list[name]; q.Sign() < 0 && !report(&api.InvalidError{
				Field: fmt.Sprintf("%s.%s[%s]", summaryField, part.field, name), Value: q.String(), Err: errNegative,
			}) {
				return
			}
		}
	}
	for i, m := range s.AllocatableModelings {
		if m.Count < 0 && !report(invalidCount(i, m.Count, errNegative)) {
			return
		}
	}
}

// A summaryPart is one of the lists of a summary.
type summaryPart struct {
	field string
	list  resource.List
}

func summaryParts(s *api.ResourceSummary) [3]summaryPart {
	return [...]summaryPart{{"allocatable", s.Allocatable}, {"allocating", s.Allocating}, {"allocated", s.Allocated}}
}

func anyNegative(l resource.List) bool {
	for _, q := range l {
		if q.Sign() < 0 {
			return true
		}
	}
	return false
}

func invalidCount(i, count int, err error) *api.InvalidError {
	return &api.InvalidError{
		Field: fmt.Sprintf("%s.allocatableModelings[%d].count", summaryField, i), Value: fmt.Sprint(count), Err: err,
	}
}

// free returns the free amount of a resource; it is negative if more is allocated
// than there is.
func free(s *api.ResourceSummary, name resource.Name) resource.Quantity {
	q := s.Allocatable[name]
	if used, ok := s.Allocated[name]; ok {
		q = q.Sub(used)
	}
	if used, ok := s.Allocating[name]; ok {
		q = q.Sub(used)
	}
	return q
}

// freePods returns how many more pods the cluster admits.
func freePods(s *api.ResourceSummary) int64 {
	n := s.Allocatable[resource.Pods].Value()
	n = resource.SatSub(n, s.Allocated[resource.Pods].Value())
	return max(0, resource.SatSub(n, s.Allocating[resource.Pods].Value()))
}

// bySummary returns how many replicas the summary allows, and the limiting
// resource.
func bySummary(s *api.ResourceSummary, wanted []demand, r *ClusterReport, explain bool) (int64, resource.Name) {
	var n int64 = math.MaxInt64
	var limit resource.Name
	for _, d := range wanted {
		_, known := s.Allocatable[d.name]
		var left resource.Quantity
		var fits int64
		if known {
			left = free(s, d.name)
			fits = max(0, unitsOf(d.name, left)/d.units)
		}
		if fits < n {
			n, limit = fits, d.name
		}
		if explain {
			r.Resources = append(r.Resources, ResourceReport{
				Name: d.name, Free: left, Request: d.quantity, Missing: !known, Replicas: min(fits, MaxReplicas),
			})
		}
	}
	return n, limit
}
