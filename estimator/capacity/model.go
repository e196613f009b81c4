package capacity

import (
	"cmp"
	"math"
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// defaultCPU and defaultMemory are the minima of the default grades, in CPUs and
// GiB.
var (
	defaultCPU    = [...]int64{0, 1, 2, 4, 8, 16, 32, 64, 128}
	defaultMemory = [...]int64{0, 4, 16, 32, 64, 128, 256, 512, 1024}
)

// DefaultModels returns the nine grades that Karmada gives a cluster without
// models: CPUs from 0, 1, 2, 4, 8, 16, 32, 64 and 128, and memory from 0, 4, 16,
// 32, 64, 128, 256, 512 and 1024 GiB. Every call returns new models.
//
// Source: Karmada 1.13.
func DefaultModels() []api.ResourceModel {
	models := make([]api.ResourceModel, len(defaultCPU))
	for i := range models {
		cpu, memory := unbounded(), unbounded()
		if i+1 < len(models) {
			cpu, memory = resource.New(defaultCPU[i+1], resource.DecimalSI), gibibytes(defaultMemory[i+1])
		}
		models[i] = api.ResourceModel{
			Grade: uint(i),
			Ranges: []api.ResourceModelRange{
				{Name: resource.CPU, Min: resource.New(defaultCPU[i], resource.DecimalSI), Max: cpu},
				{Name: resource.Memory, Min: gibibytes(defaultMemory[i]), Max: memory},
			},
		}
	}
	return models
}

func gibibytes(n int64) resource.Quantity { return resource.New(n<<30, resource.BinarySI) }

func unbounded() resource.Quantity { return resource.New(math.MaxInt64, resource.DecimalSI) }

// StandardizeModels returns the models as Karmada stores them: in ascending order
// of grade, every range of the first model starting at 0, and every range of the
// last model ending at the largest int64. All other values are unchanged; to check
// them, call [ValidateModels].
//
// Source: Karmada 1.13.
//
// Differs: the argument.
// Original: Karmada sorts it in place.
// Here: it is not changed.
// Why: callers may share their models.
//
// Differs: models with equal grades.
// Original: Karmada's sort is unstable and may change their order.
// Here: they keep their order.
// Why: the answer must be the same on every run.
func StandardizeModels(models []api.ResourceModel) []api.ResourceModel {
	if len(models) == 0 {
		return nil
	}
	sorted := slices.Clone(models)
	slices.SortStableFunc(sorted, func(a, b api.ResourceModel) int { return cmp.Compare(a.Grade, b.Grade) })
	for i := range sorted {
		sorted[i].Ranges = slices.Clone(sorted[i].Ranges)
	}
	for i := range sorted[0].Ranges {
		r := &sorted[0].Ranges[i]
		r.Min = resource.New(0, r.Min.Format())
	}
	for i := range sorted[len(sorted)-1].Ranges {
		r := &sorted[len(sorted)-1].Ranges[i]
		r.Max = resource.New(math.MaxInt64, r.Max.Format())
	}
	return sorted
}
