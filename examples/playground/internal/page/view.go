package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A View is all that the page shows beside the text areas.
type View struct {
	Presets []Preset     `json:"presets"`
	Samples []SampleInfo `json:"samples"`
	Preset  string       `json:"preset"`
	Sample  string       `json:"sample"` // "" if the texts are no sample's
	Seed    uint64       `json:"seed"`
	// Problems are those of the texts. Stale is set if the rest is of earlier texts.
	Problems []Problem `json:"problems"`
	Stale    bool      `json:"stale,omitempty"`
	Warnings []string  `json:"warnings"`

	Nodes    int       `json:"nodes"`
	Running  int       `json:"running"`  // pods on nodes
	Waiting  int       `json:"waiting"`  // pods in the queue
	Unplaced int       `json:"unplaced"` // pods that were tried and fit nowhere
	LeftOut  []LeftOut `json:"leftOut"`
	// Queue are the first pods that wait, in order.
	Queue []string `json:"queue"`

	// Sentence says what comes of the pod that is looked at.
	Sentence string    `json:"sentence"`
	Decision *Decision `json:"decision,omitempty"`
	Scorers  []Scorer  `json:"scorers"`
	// Rows are the rows of the table from number Row on; Found is how many there are.
	Rows  []*Row `json:"rows"`
	Row   int    `json:"row"`
	Found int    `json:"found"`
	Find  string `json:"find,omitempty"`

	Elsewhere *Elsewhere `json:"elsewhere,omitempty"`
	Panel     *NodePanel `json:"panel,omitempty"`
	// History are the last things that were done, the latest first; Steps is how many
	// there are.
	History []Event `json:"history"`
	Steps   int     `json:"steps"`
}

// SampleInfo names a sample.
type SampleInfo struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

// A Scorer is a plugin with its slider.
type Scorer struct {
	Plugin string `json:"plugin"`
	Weight int64  `json:"weight"`
	Own    int64  `json:"own"` // the profile's
	Max    int64  `json:"max"` // of the slider
}

// An Event is something that was done.
type Event struct {
	Text string `json:"text"`
	Pod  string `json:"pod,omitempty"`  // may be evicted
	Node string `json:"node,omitempty"` // may be looked at
	Bad  bool   `json:"bad,omitempty"`
}

// Bounds of what a view lists.
const (
	pageRows   = 25
	maxQueue   = 200
	maxHistory = 100
	maxLeftOut = 50
)

// view makes the view. Problems that only show now go into the reply.
func (p *Page) view(reply *Reply) *View {
	v := &View{
		Presets: presets, Preset: p.state.Preset, Seed: p.state.Seed, Problems: append([]Problem{}, p.problems...),
		Warnings: []string{}, LeftOut: []LeftOut{}, Queue: []string{}, Scorers: []Scorer{}, Rows: []*Row{}, History: []Event{},
		Stale: len(p.problems) > 0 && p.cluster != nil,
	}
	for _, s := range samples {
		v.Samples = append(v.Samples, SampleInfo{s.Name, s.Title})
	}
	if s, ok := sampleTexts(p.state.Sample); ok && s.Texts == p.state.Texts {
		v.Sample = s.Name
	}
	fail := func(area string, err error) {
		if err != nil {
			reply.Problems = append(reply.Problems, Problem{Area: area, Text: err.Error()})
		}
	}
	w, err := p.ready()
	if err != nil {
		if p.cluster != nil {
			fail("page", err)
		}
		return v
	}
	v.cluster(w)
	lane := w.lanes[w.cluster.profiles[0].Name]
	k := p.decision(w)
	if k != nil {
		lane = k.lane
		d, rows := k.weigh(lane.weights)
		v.Decision, v.Sentence = d, sentence(d)
		p.cut(v, rows)
		for _, r := range v.Rows {
			k.fill(r, lane.weights)
		}
	} else {
		v.Sentence = "No pod waits. Evict one, drain a node, or go back."
		p.cut(v, w.idleRows())
	}
	own := lane.plain.Weights()
	for i, s := range lane.profile.Score {
		v.Scorers = append(v.Scorers, Scorer{s.Plugin.Name(), lane.weights[i], own[i], max(10, 2*own[i])})
	}
	if w.reweighed() {
		w.keepClasses()
		v.Elsewhere, err = elsewhere(w.kept, w.keptAll)
		fail("weights", err)
	}
	if n := w.snapshot.Node(p.state.Node); n != nil {
		v.Panel, err = w.panel(n, p.subject(w))
		fail("page", err)
	} else {
		p.state.Node = ""
	}
	return v
}

