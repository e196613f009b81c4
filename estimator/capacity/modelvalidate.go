package capacity

import (
	"errors"
	"fmt"
	"math"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A modelRule is a rule that models break, in Karmada's words if Karmada has the
// rule.
type modelRule string

func (r modelRule) Error() string { return string(r) }

const (
	ruleGrades    modelRule = "The grade of each models should not be the same"
	ruleTypes     modelRule = "The number of resource types should be the same"
	ruleWidth     modelRule = "The max value of each resource must be greater than the min value"
	ruleFirstMin  modelRule = "The min value of each resource in the first model should be 0"
	ruleNames     modelRule = "The resource types of each models should be the same"
	ruleMeet      modelRule = "Model intervals for resources must be contiguous and non-overlapping"
	ruleLastMax   modelRule = "The max value of each resource in the last model should be MaxInt64"
	ruleNoRanges  modelRule = "a model must name at least one resource"
	ruleNoName    modelRule = "the name of a resource must not be empty"
	ruleTwice     modelRule = "a model must not name a resource twice"
	ruleAscending modelRule = "grades must ascend"
)

// modelsField is the path of a cluster's models.
const modelsField = "spec.resourceModels"

// ValidateModels checks models by the rules of Karmada's admission. It returns the
// first violation as a [*api.InvalidError], whose Err has Karmada's text. The
// models must be in their stored form; see [StandardizeModels].
//
// The rules: neighbours differ in grade and agree in the number of their resources
// and, position by position, in the names; every range is wider than 0; the first
// model begins at 0; each model begins where the previous one ends; the last one
// ends at the largest int64.
//
// Source: Karmada 1.13.
//
// Differs: borders where two models meet.
// Original: Karmada compares their text, so "1" and "1000m", or "1Ti" and "1024Gi",
// do not meet.
// Here: numbers are compared.
// Switch: [ValidateModelsJSON] compares the text.
//
// For rules that Karmada lacks, use [ValidateModelsStrictly].
func ValidateModels(models []api.ResourceModel) error {
	return firstViolation(models, meetByValue(models))
}

func firstViolation(models []api.ResourceModel, meet func(i, j int) bool) error {
	var first error
	checkModels(models, meet, func(err error) bool {
		first = err
		return false
	})
	return first
}

// ValidateModelsStrictly checks models by the rules of [ValidateModels] and by
// rules that Karmada lacks. It returns all violations, joined. The further rules:
// grades must ascend (Karmada accepts 5, 2 and 0, 1, 0); a model must name a
// resource (Karmada accepts none, and panics when it counts nodes), must not name
// one twice, and must not have an empty name.
func ValidateModelsStrictly(models []api.ResourceModel) error {
	var all []error
	checkModels(models, meetByValue(models), func(err error) bool {
		all = append(all, err)
		return true
	})
	finder := rangeFinder{models: models}
	for i, m := range models {
		if i > 0 && m.Grade < models[i-1].Grade {
			all = append(all, invalidModel(i, "grade", fmt.Sprint(m.Grade), ruleAscending))
		}
		if len(m.Ranges) == 0 {
			all = append(all, invalidModel(i, "ranges", "0 resources", ruleNoRanges))
		}
		for j, r := range m.Ranges {
			if r.Name == "" {
				all = append(all, invalidRange(i, j, "name", "", ruleNoName))
			}
			if finder.find(i, r.Name) < j {
				all = append(all, invalidRange(i, j, "name", string(r.Name), ruleTwice))
			}
		}
	}
	return errors.Join(all...)
}

// meetByValue returns a function that reports whether range j of model i begins
// where range j of the previous model ends.
func meetByValue(models []api.ResourceModel) func(i, j int) bool {
	return func(i, j int) bool { return models[i-1].Ranges[j].Max.Equal(models[i].Ranges[j].Min) }
}

// checkModels reports violations in Karmada's order until report returns false.
func checkModels(models []api.ResourceModel, meet func(i, j int) bool, report func(error) bool) {
	for i, m := range models {
		if i > 0 && m.Grade == models[i-1].Grade && !report(invalidModel(i, "grade", fmt.Sprint(m.Grade), ruleGrades)) {
			return
		}
		if i > 0 && len(m.Ranges) != len(models[i-1].Ranges) {
			if !report(invalidModel(i, "ranges", fmt.Sprintf("%d resources", len(m.Ranges)), ruleTypes)) {
				return
			}
		}
		for j, r := range m.Ranges {
			if r.Max.Cmp(r.Min) <= 0 && !report(invalidRange(i, j, "max", r.Max.String(), ruleWidth)) {
				return
			}
			if err := checkBegin(models, i, j, meet); err != nil && !report(err) {
				return
			}
			if i == len(models)-1 && !endless(r.Max) && !report(invalidRange(i, j, "max", r.Max.String(), ruleLastMax)) {
				return
			}
		}
	}
}

// checkBegin checks the start of range j of model i.
func checkBegin(models []api.ResourceModel, i, j int, meet func(i, j int) bool) error {
	r := &models[i].Ranges[j]
	if i == 0 {
		if !r.Min.IsZero() {
			return invalidRange(i, j, "min", r.Min.String(), ruleFirstMin)
		}
		return nil
	}
	if j >= len(models[i-1].Ranges) {
		return nil // checkModels has reported the number of ranges
	}
	if models[i-1].Ranges[j].Name != r.Name {
		return invalidRange(i, j, "name", string(r.Name), ruleNames)
	}
	if !meet(i, j) {
		return invalidRange(i, j, "min", r.Min.String(), ruleMeet)
	}
	return nil
}

// endless reports whether q, rounded up, is the largest int64.
func endless(q resource.Quantity) bool {
	return q.Value() == math.MaxInt64 && q.Cmp(unbounded()) <= 0
}

func invalidModel(i int, field, value string, err error) error {
	return &api.InvalidError{Field: fmt.Sprintf("%s[%d].%s", modelsField, i, field), Value: value, Err: err}
}

func invalidRange(i, j int, field, value string, err error) error {
	return &api.InvalidError{Field: fmt.Sprintf("%s[%d].ranges[%d].%s", modelsField, i, j, field), Value: value, Err: err}
}
