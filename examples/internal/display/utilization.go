package display

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// barWidth is the length of a full bar, and maxColumns the number of resources to
// show.
const (
	barWidth   = 20
	maxColumns = 4
)

// Utilization writes the share of each node's allocatable amount that its pods
// request. It covers CPU, memory, and extended resources that some pod requests. All
// nodes together come first, then single nodes, the fullest ones first. If there are
// more than limit nodes, a histogram counts them all.
func Utilization(w io.Writer, snap *framework.Snapshot, limit int) error {
	var b strings.Builder
	columns := usedResources(snap)
	var rows []row
	total := row{name: "(all)", requested: resource.Vector{}, allocatable: resource.Vector{}}
	for _, n := range snap.All() {
		rows = append(rows, row{n.Name(), n.Requested, n.Allocatable, len(n.Pods)})
		total.requested, total.allocatable = total.requested.Add(n.Requested), total.allocatable.Add(n.Allocatable)
		total.pods += len(n.Pods)
	}
	slices.SortStableFunc(rows, func(x, y row) int { return cmp.Compare(y.fullest(columns), x.fullest(columns)) })

	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "NODE\tPODS")
	for _, c := range columns {
		fmt.Fprintf(t, "\t%s", strings.ToUpper(string(snap.Schema().Name(c))))
	}
	fmt.Fprintln(t)
	total.write(t, columns)
	for _, r := range rows[:min(len(rows), limit)] {
		r.write(t, columns)
	}
	t.Flush() // a strings.Builder does not fail
	if len(rows) > limit {
		fmt.Fprintf(&b, "... and %d more nodes\n\n", len(rows)-limit)
		histogram(&b, snap.Schema(), rows, columns)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// usedResources returns the indexes of the resources to show.
func usedResources(snap *framework.Snapshot) []int {
	columns := []int{resource.IndexCPU, resource.IndexMemory}
	for i := resource.IndexMemory + 1; i < snap.Schema().Len() && len(columns) < maxColumns; i++ {
		for _, n := range snap.All() {
			if n.Requested.At(i) > 0 {
				columns = append(columns, i)
				break
			}
		}
	}
	return columns
}

// A row is one node, or the sum of all.
type row struct {
	name                   string
	requested, allocatable resource.Vector
	pods                   int
}

// share returns the requested share of a resource, -1 if the node has none of it. It
// may exceed 1, because a node may have lost resources under its pods.
func (r row) share(column int) float64 {
	if r.allocatable.At(column) == 0 {
		return -1
	}
	return float64(r.requested.At(column)) / float64(r.allocatable.At(column))
}

func (r row) fullest(columns []int) float64 {
	most := -1.0
	for _, c := range columns {
		most = max(most, r.share(c))
	}
	return most
}

func (r row) write(w io.Writer, columns []int) {
	fmt.Fprintf(w, "%s\t%d", r.name, r.pods)
	for _, c := range columns {
		if s := r.share(c); s < 0 {
			fmt.Fprint(w, "\t-")
		} else {
			fmt.Fprintf(w, "\t%s %3.0f%%", bar(s), 100*s)
		}
	}
	fmt.Fprintln(w)
}

// bar draws a share of the full length.
func bar(share float64) string {
	n := int(share*barWidth + 0.5)
	n = min(max(n, 0), barWidth)
	return strings.Repeat("█", n) + strings.Repeat("·", barWidth-n)
}

// histogram counts the nodes by tenths of each resource; the longest bar is the
// greatest count.
func histogram(b *strings.Builder, schema *resource.Schema, rows []row, columns []int) {
	const tenths = 10
	counts := make([][tenths + 1]int, len(columns)) // the last one is for overfull nodes
	for k, c := range columns {
		for _, r := range rows {
			switch s := r.share(c); {
			case s > 1:
				counts[k][tenths]++
			case s >= 0:
				counts[k][min(int(s*tenths), tenths-1)]++
			}
		}
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "NODES BY USE")
	for _, c := range columns {
		fmt.Fprintf(t, "\t%s", strings.ToUpper(string(schema.Name(c))))
	}
	fmt.Fprintln(t)
	for i := range tenths + 1 {
		label := fmt.Sprintf("%d-%d%%", 100/tenths*i, 100/tenths*(i+1))
		if i == tenths {
			label = "over 100%"
		}
		var line strings.Builder
		count := 0
		for k := range columns {
			n := counts[k][i]
			count += n
			fmt.Fprintf(&line, "\t%s %d", bar(float64(n)/float64(max(1, slices.Max(counts[k][:])))), n)
		}
		if i < tenths || count > 0 {
			fmt.Fprintln(t, label+line.String())
		}
	}
	t.Flush()
}
