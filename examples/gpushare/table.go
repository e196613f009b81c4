package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/berth-sched/berth/examples/gpushare/openb"
)

// at is the column of the tables: as much has been asked for as there is.
const at = 100

// of returns the results of a policy.
func of(results []openb.Result, p openb.Policy) []openb.Result {
	return slices.DeleteFunc(slices.Clone(results), func(r openb.Result) bool { return r.Policy != p })
}

// allocation summarizes the part that is given out at a column.
func allocation(results []openb.Result, column int) openb.Summary {
	x := make([]float64, len(results))
	for i, r := range results {
		x[i] = r.Allocation[column]
	}
	return openb.Summarize(x)
}

// compared is a policy beside the published tables.
type compared struct {
	known            []openb.Result // the published runs, for the seeds that were run
	equal, different int
	first            string // the first difference
}

func compare(results []openb.Result, published openb.Tables) (c compared) {
	for _, r := range results {
		want := published[openb.Key{Policy: r.Policy, Seed: r.Seed}]
		if want == nil {
			continue
		}
		c.known = append(c.known, openb.Result{Config: r.Config, Series: want})
		equal, different, first := r.Compare(want)
		if c.equal, c.different = c.equal+equal, c.different+different; c.first == "" && first != "" {
			c.first = fmt.Sprintf("%s, seed %d: %s", r.Policy, r.Seed, first)
		}
	}
	return c
}

// writeTable writes a line for each policy. It is an error if a figure differs that chance
// has no part in.
func writeTable(w io.Writer, results []openb.Result, published openb.Tables) error {
	fmt.Fprintf(w, "\nGPUs given out, in percent, when %d %% of them have been asked for: mean and deviation\n\n", at)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	header := "POLICY\tHERE\t\t"
	if published != nil {
		header += "PUBLISHED\t\tEQUAL FIGURES"
	}
	fmt.Fprintln(t, strings.TrimRight(header, "\t"))
	equal, all, wrong := 0, 0, ""
	for _, p := range openb.Policies() {
		runs := of(results, p)
		ours := allocation(runs, at)
		fmt.Fprintf(t, "%s\t%.3f\t± %.3f", p, ours.Mean, ours.Deviation)
		c := compare(runs, published)
		switch {
		case len(c.known) == 0:
		case p.IsRandom():
			theirs := allocation(c.known, at)
			fmt.Fprintf(t, "\t%.3f\t± %.3f\tdrawn%s", theirs.Mean, theirs.Deviation, compareMeans(known(runs, published), c.known))
		default:
			theirs := allocation(c.known, at)
			fmt.Fprintf(t, "\t%.3f\t± %.3f\t%d of %d", theirs.Mean, theirs.Deviation, c.equal, c.equal+c.different)
			equal, all = equal+c.equal, all+c.equal+c.different
			if wrong == "" {
				wrong = c.first
			}
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if all > 0 {
		fmt.Fprintf(w, "\n%d of %d published figures are equal: 3 tables of %d columns for each run\n", equal, all, openb.Columns)
	}
	if keys := missing(results, published); published != nil && len(keys) > 0 {
		fmt.Fprintf(w, "not compared, because the tables do not have them: %s\n", listed(keys))
	}
	if wrong != "" {
		return errors.New("published figures differ: " + wrong)
	}
	return nil
}

// writeTies writes a table of policies and tie rules.
func writeTies(w io.Writer, trace *openb.Trace, o options, stderr io.Writer) error {
	policies := slices.DeleteFunc(openb.Policies(), openb.Policy.IsRandom)
	var configs []openb.Config
	for _, tie := range openb.Ties() {
		configs = append(configs, o.configs(policies, tie)...)
	}
	results, err := runAll(trace, configs, stderr)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nGPUs given out, in percent, when %d %% of them have been asked for, by the rule for equal scores\n\n", at)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "POLICY")
	for _, tie := range openb.Ties() {
		fmt.Fprintf(t, "\t%s", tie)
	}
	fmt.Fprintln(t)
	for _, p := range policies {
		fmt.Fprint(t, p)
		for _, tie := range openb.Ties() {
			runs := slices.DeleteFunc(of(results, p), func(r openb.Result) bool { return r.Tie != tie })
			s := allocation(runs, at)
			fmt.Fprintf(t, "\t%.2f ± %.2f", s.Mean, s.Deviation)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// known returns the runs that the tables have.
func known(results []openb.Result, published openb.Tables) []openb.Result {
	return slices.DeleteFunc(slices.Clone(results), func(r openb.Result) bool {
		return published[openb.Key{Policy: r.Policy, Seed: r.Seed}] == nil
	})
}

// A meansCheck says how far the means of runs with chance are from the published ones, for
// all columns of all tables, in standard errors of their difference.
type meansCheck struct {
	near, all int // within two, and compared
	farthest  float64
}

// fewestRuns is how many runs must be known before their deviation says something.
const fewestRuns = 5

// compareMeans compares the means of as many runs here and published, if there are enough.
func compareMeans(here, published []openb.Result) (m meansCheck) {
	if len(here) < fewestRuns {
		return m
	}
	for _, table := range []func(openb.Result) *[openb.Columns]float64{
		func(r openb.Result) *[openb.Columns]float64 { return &r.Allocation },
		func(r openb.Result) *[openb.Columns]float64 { return &r.Fragmentation },
		func(r openb.Result) *[openb.Columns]float64 { return &r.Ratio },
	} {
		for c := range openb.Columns {
			column := func(results []openb.Result) openb.Summary {
				x := make([]float64, len(results))
				for i, r := range results {
					x[i] = table(r)[c]
				}
				return openb.Summarize(x)
			}
			d := distance(column(here), column(published), len(here))
			m.all++
			if d <= 2 {
				m.near++
			}
			m.farthest = max(m.farthest, d)
		}
	}
	return m
}

// String describes the check for the table, "" if nothing was compared.
func (m meansCheck) String() string {
	if m.all == 0 {
		return ""
	}
	return fmt.Sprintf(": %d of %d means within two standard errors, the farthest %.1f", m.near, m.all, m.farthest)
}

// distance is how many standard errors the means of so many runs are apart. Means of runs
// that are all equal have no error: they are equal, or infinitely far apart.
func distance(a, b openb.Summary, runs int) float64 {
	if a.Mean == b.Mean {
		return 0
	}
	return math.Abs(a.Mean-b.Mean) / math.Sqrt((a.Deviation*a.Deviation+b.Deviation*b.Deviation)/float64(runs))
}
