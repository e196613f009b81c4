package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/examples/gpushare/openb"
)

// The figure shows the columns from firstColumn on, and the percentages from lowest on:
// before, all policies place all pods.
const (
	firstColumn = 70
	lowest      = 70.0

	width, height = 720, 400
	left, right   = 52, 150
	top, bottom   = 42, 46
)

// colors belong to the policies, in the order of openb.Policies. They can be told apart
// without colour vision, on white and on black.
var colors = []string{"#999999", "#56b4e9", "#cc79a7", "#e69f00", "#0072b2", "#d55e00", "#009e73"}

func x(column float64) float64 {
	return left + (column-firstColumn)/(openb.Columns-1-firstColumn)*(width-left-right)
}

func y(percent float64) float64 {
	return top + (100-percent)/(100-lowest)*(height-top-bottom)
}

// figure draws, for each policy, the part of the GPUs that is given out over the part that
// has been asked for: means of all seeds. Circles are published means.
func figure(trace *openb.Trace, results []openb.Result, published openb.Tables) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, height)
	title := fmt.Sprintf("GPUs given out on %d GPUs, by policy", trace.Milli/1000)
	if published != nil {
		title += ": lines computed, circles published"
	}
	fmt.Fprintf(&b, `<text x="%d" y="22" font-size="15">%s</text>`+"\n", left, escape(title))
	axes(&b)
	var labels []label
	for i, p := range openb.Policies() {
		runs := of(results, p)
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="2" points="`, colors[i])
		for column := firstColumn; column < openb.Columns; column++ {
			fmt.Fprintf(&b, "%.1f,%.1f ", x(float64(column)), y(max(lowest, allocation(runs, column).Mean)))
		}
		fmt.Fprintln(&b, `"/>`)
		if known := compare(runs, published).known; len(known) > 0 {
			fmt.Fprintf(&b, `<g fill="#fff" stroke="%s">`, colors[i])
			for column := firstColumn; column < openb.Columns; column += 10 {
				fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3.5"/>`, x(float64(column)), y(max(lowest, allocation(known, column).Mean)))
			}
			fmt.Fprintln(&b, "</g>")
		}
		last := allocation(runs, openb.Columns-1).Mean
		labels = append(labels, label{y(max(lowest, last)), fmt.Sprintf("%s %.1f %%", p, last), colors[i]})
	}
	writeLabels(&b, labels)
	fmt.Fprintln(&b, "</svg>")
	return b.Bytes()
}

// axes draws the scales, and a line for "everything asked for is given out".
func axes(b *bytes.Buffer) {
	fmt.Fprintln(b, `<g stroke="#ddd" fill="#333">`)
	for percent := lowest; percent <= 100; percent += 5 {
		fmt.Fprintf(b, `<path d="M%d %.1fH%d"/><text x="%d" y="%.1f" stroke="none" text-anchor="end">%.0f</text>`+"\n",
			left, y(percent), width-right, left-6, y(percent)+4, percent)
	}
	for column := firstColumn; column < openb.Columns; column += 10 {
		fmt.Fprintf(b, `<text x="%.1f" y="%d" stroke="none" text-anchor="middle">%d</text>`+"\n", x(float64(column)), height-bottom+18, column)
	}
	fmt.Fprintln(b, "</g>")
	fmt.Fprintf(b, `<path d="M%.1f %.1fL%.1f %.1f" stroke="#999" stroke-dasharray="4 4"/>`+"\n", x(lowest), y(lowest), x(100), y(100))
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" fill="#333">GPUs asked for, percent of all</text>`+"\n", left+(width-left-right)/2, height-10)
	fmt.Fprintf(b, `<text transform="translate(14 %d) rotate(-90)" text-anchor="middle" fill="#333">GPUs given out, percent of all</text>`+"\n", top+(height-top-bottom)/2)
}

// A label names a line at its end.
type label struct {
	y           float64
	text, color string
}

// lineHeight is the least distance of labels.
const lineHeight = 15

// writeLabels writes the labels from top to bottom, without overlap.
func writeLabels(b *bytes.Buffer, labels []label) {
	slices.SortStableFunc(labels, func(a, b label) int { return cmp.Compare(a.y, b.y) })
	at := 0.0
	for _, l := range labels {
		at = max(l.y+4, at+lineHeight)
		fmt.Fprintf(b, `<text x="%d" y="%.1f" fill="%s">%s</text>`+"\n", width-right+8, at, l.color, escape(l.text))
	}
}

// escape makes text safe in XML.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
}
