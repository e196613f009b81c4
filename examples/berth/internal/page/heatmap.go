package page

import (
	"fmt"
	"slices"
	"strconv"
)

// A HeatMap shows one colored cell for each node, once for each layer. A node has the
// same place in all layers.
type HeatMap struct {
	Names  []string
	Layers []Layer
	// Paired layers stand side by side, two in a line.
	Paired bool
	// Marked nodes have an outline; MarkedAs says what it means.
	Marked   []bool
	MarkedAs string

	ends []string // the last node of each cell; nil if each cell is one node
}

// A Layer is one value for each node.
type Layer struct {
	Name string
	// Values are shares from 0 to 1, or more if a node is overfull; below 0 there is
	// none. If Count is set they are numbers, and the largest has the darkest color.
	Values []float64
	Count  bool
}

// levels are the classes of cells: ten levels of a value, more than all, and none.
const levels = "abcdefghijkn"

// level returns the class of a value.
func (l *Layer) level(value, most float64) byte {
	if l.Count && most > 0 {
		value /= most
	}
	switch {
	case value < 0:
		return levels[11]
	case value > 1.0000001:
		return levels[10]
	}
	return levels[min(int(value*10), 9)]
}

func (l *Layer) text(value float64) string {
	switch {
	case value < 0:
		return "none"
	case l.Count:
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return Percent(value).String()
}

// coarse returns the map with one cell for so many neighbors: the highest of their values,
// and marked if one of them is.
func (h *HeatMap) coarse(many int) *HeatMap {
	c := &HeatMap{Paired: h.Paired, MarkedAs: h.MarkedAs, Layers: slices.Clone(h.Layers)}
	for k := range c.Layers {
		c.Layers[k].Values = nil
	}
	for from := 0; from < len(h.Names); from += many {
		end := min(from+many, len(h.Names))
		c.Names, c.ends = append(c.Names, h.Names[from]), append(c.ends, h.Names[end-1])
		marked := false
		for i := from; i < end; i++ {
			marked = marked || h.isMarked(i)
		}
		c.Marked = append(c.Marked, marked)
		for k := range c.Layers {
			c.Layers[k].Values = append(c.Layers[k].Values, slices.Max(h.Layers[k].Values[from:end]))
		}
	}
	return c
}

func (h *HeatMap) write(b *builder) {
	if many := (len(h.Names)*len(h.Layers)-1)/maxCells + 1; many > 1 {
		b.tag("p class=\"key\"", fmt.Sprintf("Each cell stands for %d nodes and shows the highest of them.", many))
		h = h.coarse(many)
	}
	class := "maps"
	if h.Paired {
		class += " pairs"
	}
	if len(h.Names) > namedCells {
		class += " many"
	}
	b.WriteString("<div class=\"" + class + "\">")
	for i := range h.Layers {
		h.writeLayer(b, &h.Layers[i])
	}
	b.WriteString("</div>")
	if h.MarkedAs != "" {
		b.WriteString("<p class=\"key\"><span><i class=\"a m\"></i>")
		b.text(h.MarkedAs)
		b.WriteString("</span></p>")
	}
}

func (h *HeatMap) writeLayer(b *builder, l *Layer) {
	most, none, over := 0.0, false, false
	for _, v := range l.Values {
		most, none, over = max(most, v), none || v < 0, over || v > 1.0000001 && !l.Count
	}
	b.WriteString("<div class=\"map\">")
	b.tag("h3", l.Name)
	wide := len(h.Names) <= wideCells
	class := "cells"
	if wide {
		class = "tiles"
	}
	fmt.Fprintf(b, "<div class=\"%s\" role=\"img\" aria-label=\"", class)
	b.text(fmt.Sprintf("%s of %d nodes; the table has the numbers", l.Name, len(h.Names)))
	b.WriteString("\">")
	switch {
	case wide:
		h.writeTiles(b, l, most)
	case len(h.Names) <= namedCells:
		h.writeCells(b, l, most, 1)
	default:
		h.writeCells(b, l, most, groupCells)
	}
	b.WriteString("</div>")
	h.writeKey(b, l, most, none, over)
	b.WriteString("</div>")
}

// Bounds of a heat map whose cells have no texts.
const (
	namedCells = 1000   // each cell has a name of its own
	groupCells = 10     // otherwise so many share one
	maxCells   = 25_000 // of all layers together, so that a page opens within a second
)

// writeCells writes small cells. So many of them share a title.
func (h *HeatMap) writeCells(b *builder, l *Layer, most float64, share int) {
	for from := 0; from < len(l.Values); from += share {
		last := min(from+share, len(l.Values)) - 1
		b.WriteString("<span title=\"")
		if b.text(h.Names[from]); share == 1 {
			b.text(" " + l.text(l.Values[from]))
		} else {
			end := h.Names[last]
			if h.ends != nil {
				end = h.ends[last]
			}
			b.text(" to " + end)
		}
		b.WriteString("\">")
		for i := from; i <= last; i++ {
			if h.isMarked(i) {
				fmt.Fprintf(b, "<i class=\"%c m\"></i>", l.level(l.Values[i], most))
			} else {
				fmt.Fprintf(b, "<i class=%c></i>", l.level(l.Values[i], most))
			}
		}
		b.WriteString("</span>")
	}
}

func (h *HeatMap) isMarked(i int) bool { return i < len(h.Marked) && h.Marked[i] }

// writeTiles writes cells with their texts.
func (h *HeatMap) writeTiles(b *builder, l *Layer, most float64) {
	for i, v := range l.Values {
		b.WriteString("<div")
		if h.isMarked(i) {
			b.WriteString(" class=\"m\"")
		}
		b.WriteString(">")
		b.tag("b", h.Names[i])
		b.tag("span", l.text(v))
		share := min(max(v, 0), 1)
		if l.Count && most > 0 {
			share = v / most
		}
		if v < 0 {
			share = 1
		}
		fmt.Fprintf(b, "<i class=\"%c\" style=\"--w:%.0f%%\"></i></div>", l.level(v, most), float64(100*share))
	}
}

// writeKey explains the colors.
func (h *HeatMap) writeKey(b *builder, l *Layer, most float64, none, over bool) {
	low, high := "0%", "100%"
	if l.Count {
		low, high = "0", l.text(most)
	}
	b.WriteString("<p class=\"key\"><span>")
	b.text(low)
	for i := range 10 {
		fmt.Fprintf(b, "<i class=\"%c\"></i>", levels[i])
	}
	b.text(high)
	b.WriteString("</span>")
	if over {
		b.WriteString("<span><i class=\"k\"></i>more than there is</span>")
	}
	if none {
		b.WriteString("<span><i class=\"n\"></i>none</span>")
	}
	b.WriteString("</p>")
}
