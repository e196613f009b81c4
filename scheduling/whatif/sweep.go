package whatif

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// Weights are weights of scorers by their names. A scorer that is not named keeps the
// profile's weight; 0 leaves its scores out.
type Weights map[string]int64

// A Sweep is where pods go under many weightings.
type Sweep struct {
	// Pods are the keys of the pods, "namespace/name", in the order given.
	Pods []string `json:"pods"`
	// Base is where the pods go under the profile's own weights.
	Base []string `json:"base"`
	// Outcomes holds one entry for each weighting, in the order given.
	Outcomes []SweepOutcome `json:"outcomes"`
}

// A SweepOutcome is what one weighting leads to.
type SweepOutcome struct {
	Weights Weights `json:"weights"`
	// Nodes are the chosen nodes, one for each pod; "" if it fits nowhere, or waits for its
	// scheduling gates to be removed.
	Nodes []string `json:"nodes"`
	// Differ counts the pods that go to another node than under the profile's weights.
	Differ int `json:"differ"`
}

// Sweep decides where each pod would go under each weighting. The pods do not see each
// other: each is decided about in the cluster as it is, as a scheduler with these
// weights would if it were asked about them in turn. Each pod is filtered and scored
// once; another weighting only weighs the kept scores anew.
//
// A weighting that names no scorer of the profile, or has a negative weight, or only
// zeros, is an [*api.InvalidError]; so is a profile with extenders.
func (p *Planner) Sweep(pods []*framework.PodInfo, weightings []Weights) (*Sweep, error) {
	if err := p.check(pods); err != nil {
		return nil, err
	}
	vectors, err := p.vectors(weightings)
	if err != nil {
		return nil, err
	}
	w := &Sweep{Pods: make([]string, len(pods)), Base: make([]string, len(pods)), Outcomes: make([]SweepOutcome, len(weightings))}
	for i := range weightings {
		w.Outcomes[i] = SweepOutcome{Weights: maps.Clone(weightings[i]), Nodes: make([]string, len(pods))}
	}
	err = p.try(func(s *framework.Snapshot) error {
		own := p.sched.Weights()
		for k, pod := range pods {
			w.Pods[k] = pod.Pod.Key()
			if p.gated(pod) != nil {
				continue
			}
			if err := p.makeClaims(s, pod); err != nil {
				return err
			}
			table, err := p.sched.ScoreTable(s, pod)
			if err != nil {
				if _, err = missed(pod, err); err != nil {
					return err
				}
				continue // it goes nowhere, under any weights
			}
			if w.Base[k], err = chosen(table, own); err != nil {
				return err
			}
			for i := range vectors {
				o := &w.Outcomes[i]
				if o.Nodes[k], err = chosen(table, vectors[i]); err != nil {
					return err
				}
				if o.Nodes[k] != w.Base[k] {
					o.Differ++
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// chosen returns the node that the weights choose, "" for none.
func chosen(t *scheduling.ScoreTable, weights []int64) (string, error) {
	d, err := t.Choose(weights)
	var fit *scheduling.FitError
	if errors.As(err, &fit) || errors.Is(err, scheduling.ErrNoNodes) {
		return "", nil
	}
	return d.Node, err
}

// vectors turns weightings into weights for each scorer of the profile.
func (p *Planner) vectors(weightings []Weights) ([][]int64, error) {
	places := map[string]int{}
	for i, w := range p.profile.Score {
		places[nameOf(w.Plugin)] = i
	}
	list := make([][]int64, len(weightings))
	for i, w := range weightings {
		list[i] = p.sched.Weights()
		for _, name := range slices.Sorted(maps.Keys(w)) {
			place, ok := places[name]
			if !ok {
				return nil, invalidWeight(i, name, w[name], "the profile has no scorer of this name")
			}
			if w[name] < 0 {
				return nil, invalidWeight(i, name, w[name], "must not be negative")
			}
			list[i][place] = w[name]
		}
		if !slices.ContainsFunc(list[i], func(w int64) bool { return w > 0 }) {
			return nil, &api.InvalidError{Object: fmt.Sprintf("weightings[%d]", i), Err: errors.New("all weights are 0")}
		}
	}
	return list, nil
}

func invalidWeight(i int, name string, weight int64, text string) error {
	return &api.InvalidError{Object: fmt.Sprintf("weightings[%d]", i), Field: name, Value: fmt.Sprint(weight), Err: errors.New(text)}
}

// WriteTable writes the sweep as text for people: a line for each weighting.
func (w *Sweep) WriteTable(out io.Writer) error {
	var t table
	t.line("%d pods under %d weightings", len(w.Pods), len(w.Outcomes))
	t.row("WEIGHTS", "PODS THAT GO ELSEWHERE")
	for _, o := range w.Outcomes {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(o.Weights)) {
			parts = append(parts, fmt.Sprintf("%s=%d", name, o.Weights[name]))
		}
		t.row(strings.Join(parts, " "), o.Differ)
	}
	return t.write(out)
}