// idleRows lists the nodes if there is nothing to decide.
func (w *world) idleRows() (rows []*Row) {
	for _, n := range w.snapshot.All() {
		rows = append(rows, &Row{Node: n.Name(), Reasons: []string{count(len(n.Pods), "pod")}})
	}
	return rows
}

// reweighed reports whether any profile has other weights than its own.
func (w *world) reweighed() bool {
	for _, l := range w.lanes {
		if !slices.Equal(l.weights, l.plain.Weights()) {
			return true
		}
	}
	return false
}

func (v *View) cluster(w *world) {
	c := w.cluster
	v.Warnings = append(v.Warnings, c.warnings...)
	v.LeftOut = append(v.LeftOut, c.leftOut[:min(len(c.leftOut), maxLeftOut)]...)
	v.Nodes, v.Waiting, v.Unplaced = w.snapshot.Len(), len(w.queue), len(w.unplaced)
	for _, n := range w.snapshot.All() {
		v.Running += len(n.Pods)
	}
	for _, pod := range w.queue[:min(len(w.queue), maxQueue)] {
		v.Queue = append(v.Queue, pod.Pod.Key())
	}
	v.Steps = len(w.acts)
	for i := len(w.acts) - 1; i >= max(0, len(w.acts)-maxHistory); i-- {
		v.History = append(v.History, w.acts[i].event())
	}
}

func (a *act) event() Event {
	switch a.do {
	case stepPlace:
		if a.node == "" {
			return Event{Text: a.pod + " fits nowhere: " + a.message, Bad: true}
		}
		return Event{Text: a.pod + " went to " + a.node, Pod: a.pod, Node: a.node}
	case stepWeigh:
		return Event{Text: "weights of " + a.lane + ": " + weightsText(a.weights)}
	case stepAdd:
		return Event{Text: "node " + a.node + " was added", Node: a.node}
	case stepEvict:
		return Event{Text: a.pod + " was evicted from " + a.node, Node: a.node}
	}
	return Event{Text: "node " + a.node + " was cordoned", Node: a.node}
}

// cut keeps the rows of the table that are shown.
func (p *Page) cut(v *View, rows []*Row) {
	if p.find != "" {
		rows = slices.DeleteFunc(rows, func(r *Row) bool { return !strings.Contains(r.Node, p.find) })
	}
	v.Found, v.Find = len(rows), p.find
	if p.row >= len(rows) {
		p.row = 0
	}
	v.Row = p.row
	v.Rows = append(v.Rows, rows[p.row:min(len(rows), p.row+pageRows)]...)
}

// sentence says what comes of a pod.
func sentence(d *Decision) string {
	switch {
	case d.Error != "":
		return fmt.Sprintf("%s goes nowhere: %s", d.Pod, d.Error)
	case d.Unscored:
		return fmt.Sprintf("%s goes to %s, the only feasible node of %d. Nothing is scored.", d.Pod, d.Chosen, d.Evaluated)
	case len(d.Tied) > 1:
		return fmt.Sprintf("%s goes to %s with %d points: one of %d best nodes, chosen by the tie rule %s. %d of %d nodes are feasible.",
			d.Pod, d.Chosen, d.Score, len(d.Tied), d.TieRule, d.Feasible, d.Evaluated)
	}
	return fmt.Sprintf("%s goes to %s with %d points, the best of %s among %d.", d.Pod, d.Chosen, d.Score, count(d.Feasible, "feasible node"), d.Evaluated)
}

// count writes a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
