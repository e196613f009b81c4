package scheduling

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// WriteTable writes the explanation as text for people: feasible nodes by rank with
// each plugin's scores as raw>normalized*weight, then the others with their reasons.
// limit bounds the number of nodes in each of the two lists; 0 means all.
func (e *Explanation) WriteTable(w io.Writer, limit int) error {
	var b strings.Builder
	switch {
	case e.Chosen == "":
		fmt.Fprintf(&b, "pod %s goes nowhere: %s\n", e.Pod, e.Error)
	case e.Unscored:
		fmt.Fprintf(&b, "pod %s goes to %s, the only feasible node of %d\n", e.Pod, e.Chosen, e.Evaluated)
	case len(e.TiedNodes) > 1:
		fmt.Fprintf(&b, "pod %s goes to %s, one of %d best nodes (tie rule %s); %d of %d nodes are feasible\n",
			e.Pod, e.Chosen, len(e.TiedNodes), e.TieRule, e.Feasible, e.Evaluated)
	default:
		fmt.Fprintf(&b, "pod %s goes to %s, the best of %d feasible nodes among %d\n", e.Pod, e.Chosen, e.Feasible, e.Evaluated)
	}
	if len(e.Gates) > 0 {
		fmt.Fprintf(&b, "it waits for its scheduling gates to be removed: %s\n", strings.Join(e.Gates, ", "))
	}
	var scored, others []NodeExplanation
	for _, n := range e.Nodes {
		if n.Node == e.Chosen && n.Reserved != "" {
			fmt.Fprintf(&b, "it gets %s\n", n.Reserved)
		}
		if n.Rank > 0 {
			scored = append(scored, n)
		} else {
			others = append(others, n)
		}
	}
	slices.SortStableFunc(scored, func(x, y NodeExplanation) int {
		// The chosen node comes first among nodes of equal rank.
		if c := cmp.Compare(x.Rank, y.Rank); c != 0 || (x.Node == e.Chosen) == (y.Node == e.Chosen) {
			return c
		} else if x.Node == e.Chosen {
			return -1
		}
		return 1
	})
	e.writeScores(&b, scored, limit)
	writeReasons(&b, others, limit)
	_, err := io.WriteString(w, b.String())
	return err
}

func (e *Explanation) writeScores(b *strings.Builder, nodes []NodeExplanation, limit int) {
	if len(nodes) == 0 {
		return
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "RANK\tNODE\tTOTAL")
	for _, s := range nodes[0].Scores {
		fmt.Fprintf(t, "\t%s", s.Plugin)
	}
	reserved := slices.ContainsFunc(nodes, func(n NodeExplanation) bool { return n.Reserved != "" })
	if reserved {
		fmt.Fprint(t, "\tRESERVED")
	}
	fmt.Fprintln(t)
	shown := cut(nodes, limit)
	for _, n := range shown {
		mark := ""
		if n.Node == e.Chosen {
			mark = "*"
		}
		fmt.Fprintf(t, "%d%s\t%s\t%d", n.Rank, mark, n.Node, n.Total)
		for _, s := range n.Scores {
			if s.Raw == s.Normalized {
				fmt.Fprintf(t, "\t%d*%d", s.Normalized, s.Weight)
			} else {
				fmt.Fprintf(t, "\t%d>%d*%d", s.Raw, s.Normalized, s.Weight)
			}
		}
		if reserved {
			fmt.Fprintf(t, "\t%s", n.Reserved)
		}
		fmt.Fprintln(t)
	}
	t.Flush() // a strings.Builder does not fail
	writeRest(b, len(nodes)-len(shown))
}

func writeReasons(b *strings.Builder, nodes []NodeExplanation, limit int) {
	if len(nodes) == 0 {
		return
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NODE\tVERDICT\tPLUGIN\tREASONS")
	shown := cut(nodes, limit)
	for _, n := range shown {
		if len(n.Rejections) == 0 {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", n.Node, n.Verdict, cmp.Or(n.Plugin, "-"), cmp.Or(strings.Join(n.Reasons, "; "), "-"))
		}
		for _, r := range n.Rejections {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", n.Node, n.Verdict, r.Plugin, r.text())
		}
	}
	t.Flush()
	writeRest(b, len(nodes)-len(shown))
}

// text returns the reasons, and the details in brackets.
func (r *NodeRejection) text() string {
	text := cmp.Or(strings.Join(r.Reasons, "; "), "-")
	if len(r.Details) == 0 {
		return text
	}
	details := make([]string, len(r.Details))
	for i, d := range r.Details {
		details[i] = d.String()
	}
	return text + " (" + strings.Join(details, "; ") + ")"
}

func cut(nodes []NodeExplanation, limit int) []NodeExplanation {
	if limit > 0 && len(nodes) > limit {
		return nodes[:limit]
	}
	return nodes
}

func writeRest(b *strings.Builder, n int) {
	if n > 0 {
		fmt.Fprintf(b, "... and %d more\n", n)
	}
}
