package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// A line is the command's result for one workload. Figures that were not measured
// are absent.
type line struct {
	Workload string `json:"workload"`
	Nodes    int    `json:"nodes"`
	Pods     int    `json:"pods"` // as asked for; the number of timed pods is below

	Berth       *float64 `json:"berth_pods_per_s,omitempty"`
	BerthPlain  *float64 `json:"berth_plain_pods_per_s,omitempty"`
	KubeSampled *float64 `json:"kube_sampled_pods_per_s,omitempty"`
	KubeAll     *float64 `json:"kube_all_pods_per_s,omitempty"`
	KubeBatched *float64 `json:"kube_batched_pods_per_s,omitempty"`

	RatioSampled *float64 `json:"ratio_sampled,omitempty"` // berth to sampled
	RatioAll     *float64 `json:"ratio_all,omitempty"`     // berth to all
	RatioPlain   *float64 `json:"ratio_plain,omitempty"`   // plain to all
	RatioBatched *float64 `json:"ratio_batched,omitempty"` // berth to batched

	BerthAllocs      *float64 `json:"berth_allocs_per_pod,omitempty"`
	KubeAllAllocs    *float64 `json:"kube_all_allocs_per_pod,omitempty"`
	DifferingChoices *int     `json:"differing_choices,omitempty"`
	Compared         int      `json:"compared_choices,omitempty"`

	BerthPods       int `json:"berth_timed_pods,omitempty"`
	BerthPlainPods  int `json:"berth_plain_timed_pods,omitempty"`
	KubeSampledPods int `json:"kube_sampled_timed_pods,omitempty"`
	KubeAllPods     int `json:"kube_all_timed_pods,omitempty"`
	KubeBatchedPods int `json:"kube_batched_timed_pods,omitempty"`
}

// ratios computes the ratios from the rates.
func (l *line) ratios() {
	l.RatioSampled = ratio(l.Berth, l.KubeSampled)
	l.RatioAll = ratio(l.Berth, l.KubeAll)
	l.RatioPlain = ratio(l.BerthPlain, l.KubeAll)
	l.RatioBatched = ratio(l.Berth, l.KubeBatched)
}

// ratio returns a/b if both were measured.
func ratio(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	r := *a / *b
	return &r
}

// writeJSON writes one line of JSON.
func writeJSON(w io.Writer, l line) error { return json.NewEncoder(w).Encode(l) }

// writeTable writes all lines as a table, rates in pods per second.
func writeTable(w io.Writer, lines []line) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "workload\tnodes\tberth\tplain\tkube sampled\tkube all\tkube batched\tberth/sampled\tberth/all\tplain/all\tberth/batched\tallocs\tdiffer\t")
	for _, l := range lines {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", l.Workload, l.Nodes,
			number(l.Berth), number(l.BerthPlain), number(l.KubeSampled), number(l.KubeAll), number(l.KubeBatched),
			times(l.RatioSampled), times(l.RatioAll), times(l.RatioPlain), times(l.RatioBatched),
			allocs(l.BerthAllocs), count(l.DifferingChoices, l.Compared))
	}
	return t.Flush()
}

func number(x *float64) string { return format("%.0f", x) }
func times(x *float64) string  { return format("%.0fx", x) }
func allocs(x *float64) string { return format("%.2f", x) }

// format prints a figure, or a dash for none.
func format(verb string, x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf(verb, *x)
}

// count prints a number of cases, or a dash for none.
func count(n *int, of int) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprintf("%d of %d", *n, of)
}
