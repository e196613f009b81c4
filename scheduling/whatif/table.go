package whatif

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// table collects lines for people: plain ones, and rows of columns.
type table struct {
	text strings.Builder
	tab  *tabwriter.Writer
}

// line ends a list of rows and writes a line.
func (t *table) line(format string, args ...any) {
	t.end()
	fmt.Fprintf(&t.text, format+"\n", args...)
}

// row writes the cells of a row; an empty one becomes "-".
func (t *table) row(cells ...any) {
	if t.tab == nil {
		t.tab = tabwriter.NewWriter(&t.text, 0, 0, 2, ' ', 0)
	}
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(t.tab, "\t")
		}
		fmt.Fprint(t.tab, cmp.Or(fmt.Sprint(cell), "-"))
	}
	fmt.Fprintln(t.tab)
}

func (t *table) end() {
	if t.tab != nil {
		t.tab.Flush() // a strings.Builder does not fail
		t.tab = nil
	}
}

func (t *table) write(w io.Writer) error {
	t.end()
	_, err := io.WriteString(w, t.text.String())
	return err
}

// WriteTable writes the headroom as text for people: what limits, then every node.
func (h *Headroom) WriteTable(w io.Writer) error {
	var t table
	t.line("%s", h.heading())
	writeGates(&t, h.Gates)
	if len(h.Limits) > 0 {
		t.row("LIMIT", "PLUGIN", "NODES")
		for _, r := range h.Limits {
			t.row(r.Reason, r.Plugin, r.Nodes)
		}
		t.end()
	}
	if len(h.Domains) > 0 {
		t.row("DOMAIN", "PODS", "ROOM")
		for _, d := range h.Domains {
			t.row(d.Key+"="+d.Value, d.Pods, d.Room)
		}
		t.end()
	}
	t.row("NODE", "PODS", "LIMIT")
	for _, n := range h.Nodes {
		t.row(n.Node, n.PodsText(), strings.Join(n.Reasons, "; "))
	}
	return t.write(w)
}

// PodsText is the number of pods for people: "up to 3" if other nodes of the domain may get
// them.
func (n *NodeHeadroom) PodsText() string {
	if n.Shared {
		return "up to " + strconv.Itoa(n.Pods)
	}
	return strconv.Itoa(n.Pods)
}
