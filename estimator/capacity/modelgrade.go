package capacity

import (
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A Grader finds the grade of a node in a list of models. [NewGrader] makes it. It
// never changes, so goroutines may share it.
type Grader struct {
	models []api.ResourceModel
	names  []resource.Name
	mins   [][]resource.Quantity // by name, then by model
}

// NewGrader returns a Grader for models. Every model must name the same resources,
// at least one, each once. The minima of a resource must not be negative nor fall
// from one model to the next. Any other list is a [*api.InvalidError].
//
// Differs: lists that break these rules.
// Original: Karmada accepts them. It then panics at the first node (if there is no
// model, or one without resources), or counts nodes wrongly or not at all.
// Here: they are an error.
// Why: such lists grade no node correctly.
func NewGrader(models []api.ResourceModel) (*Grader, error) {
	if len(models) == 0 {
		return nil, &api.InvalidError{Field: modelsField, Value: "0 models", Err: errNoModels}
	}
	if err := agree(models); err != nil {
		return nil, err
	}
	g := &Grader{models: models}
	finder := rangeFinder{models: models}
	for j, r := range models[0].Ranges {
		mins := make([]resource.Quantity, len(models))
		for i, m := range models {
			k := j // usually, all models list their resources in the same order
			if m.Ranges[k].Name != r.Name {
				k = finder.find(i, r.Name)
			}
			mins[i] = m.Ranges[k].Min
		}
		g.names, g.mins = append(g.names, r.Name), append(g.mins, mins)
	}
	return g, nil
}

// Grade returns the index of the grade of a node with these free amounts, and true.
// The grade is the last model whose minima the node meets for every resource. An
// amount at the border of two models belongs to the upper one; maxima are ignored;
// a resource missing in free counts as 0. A node that meets no model's minima, such
// as one with a negative amount, has no grade: the result is -1, false.
//
// Cost: O(k log m) comparisons for k resources and m models.
func (g *Grader) Grade(free resource.List) (index int, ok bool) {
	return g.grade(func(n resource.Name) resource.Quantity { return free[n] })
}

func (g *Grader) grade(free func(resource.Name) resource.Quantity) (int, bool) {
	index := len(g.models) - 1
	for n, name := range g.names {
		amount := free(name)
		index = min(index, lastAtMost(g.mins[n], amount))
	}
	return index, index >= 0
}

// lastAtMost returns the index of the last element of ascending that is at most x,
// or -1 if there is none.
func lastAtMost(ascending []resource.Quantity, x resource.Quantity) int {
	low, high := 0, len(ascending)
	for low < high {
		mid := int(uint(low+high) / 2)
		if ascending[mid].Cmp(x) <= 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low - 1
}

// Count returns the number of nodes in each grade, in the order of the models, as a
// cluster's status has them. nodes holds the free resources of each node. Nodes
// without a grade are not counted.
func (g *Grader) Count(nodes []resource.List) []api.AllocatableModeling {
	counts := g.zero()
	for _, free := range nodes {
		if i, ok := g.Grade(free); ok {
			counts[i].Count++
		}
	}
	return counts
}

func (g *Grader) zero() []api.AllocatableModeling {
	counts := make([]api.AllocatableModeling, len(g.models))
	for i := range counts {
		counts[i].Grade = g.models[i].Grade
	}
	return counts
}
