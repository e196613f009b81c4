package capacity

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

var (
	errNoSuchGrade = errors.New("no resource model has this grade")
	errNoResource  = errors.New("the name of a resource must not be empty")
)

// ValidateCluster reports all errors in a cluster's resource data, joined. Each is
// a [*api.InvalidError] with the cluster, the field and the value. Resource models
// must obey every rule of [ValidateModelsStrictly]. Amounts and counts must not be
// negative, and no resource name may be empty. A grade must be counted at most
// once, and only if it has a model.
//
// Use it for clusters from elsewhere. Estimates require less: they refuse only
// malformed data that they read, and never read the upper ends of ranges. So a
// cluster that passes ValidateCluster is never malformed for an estimate.
func ValidateCluster(cluster *api.Cluster) error {
	if cluster == nil {
		return errNilCluster
	}
	var all []error
	if err := ValidateModelsStrictly(cluster.Spec.ResourceModels); err != nil {
		for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
			all = append(all, ofCluster(cluster, e))
		}
	}
	if s := cluster.Status.ResourceSummary; s != nil {
		for _, err := range nameless(s) {
			all = append(all, ofCluster(cluster, err))
		}
		eachNegative(s, func(err *api.InvalidError) bool {
			all = append(all, ofCluster(cluster, err))
			return true
		})
		for _, err := range strangeCounts(cluster.Spec.ResourceModels, s.AllocatableModelings) {
			all = append(all, ofCluster(cluster, err))
		}
	}
	return errors.Join(all...)
}

// nameless returns an error for each part of the summary with an empty resource
// name.
func nameless(s *api.ResourceSummary) []error {
	var all []error
	for _, part := range summaryParts(s) {
		if q, found := part.list[""]; found {
			all = append(all, &api.InvalidError{Field: summaryField + "." + part.field + "[]", Value: q.String(), Err: errNoResource})
		}
	}
	return all
}

// strangeCounts returns the errors in the counted grades.
func strangeCounts(models []api.ResourceModel, counts []api.AllocatableModeling) []error {
	var all []error
	if len(counts) > 0 && len(counts) < len(models) {
		all = append(all, shortCounts(counts, models))
	}
	counted := map[uint]bool{}
	modelled := map[uint]bool{}
	for i := range models {
		modelled[models[i].Grade] = true
	}
	for i, c := range counts {
		strange := func(err error) {
			all = append(all, &api.InvalidError{
				Field: fmt.Sprintf("%s.allocatableModelings[%d].grade", summaryField, i), Value: fmt.Sprint(c.Grade), Err: err,
			})
		}
		if !modelled[c.Grade] {
			strange(errNoSuchGrade)
		}
		if counted[c.Grade] {
			strange(errGradeTwice)
		}
		counted[c.Grade] = true
	}
	return all
}
