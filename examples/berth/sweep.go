package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-sched/berth/examples/berth/internal/page"
	"github.com/berth-sched/berth/scheduling/whatif"
)

var sweepCommand = command{
	name: "sweep", args: "[TARGET]...",
	short: "where pods would go under other weights of the scorers",
	yes:   "no weighting sends a pod elsewhere",
	long: `Decides about each pod under every weighting: those that wait, or those of the targets,
each in the cluster as it is, without the others. Each -weight gives the values of one
scorer; all combinations are tried. Scorers without a -weight keep the profile's.

` + targetHelp,
	example: []string{"berth sweep -f cluster.yaml -weight NodeResourcesFit=0,1,2,5 -weight PodTopologySpread=1..4"},
	question: func(flags *flag.FlagSet) func(*session) (*answer, error) {
		var w wanted
		var weights list
		w.addFlags(flags)
		flags.Var(&weights, "weight", "the weights of a `scorer`: PLUGIN=1,2,5 or PLUGIN=0..9; may be repeated")
		return func(s *session) (*answer, error) { return sweep(s, &w, weights) }
	},
}

// maxWeightings bounds the combinations.
const maxWeightings = 100_000

// weightings returns all combinations of the weights.
func weightings(flags list) ([]whatif.Weights, error) {
	if len(flags) == 0 {
		return nil, errors.New("no weights; give -weight PLUGIN=1,2,5")
	}
	all := []whatif.Weights{{}}
	for _, text := range flags {
		name, values, found := strings.Cut(text, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("-weight: %q: want the name of a scorer and its weights, such as NodeResourcesFit=1,2,5 or NodeResourcesFit=0..9", text)
		}
		list, err := weightsOf(values)
		if err != nil {
			return nil, fmt.Errorf("-weight %s: %w", name, err)
		}
		if len(all)*len(list) > maxWeightings {
			return nil, fmt.Errorf("-weight: more than %d combinations", maxWeightings)
		}
		var next []whatif.Weights
		for _, was := range all {
			if _, twice := was[name]; twice {
				return nil, fmt.Errorf("-weight: %s is given twice", name)
			}
			for _, v := range list {
				w := maps.Clone(was)
				w[name] = v
				next = append(next, w)
			}
		}
		all = next
	}
	return all, nil
}

// weightsOf reads "1,2,5" and "0..9", up to maxWeightings of them.
func weightsOf(text string) (list []int64, err error) {
	given := map[int64]bool{}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "..")
		if !isRange {
			to = from
		}
		first, err := strconv.ParseInt(from, 10, 32)
		last, err2 := strconv.ParseInt(to, 10, 32)
		if err != nil || err2 != nil || first < 0 || last < first {
			return nil, fmt.Errorf("%q: want a number from 0, or a range such as 0..9", part)
		}
		if len(list)+int(last-first) >= maxWeightings {
			return nil, fmt.Errorf("%q: more than %d weights", part, maxWeightings)
		}
		for v := first; v <= last; v++ {
			if given[v] {
				return nil, fmt.Errorf("%d is given twice", v)
			}
			given[v] = true
			list = append(list, v)
		}
	}
	return list, nil
}

// checkScorers refuses names that no scorer of the profile has.
func (s *session) checkScorers(w whatif.Weights) error {
	profile, err := s.profile()
	if err != nil {
		return err
	}
	var names []string
	for _, x := range profile.Score {
		names = append(names, x.Plugin.Name())
	}
	for _, name := range slices.Sorted(maps.Keys(w)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("-weight: %q: the profile has no such scorer; want %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

func sweep(s *session, w *wanted, flags list) (*answer, error) {
	all, err := weightings(flags)
	if err != nil {
		return nil, err
	}
	plan, pods, err := s.planFor(w)
	if err != nil {
		return nil, err
	}
	if err := s.checkScorers(all[0]); err != nil {
		return nil, err
	}
	x, err := plan.Sweep(pods, all)
	if err != nil {
		return nil, err
	}
	moving, most := 0, 0
	t := page.Table{Head: []string{"weights", "pods that go elsewhere"}}
	bars := &page.Bars{Series: []page.Series{{Name: "pods that go elsewhere"}}}
	outcomes := slices.Clone(x.Outcomes)
	slices.SortStableFunc(outcomes, func(a, b whatif.SweepOutcome) int { return b.Differ - a.Differ })
	for _, o := range outcomes {
		if o.Differ > 0 {
			moving++
		}
		most = max(most, o.Differ)
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(o.Weights)) {
			parts = append(parts, fmt.Sprintf("%s=%d", name, o.Weights[name]))
		}
		t.Add(strings.Join(parts, " "), o.Differ)
		bars.Labels = append(bars.Labels, strings.Join(parts, " "))
		bars.Series[0].Values = append(bars.Series[0].Values, float64(o.Differ))
	}
	a := &answer{yes: moving == 0, data: x}
	a.text = fmt.Sprintf("%d of %d weightings send some of %d pods elsewhere, at most %d", moving, len(all), len(pods), most)
	a.add(page.Section{Title: "Weightings", Note: "Pods that go to another node than under the weights of the profile; most first.", Table: t, Figure: bars})
	return a, nil
}
