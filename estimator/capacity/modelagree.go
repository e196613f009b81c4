package capacity

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

var (
	errNoModels     = errors.New("there are no models to grade nodes by")
	errNameCount    = errors.New("the number of resourceName is not equal the number of resourceList")
	errNameMissing  = errors.New("the resource is missing in this model")
	errNotAscending = errors.New("must not be below the min of the model before")
)

// agree returns the first reason why counts of nodes by grade are meaningless under
// these models. Every model must name the same resources, at least one, each once.
// Minima must not be negative nor fall from one model to the next. Counting does
// not use maxima, so agree ignores them.
func agree(models []api.ResourceModel) error {
	finder := rangeFinder{models: models}
	for i := range models {
		ranges := models[i].Ranges
		if len(ranges) == 0 {
			return invalidModel(i, "ranges", "0 resources", ruleNoRanges)
		}
		if i == 0 {
			if err := agreeFirst(&finder); err != nil {
				return err
			}
			continue
		}
		before := models[i-1].Ranges
		if len(ranges) != len(before) {
			return invalidModel(i, "ranges", fmt.Sprintf("%d resources", len(ranges)), errNameCount)
		}
		for j := range before {
			k := j // usually, all models list their resources in the same order
			if ranges[k].Name != before[j].Name {
				if k = finder.find(i, before[j].Name); k < 0 && before[j].Name == "" {
					return invalidRange(i-1, j, "name", "", ruleNoName)
				} else if k < 0 {
					return invalidModel(i, "ranges", string(before[j].Name), errNameMissing)
				}
			}
			if ranges[k].Min.Cmp(before[j].Min) < 0 {
				return invalidRange(i, k, "min", ranges[k].Min.String(), errNotAscending)
			}
		}
	}
	return nil
}

// agreeFirst checks the first model. If the other models agree with it, they have
// no negative minima and name no resource twice.
func agreeFirst(finder *rangeFinder) error {
	ranges := finder.models[0].Ranges
	for j := range ranges {
		r := &ranges[j]
		if finder.find(0, r.Name) < j {
			return invalidRange(0, j, "name", string(r.Name), ruleTwice)
		}
		if r.Min.Sign() < 0 {
			return invalidRange(0, j, "min", r.Min.String(), errNegative)
		}
	}
	return nil
}
