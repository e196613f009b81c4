package simulate

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/berth-sched/berth/internal/errtext"
)

// WriteTable writes the result as text for people: waits, peaks, the nodes with most
// bindings, and why pods wait. Texts with characters that are not seen are quoted. limit
// bounds the length of each list; 0 means all.
func (r *Result) WriteTable(w io.Writer, limit int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s simulated: %d pods, %d bound, %d evictions, %d wait at the end\n", duration(r.Simulated), len(r.Pods), r.Waits[0].Pods, r.Evictions, r.Waiting)
	var peaks []string
	for _, p := range r.Peaks {
		peaks = append(peaks, fmt.Sprintf("%s %.1f%% after %s", errtext.Visible(string(p.Resource)), float64(100*p.Utilization), duration(p.At)))
	}
	fmt.Fprintf(&b, "peaks: %s\n", strings.Join(peaks, ", "))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nPRIORITY\tPODS\tMEAN WAIT\tP50\tP95\tP99\tLONGEST")
	for _, x := range r.Waits {
		priority := "all"
		if x.Priority != nil {
			priority = fmt.Sprint(*x.Priority)
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s %s\n", priority, x.Pods, duration(x.Mean), duration(x.P50), duration(x.P95), duration(x.P99), duration(x.Longest), errtext.Visible(x.Pod))
	}
	nodes, reasons := map[string][]string{}, map[string][]string{}
	for i := range r.Pods {
		switch p := &r.Pods[i]; {
		case p.Node != "":
			nodes[p.Node] = append(nodes[p.Node], p.group())
		case p.Ended == nil && !p.Running:
			reasons[p.Message] = append(reasons[p.Message], p.group())
		}
	}
	list(t, "\nNODE\tPODS\tOF", nodes, limit, func(node string, pods []string) string {
		return fmt.Sprintf("%s\t%d\t%s", errtext.Visible(node), len(pods), tally(pods))
	})
	// The reason is last, because it is long.
	list(t, "\nPODS\tTHAT WAIT\tWHY", reasons, limit, func(why string, pods []string) string {
		return fmt.Sprintf("%d\t%s\t%s", len(pods), tally(pods), errtext.Visible(why))
	})
	t.Flush() // a strings.Builder does not fail
	_, err := io.WriteString(w, b.String())
	return err
}

// group is the pod's workload, or the pod itself.
func (p *PodHistory) group() string {
	namespace, _, _ := strings.Cut(p.Pod, "/")
	if _, owner, found := strings.Cut(p.Owner, " "); found {
		return namespace + "/" + owner
	}
	return p.Pod
}

// list writes a row for each name with its pods, those with most pods first.
func list(w io.Writer, heading string, byName map[string][]string, limit int, row func(name string, pods []string) string) {
	if len(byName) == 0 {
		return
	}
	fmt.Fprintln(w, heading)
	names := mostFirst(byName, func(pods []string) int { return len(pods) })
	for i, name := range names {
		if limit > 0 && i == limit {
			fmt.Fprintf(w, "... and %d more\n", len(names)-limit)
			break
		}
		fmt.Fprintln(w, row(name, byName[name]))
	}
}

// mostFirst sorts the names by a number, the largest first, then by name.
func mostFirst[T any](byName map[string]T, number func(T) int) []string {
	return slices.SortedFunc(maps.Keys(byName), func(a, b string) int {
		return cmp.Or(cmp.Compare(number(byName[b]), number(byName[a])), cmp.Compare(a, b))
	})
}

// tally counts equal names, and lists the four most frequent ones.
func tally(names []string) string {
	counts := map[string]int{}
	for _, name := range names {
		counts[name]++
	}
	var parts []string
	for i, name := range mostFirst(counts, func(n int) int { return n }) {
		if i == 4 {
			parts = append(parts, fmt.Sprintf("and %d more", len(counts)-4))
			break
		}
		text := errtext.Visible(name)
		if counts[name] > 1 {
			text += fmt.Sprintf(" x%d", counts[name])
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// duration writes seconds for people.
func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond).String()
}
