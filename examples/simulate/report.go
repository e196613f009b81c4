package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/berth-sched/berth/examples/internal/display"
	"github.com/berth-sched/berth/examples/internal/input"
	"github.com/berth-sched/berth/framework"
)

// A report holds the outcome of a run. Its JSON form depends only on the input and
// the seed.
type report struct {
	Placements    []placement `json:"placements"`    // in the order of the decisions
	Unschedulable []rejection `json:"unschedulable"` // likewise
	Seed          uint64      `json:"seed"`
	Profile       string      `json:"profile"`
	Tie           string      `json:"tie"`
	Nodes         int         `json:"nodes"`
	Running       int         `json:"running"`             // pods that had a node before
	Preempted     int         `json:"preempted,omitempty"` // how often a pod had to leave
	Clock         *timing     `json:"clock,omitempty"`     // if time passed

	title, ignored string
	elapsed        time.Duration
	groups         map[string]string // by pod: its workload, or the pod itself
}

// A placement of a run with a clock has times, in seconds.
type placement struct {
	Pod    string   `json:"pod"`
	Node   string   `json:"node"`
	At     *float64 `json:"at,omitempty"` // when the pod was bound
	Waited *float64 `json:"waited,omitempty"`
}

type rejection struct {
	Pod     string `json:"pod"`
	Message string `json:"message"`
}

// limit bounds the length of each list in the table.
const limit = 20

func newReport(c *input.Cluster, snap *framework.Snapshot, pending []*framework.PodInfo, rules *rules) *report {
	r := &report{
		Placements: []placement{}, Unschedulable: []rejection{}, Seed: rules.seed, Profile: rules.title, Tie: rules.profiles[0].TieRule.String(), Nodes: snap.Len(),
		title: c.Title, ignored: c.Ignored(), groups: make(map[string]string, len(pending)),
	}
	for _, n := range snap.All() {
		r.Running += len(n.Pods)
	}
	for _, pod := range pending {
		r.groups[pod.Pod.Key()] = pod.Pod.Key()
		if owner := pod.Pod.ControllerRef(); owner != nil {
			r.groups[pod.Pod.Key()] = pod.Pod.Namespace + "/" + owner.Name
		}
	}
	return r
}

func (r *report) reject(pod *framework.PodInfo, message string) {
	r.Unschedulable = append(r.Unschedulable, rejection{pod.Pod.Key(), message})
}

// writeJSON writes everything on one line.
func (r *report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// writeTable writes the report for people.
func (r *report) writeTable(w io.Writer, snap *framework.Snapshot) error {
	var b strings.Builder
	total := len(r.Placements) + len(r.Unschedulable)
	fmt.Fprintf(&b, "cluster  %s: nodes %d, pods running %d, pods pending %d\n", r.title, r.Nodes, r.Running, total)
	if r.ignored != "" {
		fmt.Fprintf(&b, "ignored  %s\n", r.ignored)
	}
	fmt.Fprintf(&b, "rules    %s, ties %s, seed %d\n", r.Profile, r.Tie, r.Seed)
	if total > 0 {
		fmt.Fprintf(&b, "placed   %d of %d pods in %v", len(r.Placements), total, r.elapsed.Round(time.Microsecond))
		if len(r.Placements) > 0 {
			fmt.Fprintf(&b, ", %.0f pods per second", float64(total)/max(r.elapsed.Seconds(), 1e-9))
		}
		b.WriteByte('\n')
	}
	if r.Preempted > 0 {
		fmt.Fprintf(&b, "evicted  %d times a pod had to leave for one of higher priority\n", r.Preempted)
	}
	if r.Clock != nil {
		r.Clock.write(&b)
	}
	b.WriteByte('\n')

	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	r.writeNodes(t)
	r.writeRejections(t)
	if r.Clock != nil {
		fmt.Fprintln(t, "When most was in use:")
	}
	t.Flush() // a strings.Builder does not fail
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return display.Utilization(w, snap, limit)
}

// writeNodes lists the nodes that got pods, the ones with most first.
func (r *report) writeNodes(w io.Writer) {
	byNode := map[string][]string{}
	for _, p := range r.Placements {
		byNode[p.Node] = append(byNode[p.Node], r.groups[p.Pod])
	}
	names := slices.SortedFunc(maps.Keys(byNode), func(x, y string) int {
		return cmp.Or(cmp.Compare(len(byNode[y]), len(byNode[x])), cmp.Compare(x, y))
	})
	if len(names) == 0 {
		return
	}
	fmt.Fprintln(w, "NODE\tPLACED\tPODS")
	for _, name := range names[:min(len(names), limit)] {
		fmt.Fprintf(w, "%s\t%d\t%s\n", name, len(byNode[name]), tally(byNode[name]))
	}
	if len(names) > limit {
		fmt.Fprintf(w, "... and %d more nodes\n", len(names)-limit)
	}
	fmt.Fprintln(w)
}

// writeRejections lists the reasons why pods fit nowhere, in the order in which they
// came up.
func (r *report) writeRejections(w io.Writer) {
	var messages []string
	byMessage := map[string][]string{}
	for _, p := range r.Unschedulable {
		if byMessage[p.Message] == nil {
			messages = append(messages, p.Message)
		}
		byMessage[p.Message] = append(byMessage[p.Message], r.groups[p.Pod])
	}
	if len(messages) == 0 {
		return
	}
	fmt.Fprintln(w, "UNPLACED\tPODS\tREASON")
	rest := len(r.Unschedulable)
	for _, m := range messages[:min(len(messages), limit)] {
		fmt.Fprintf(w, "%d\t%s\t%s\n", len(byMessage[m]), tally(byMessage[m]), m)
		rest -= len(byMessage[m])
	}
	if rest > 0 {
		fmt.Fprintf(w, "... and %d more pods, for %d other reasons\n", rest, len(messages)-limit)
	}
	fmt.Fprintln(w)
}

// tally counts equal names, and lists the most frequent ones.
func tally(names []string) string {
	counts := map[string]int{}
	for _, n := range names {
		counts[n]++
	}
	names = slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		return cmp.Or(cmp.Compare(counts[y], counts[x]), cmp.Compare(x, y))
	})
	const most = 4
	var b strings.Builder
	for i, n := range names {
		switch {
		case i == most:
			fmt.Fprintf(&b, ", and %d more", len(names)-most)
			return b.String()
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(n)
		if counts[n] > 1 {
			fmt.Fprintf(&b, " x%d", counts[n])
		}
	}
	return b.String()
}
