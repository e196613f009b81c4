package simulate

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/berth-sched/berth/internal/errtext"
)

// WritePods writes the history of every pod as CSV, one line a pod, in the order of
// arrival. Times are in seconds; what is not known is empty. Texts with
// characters that are not seen are quoted within their field.
func (r *Result) WritePods(w io.Writer) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"pod", "owner", "priority", "arrived", "bound", "node", "waited", "ended", "completed", "evictions", "attempts", "message"}}
	for i := range r.Pods {
		p := &r.Pods[i]
		rows = append(rows, []string{
			errtext.Visible(p.Pod), errtext.Visible(p.Owner), strconv.Itoa(int(p.Priority)), number(p.Arrived), optional(p.Bound), errtext.Visible(p.Node), number(p.Waited), optional(p.Ended),
			strconv.FormatBool(p.Completed), strconv.Itoa(p.Evictions), strconv.Itoa(p.Attempts), errtext.Visible(p.Message),
		})
	}
	return out.WriteAll(rows)
}

// WriteSeries writes the samples as CSV, one line a sample.
func (r *Result) WriteSeries(w io.Writer) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"at", "nodes", "running", "waiting", "cpu", "memory", "fragmented"}}
	for _, s := range r.Series {
		rows = append(rows, []string{
			number(s.At), strconv.Itoa(s.Nodes), strconv.Itoa(s.Running), strconv.Itoa(s.Waiting), number(s.CPU), number(s.Memory), number(s.Fragmented),
		})
	}
	return out.WriteAll(rows)
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func optional(x *float64) string {
	if x == nil {
		return ""
	}
	return number(*x)
}
