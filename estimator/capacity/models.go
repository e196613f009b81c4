package capacity

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// podsPerNode is the number of pods that an empty node admits under Karmada118.
const podsPerNode = 110

var (
	errShortCounts = errors.New("fewer counts than resource models")
	errGradeTwice  = errors.New("the grade is in the list twice")
)

// countedOnly returns the wanted resources that schedulers account for.
func countedOnly(wanted []demand) []demand {
	return slices.DeleteFunc(slices.Clone(wanted), func(d demand) bool { return !counted(d.name) })
}

// A modelCount estimates from the numbers of nodes by grade.
type modelCount struct {
	rule    Rules
	models  []api.ResourceModel
	finder  rangeFinder // of models
	counts  []api.AllocatableModeling
	byGrade map[uint]int64 // their sums, once they are needed
	wanted  []demand
	report  *[]GradeReport // nil: no report wanted

	assumed []Assumed // only Karmada118 places them
}

// uncovered returns the reason why the models cannot answer, or "" if they can. If
// the models do not agree with each other, it returns an error.
func (m *modelCount) uncovered() (string, error) {
	if len(m.models) == 0 {
		return "the cluster has no resource models", nil
	}
	if err := agree(m.models); err != nil {
		return "", err
	}
	m.finder = rangeFinder{models: m.models}
	for _, d := range m.wanted {
		if m.finder.find(0, d.name) < 0 {
			return "resource model is inapplicable as missing resource: " + string(d.name), nil
		}
	}
	return "", nil
}

func (m *modelCount) replicas() (int64, error) {
	if err := m.check(); err != nil {
		return 0, err
	}
	if m.rule == Karmada118 && len(m.assumed) > 0 {
		return m.besideAssumed(), nil
	}
	start := m.start()
	var total int64
	for i := range m.models {
		nodes, perNode, limit := m.nodes(i), int64(0), resource.Name("")
		if i >= start {
			perNode, limit = m.perNode(i)
		}
		n := resource.SatMul(nodes, perNode)
		total = resource.SatAdd(total, n)
		if m.report != nil {
			*m.report = append(*m.report, GradeReport{
				Grade: m.models[i].Grade, Nodes: nodes, PerNode: min(perNode, MaxReplicas), Replicas: min(n, MaxReplicas),
				Limit: limit, Unfit: perNode == 0,
			})
		}
	}
	return total, nil
}

// besideAssumed returns, for Karmada118, how many replicas fit beside the assumed
// workloads.
func (m *modelCount) besideAssumed() int64 {
	p := m.packer(m.assumed)
	one := Component{Replicas: 1, Request: resource.List{}}
	for _, d := range m.wanted {
		one.Request[d.name] = d.quantity
	}
	needs := p.kindsOf([]Component{one})[0].needs
	reports := make([]GradeReport, len(m.models))
	for i := range p.rows {
		row := &p.rows[i]
		r := &reports[row.model]
		r.PerNode = fits(row.empty, needs)
		r.Nodes, r.Replicas = m.nodes(row.model), resource.SatMul(row.left, r.PerNode)
		r.Assumed = min(max(0, p.opened-row.before), r.Nodes)
		for at := range row.nodes.count {
			r.Replicas = resource.SatAdd(r.Replicas, fits(row.nodes.room(at), needs))
		}
	}
	var total int64
	for i := range reports {
		r := &reports[i]
		total = resource.SatAdd(total, r.Replicas)
		r.Grade, r.Unfit, r.Replicas = m.models[i].Grade, r.PerNode == 0, min(r.Replicas, MaxReplicas)
		_, r.Limit = m.perNode(i)
	}
	if m.report != nil {
		*m.report = reports
	}
	return total
}

// check returns an error if counts and models do not match.
func (m *modelCount) check() error {
	if m.rule != Karmada118 {
		if len(m.counts) < len(m.models) {
			return shortCounts(m.counts, m.models)
		}
		return nil
	}
	seen := make(map[uint]bool, len(m.models))
	for i := range m.models {
		grade := m.models[i].Grade
		if seen[grade] {
			return invalidModel(i, "grade", fmt.Sprint(grade), errGradeTwice)
		}
		seen[grade] = true
	}
	return nil
}

func shortCounts(counts []api.AllocatableModeling, models []api.ResourceModel) error {
	return &api.InvalidError{
		Field: summaryField + ".allocatableModelings", Value: fmt.Sprintf("%d counts for %d models", len(counts), len(models)),
		Err: errShortCounts,
	}
}

// start returns the index of the first model to count.
func (m *modelCount) start() int {
	start := 0
	for _, d := range m.wanted {
		switch m.rule {
		case Karmada111:
			start = max(start, m.firstAbove(d, 1)-1)
		case Karmada113:
			start = max(start, m.firstAbove(d, 0))
		}
	}
	return start
}

// firstAbove returns the index of the first model whose minimum compares with the
// request as at least cmp (0: not less, 1: greater), or the number of models if
// there is none.
func (m *modelCount) firstAbove(d demand, cmp int) int {
	for i := range m.models {
		if m.min(i, d.name).Cmp(d.quantity) >= cmp {
			return i
		}
	}
	return len(m.models)
}

// atLeast returns the minimum of a resource in model i, or 0 if no model has the
// resource.
func (m *modelCount) atLeast(i int, name resource.Name) resource.Quantity {
	if m.finder.find(i, name) < 0 {
		return resource.Quantity{}
	}
	return m.min(i, name)
}

func (m *modelCount) min(i int, name resource.Name) resource.Quantity {
	return m.models[i].Ranges[m.finder.find(i, name)].Min
}

// nodes returns the number of nodes of model i. Karmada118 matches counts by
// grade, the older rules by position.
func (m *modelCount) nodes(i int) int64 {
	if m.rule != Karmada118 {
		return int64(m.counts[i].Count)
	}
	if m.byGrade == nil {
		m.byGrade = make(map[uint]int64, len(m.counts))
		for _, c := range m.counts {
			m.byGrade[c.Grade] = resource.SatAdd(m.byGrade[c.Grade], int64(c.Count))
		}
	}
	return m.byGrade[m.models[i].Grade]
}

// perNode returns how many replicas a node of model i counts for, and the limiting
// resource.
func (m *modelCount) perNode(i int) (int64, resource.Name) {
	var n int64 = math.MaxInt64
	var limit resource.Name
	if m.rule == Karmada118 {
		n, limit = podsPerNode, resource.Pods
	}
	for _, d := range m.wanted {
		if fits := unitsOf(d.name, m.min(i, d.name)) / d.units; fits < n {
			n, limit = fits, d.name
		}
	}
	if n == 0 && m.rule == Karmada111 {
		n = 1
	}
	return n, limit
}
