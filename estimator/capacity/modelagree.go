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

// agree returns the first reason why numbers of nodes by grade mean nothing
// under these models: every model must name the same resources, at least one,
// each once, and minima must neither be negative nor fall from one model to the
// next. Maxima play no part in counting and are not read.
func agree(models []api.ResourceModel) error {
	for i := range models {
		ranges := models[i].Ranges
		if len(ranges) == 0 {
			return invalidModel(i, "ranges", "0 resources", ruleNoRanges)
		}
		if i == 0 {
			if err := agreeFirst(ranges); err != nil {
				return err
			}
			continue
		}
		before := models[i-1].Ranges
		if len(ranges) != len(before) {
			return invalidModel(i, "ranges", fmt.Sprintf("%d resources", len(ranges)), errNameCount)
		}
		for j := range before {
			k := j // mostly, models list their resources in one order
			if ranges[k].Name != before[j].Name {
				if k = rangeOf(ranges, before[j].Name); k < 0 && before[j].Name == "" {
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

// agreeFirst checks the first model; the others cannot be negative or name a
// resource twice if they agree with it.
func agreeFirst(ranges []api.ResourceModelRange) error {
	for j := range ranges {
		r := &ranges[j]
		if rangeOf(ranges[:j], r.Name) >= 0 {
			return invalidRange(0, j, "name", string(r.Name), ruleTwice)
		}
		if r.Min.Sign() < 0 {
			return invalidRange(0, j, "min", r.Min.String(), errNegative)
		}
	}
	return nil
}
