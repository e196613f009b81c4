package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/berth-sched/berth/examples/berth/internal/page"
	"github.com/berth-sched/berth/examples/internal/input"
	"github.com/berth-sched/berth/examples/internal/manifest"
)

// An answer is what a question comes to.
type answer struct {
	yes bool
	// data is the JSON form.
	data any
	// text says it in a line; sections show it.
	text     string
	sections []page.Section
}

// add adds a section, unless it has no rows.
func (a *answer) add(s page.Section) {
	if !s.Table.Empty() {
		a.sections = append(a.sections, s)
	}
}

// An Output is what -o json writes.
type Output struct {
	// Command is the question, such as "place".
	Command string `json:"command"`
	// Yes is set if the exit status is 0.
	Yes bool `json:"yes"`
	// Cluster says what the answer is about; only questions about a cluster have it.
	Cluster *ClusterFacts `json:"cluster,omitempty"`
	// Rules say how pods were placed.
	Rules *RulesFacts `json:"rules,omitempty"`
	// Answer is the answer; its type depends on the command. It is null if there is none.
	Answer any `json:"answer"`
	// Faults say why there is no answer, or why a configuration is refused.
	Faults []Fault `json:"faults,omitempty"`
}

// A Fault is what is wrong with the input or the flags.
type Fault struct {
	// File and Line say where; lines count from 1.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Text says what, with the object, the field and the value.
	Text string `json:"text"`
}

// faultsOf takes an error apart.
func faultsOf(err error) (list []Fault) {
	var refused *input.ConfigError
	if errors.As(err, &refused) {
		for _, p := range refused.Err.Problems {
			list = append(list, Fault{refused.File, p.Line, p.Text})
		}
		return list
	}
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		for _, x := range e.Unwrap() {
			list = append(list, faultsOf(x)...)
		}
		return list
	case *manifest.FaultError:
		return []Fault{{e.File, e.Line, e.Err.Error()}}
	}
	return []Fault{{Text: err.Error()}}
}

// ClusterFacts describe the cluster that was read.
type ClusterFacts struct {
	// Source names the files, "standard input", or "sample".
	Source string `json:"source"`
	// Nodes counts the nodes, Running the pods on them, Pending those that wait.
	Nodes   int `json:"nodes"`
	Running int `json:"running"`
	Pending int `json:"pending"`
	// Ignored counts objects of kinds that have no part in scheduling, by kind.
	Ignored map[string]int `json:"ignored,omitempty"`
}

// RulesFacts describe the rules.
type RulesFacts struct {
	// Title names the release and the file.
	Title string `json:"title"`
	// Profile is the name of the profile, TieRule how ties are broken.
	Profile string `json:"profile"`
	TieRule string `json:"tieRule"`
	// Seed is the seed of random choices.
	Seed uint64 `json:"seed"`
}

func (s *session) clusterFacts() *ClusterFacts {
	if s.cluster == nil || s.snapshot == nil {
		return nil
	}
	f := &ClusterFacts{Source: s.cluster.Title, Nodes: s.snapshot.Len(), Pending: len(s.pending), Ignored: s.cluster.Objects.Skipped}
	for _, n := range s.snapshot.All() {
		f.Running += len(n.Pods)
	}
	return f
}

// write writes the answer in the form that was asked for.
func (s *session) write(w io.Writer, c *command, a *answer) error {
	out := Output{Command: c.name, Yes: a.yes, Cluster: s.clusterFacts(), Answer: a.data}
	p := page.Page{Title: s.name + " " + c.name, Answer: a.text, Yes: a.yes, Sections: a.sections}
	if f := out.Cluster; f != nil {
		p.Facts = append(p.Facts, page.Fact{Name: "cluster", Text: fmt.Sprintf("%s: %d nodes, %d pods run, %d wait", f.Source, f.Nodes, f.Running, f.Pending)})
		if ignored := s.cluster.Ignored(); ignored != "" {
			p.Facts = append(p.Facts, page.Fact{Name: "ignored", Text: ignored})
		}
	}
	if s.rules != nil {
		profile, err := s.profile()
		if err != nil {
			return err
		}
		out.Rules = &RulesFacts{Title: s.rules.Title, Profile: profile.Name, TieRule: profile.TieRule.String(), Seed: s.seed}
		p.Facts = append(p.Facts, page.Fact{Name: "rules", Text: fmt.Sprintf("%s, seed %d", s.title(&profile), s.seed)})
	}
	switch s.output {
	case "json":
		return out.write(w)
	case "html":
		return p.WriteHTML(w, s.limit)
	}
	return p.WriteText(w, s.limit)
}

// write writes the output as JSON.
func (o *Output) write(w io.Writer) error { return writeJSON(w, o) }
