package estimator

import (
	"fmt"
	"strings"
)

// Rules names the version of Koordinator's scheduler whose load-aware rules apply.
// The versions give different answers for the same cluster:
//
//	                                        1.4      1.5      1.6      1.8
//	expired metric in the filter            pass     reject   reject   reject
//	a usage of exactly the threshold        reject   reject   pass     pass
//	filter counts pods not yet measured     no       no       yes      yes
//	limit above request is estimated        whole    whole    scaled   scaled
//	estimated resources                     all with a weight          all with a factor
//	a pod counts as placed since            its last event   its first its PodScheduled condition
//	a pod is prod in a metric if            the pod says so            pod and metric say so
//
// The zero value means [Koordinator18].
//
// Source: Koordinator, pkg/scheduler/plugins/loadaware, tags v1.4.1, v1.5.0,
// v1.6.0 and v1.8.0. 1.7 has the rules of 1.8.
type Rules string

// The supported versions.
const (
	Koordinator14 Rules = "1.4"
	Koordinator15 Rules = "1.5"
	Koordinator16 Rules = "1.6"
	Koordinator18 Rules = "1.8"
)

// known returns the rules, or the default for "". For unknown rules, the error
// lists the known ones.
func (r Rules) known() (Rules, error) {
	switch r {
	case "":
		return Koordinator18, nil
	case Koordinator14, Koordinator15, Koordinator16, Koordinator18:
		return r, nil
	}
	return "", fmt.Errorf("unknown rules, want one of %s", quoteList(Koordinator14, Koordinator15, Koordinator16, Koordinator18))
}

// traits are the differences between the versions, as far as this package needs
// them.
type traits struct {
	// vectors: usage is kept in whole units of a fixed set of resources, and a pod
	// in its estimation window adds the part of its estimate above its usage (1.8).
	// Otherwise exact quantities are added up, and the larger of estimate and usage
	// replaces the usage of a pod in its window (up to 1.6).
	vectors bool
	// metricsOnly: the filter reads only measured use, in thousandths of every
	// resource, and ignores pods without measurement (up to 1.5).
	metricsOnly bool
	// longestOnly: without a duration, the longest period decides even if it lacks
	// the statistic (up to 1.5).
	longestOnly bool
	// wholeLimit: a pod whose limit exceeds its request is estimated at its
	// limit (up to 1.5).
	wholeLimit bool
	// firstAssigned: a pod counts as placed since it was first seen on the node
	// (1.6), instead of since its last event (up to 1.5).
	firstAssigned bool
	// weighed: the resources with a weight are estimated, instead of the resources
	// with a factor (up to 1.6).
	weighed bool
	// plainInit: sidecars count like other init containers (1.4). podLevel:
	// resources of the pod as a whole count (1.8).
	plainInit, podLevel bool
}

func (r Rules) traits() traits {
	switch r {
	case Koordinator14:
		return traits{metricsOnly: true, longestOnly: true, wholeLimit: true, weighed: true, plainInit: true}
	case Koordinator15:
		return traits{metricsOnly: true, longestOnly: true, wholeLimit: true, weighed: true}
	case Koordinator16:
		return traits{firstAssigned: true, weighed: true}
	}
	return traits{vectors: true, podLevel: true}
}

// quoteList formats names for an error text.
func quoteList[T ~string](names ...T) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", string(n))
	}
	return strings.Join(quoted, ", ")
}
