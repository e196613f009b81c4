package page

import (
	"fmt"
	"math"
	"strconv"
)

// A Series is a named list of values.
type Series struct {
	Name   string
	Values []float64
}

// A Bars chart has a group of bars for each label, one bar for each series.
type Bars struct {
	Labels []string
	Series []Series
	// Stacked puts the bars of a group one after the other in one line.
	Stacked bool
	// Text writes a value; nil means as a number.
	Text func(float64) string
}

// maxBars bounds the groups of a chart; the table has the others.
const maxBars = 40

// legend names the series by their colors.
func legend(b *builder, series []Series) {
	if len(series) < 2 {
		return
	}
	b.WriteString("<p class=\"key\">")
	for i, s := range series {
		fmt.Fprintf(b, "<span><i class=\"s%d\"></i>", i%colors)
		b.text(s.Name)
		b.WriteString("</span>")
	}
	b.WriteString("</p>")
}

// colors is how many colors series have.
const colors = 10

func (c *Bars) write(b *builder) {
	most := 0.0
	for i := range c.Labels {
		sum := 0.0
		for _, s := range c.Series {
			v := max(s.Values[i], 0)
			sum += v
			if !c.Stacked {
				most = max(most, math.Abs(s.Values[i]))
			}
		}
		if c.Stacked {
			most = max(most, sum)
		}
	}
	text := c.Text
	if text == nil {
		text = func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	}
	legend(b, c.Series)
	b.WriteString("<div class=\"bars\" role=\"img\" aria-label=\"Bars; the table has the numbers\">")
	width := func(v float64) float64 {
		if most == 0 {
			return 0
		}
		return 100 * math.Abs(v) / most
	}
	for i := range c.Labels[:min(len(c.Labels), maxBars)] {
		b.tag("span class=\"bl\"", c.Labels[i])
		b.WriteString("<span class=\"bg\">")
		if c.Stacked {
			b.WriteString("<span class=\"bb\">")
			sum := 0.0
			for k, s := range c.Series {
				if s.Values[i] > 0 {
					sum += s.Values[i]
					fmt.Fprintf(b, "<i class=\"s%d\" style=\"width:%.2f%%\" title=\"", k%colors, 0.8*width(s.Values[i]))
					b.text(s.Name + " " + text(s.Values[i]))
					b.WriteString("\"></i>")
				}
			}
			b.tag("em", text(sum))
			b.WriteString("</span>")
		} else {
			for k, s := range c.Series {
				class := fmt.Sprintf("s%d", k%colors)
				if s.Values[i] < 0 {
					class += " neg"
				}
				fmt.Fprintf(b, "<span class=\"bb\"><i class=\"%s\" style=\"width:%.2f%%\"></i>", class, 0.8*width(s.Values[i]))
				b.tag("em", text(s.Values[i]))
				b.WriteString("</span>")
			}
		}
		b.WriteString("</span>")
	}
	b.WriteString("</div>")
	if rest := len(c.Labels) - maxBars; rest > 0 {
		b.tag("p class=\"more\"", fmt.Sprintf("the first %d of %d", maxBars, len(c.Labels)))
	}
}

// A Lines chart shows series over time.
type Lines struct {
	// At are the times in seconds, ascending.
	At     []float64
	Series []Series
	// Percent is set if the values are shares.
	Percent bool
}

// maxPoints bounds the points of a line. Of more, the largest of equal numbers of
// neighbors is drawn.
const maxPoints = 1000

func (c *Lines) write(b *builder) {
	most := 0.0
	for _, s := range c.Series {
		for _, v := range s.Values {
			most = max(most, v)
		}
	}
	top := niceTop(most)
	label := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	if c.Percent {
		if most > 0.5 {
			top = max(1, math.Ceil(most*4)/4)
		}
		label = func(v float64) string { return strconv.FormatFloat(float64(100*v), 'g', 4, 64) + "%" }
	}
	legend(b, c.Series)
	b.WriteString("<div class=\"lines\"><div class=\"y\">")
	b.tag("span", label(top))
	b.tag("span", label(top/2))
	b.tag("span", "0")
	b.WriteString("</div><svg viewBox=\"0 0 1000 200\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Lines over time; the table has the numbers\">")
	b.WriteString("<path class=\"grid\" vector-effect=\"non-scaling-stroke\" d=\"M0 1H1000M0 100H1000M0 199H1000\"/>")
	last := 0.0
	if len(c.At) > 0 {
		last = c.At[len(c.At)-1]
	}
	for k, s := range c.Series {
		fmt.Fprintf(b, "<path class=\"s%d\" vector-effect=\"non-scaling-stroke\" d=\"", k%colors)
		c.path(b, s.Values, last, top)
		b.WriteString("\"/>")
	}
	b.WriteString("</svg><div class=\"x\">")
	b.tag("span", "0s")
	b.tag("span", duration(last/2))
	b.tag("span", duration(last))
	b.WriteString("</div></div>")
}

// path writes the points of a line, as steps: a value stays until the next sample.
func (c *Lines) path(b *builder, values []float64, last, top float64) {
	step := max(1, (len(values)+maxPoints-1)/maxPoints)
	for i := 0; i < len(values); i += step {
		v := values[i]
		for _, w := range values[i:min(i+step, len(values))] {
			v = max(v, w)
		}
		x := 0.0
		if last > 0 {
			x = 1000 * c.At[i] / last
		}
		y := 199 - 198*v/top
		if i == 0 {
			fmt.Fprintf(b, "M%.0f %.1f", x, y)
		} else {
			fmt.Fprintf(b, "H%.0fV%.1f", x, y)
		}
	}
	b.WriteString("H1000")
}

// niceTop returns a round number that is at least v.
func niceTop(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 4, 5, 6, 8, 10} {
		if top := unit * m; top >= v {
			return top
		}
	}
	return unit * 10
}
