package page

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"
)

//go:embed style.css
var style string

// Bounds of an HTML page, so that a browser opens it at once.
const (
	maxRows   = 6000 // of a table
	longTable = 40   // of a table that has its full height
	openRows  = 200  // of a table that is not folded
	barRows   = 1000 // of a table with bars behind its shares
	longCell  = 40   // bytes of a cell that is not wrapped
	wideCells = 60   // of a heat map whose cells have names
)

// A builder writes HTML.
type builder struct{ strings.Builder }

// text writes text, escaped.
func (b *builder) text(text string) { b.WriteString(html.EscapeString(visible(text))) }

// tag writes an element with a text in it. The tag may have attributes.
func (b *builder) tag(tag, text string) {
	name, _, _ := strings.Cut(tag, " ")
	b.WriteString("<" + tag + ">")
	b.text(text)
	b.WriteString("</" + name + ">")
}

// WriteHTML writes the page as an HTML file.
func (p *Page) WriteHTML(w io.Writer) error {
	var b builder
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	b.WriteString("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
	// Nothing may be fetched or run, whatever the names of objects contain.
	b.WriteString("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n")
	b.tag("title", p.Title+": "+p.Answer)
	b.WriteString("\n<style>\n" + style + "</style>\n</head>\n<body>\n<header>\n")
	b.tag("p class=\"question\"", p.Title)
	class := "no"
	if p.Yes {
		class = "yes"
	}
	b.tag("h1 class=\""+class+"\"", p.Answer)
	b.WriteString("\n<dl>")
	for _, f := range p.Facts {
		b.WriteString("<div>")
		b.tag("dt", f.Name)
		b.tag("dd", f.Text)
		b.WriteString("</div>")
	}
	b.WriteString("</dl>\n</header>\n<main>\n")
	for i := range p.Sections {
		p.Sections[i].writeHTML(&b, i)
	}
	b.WriteString("</main>\n</body>\n</html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *Section) writeHTML(b *builder, number int) {
	if s.Table.Empty() && s.Note == "" {
		return
	}
	fmt.Fprintf(b, "<section aria-labelledby=\"s%d\">\n", number)
	b.tag(fmt.Sprintf("h2 id=\"s%d\"", number), s.Title)
	if s.Note != "" {
		b.tag("p", s.Note)
	}
	if s.Figure != nil && !s.Table.Empty() {
		b.WriteString("\n<figure>")
		s.Figure.write(b)
		b.WriteString("</figure>\n")
	}
	s.Table.writeHTML(b, s.Title)
	b.WriteString("</section>\n")
}

// writeHTML writes the table in a box that scrolls by itself, folded if it is long.
func (t *Table) writeHTML(b *builder, title string) {
	if t.Empty() {
		return
	}
	rows := t.Rows[:min(len(t.Rows), maxRows)]
	folded := len(rows) > openRows
	if folded {
		fmt.Fprintf(b, "<details><summary>Table of %d rows</summary>\n", len(rows))
	}
	class := "scroll"
	if len(rows) > longTable {
		class = "scroll long"
	}
	b.WriteString("<div class=\"" + class + "\" tabindex=\"0\" role=\"region\" aria-label=\"")
	b.text("Table: " + title)
	b.WriteString("\"><table class=\"")
	for i, isNumber := range t.numeric() {
		if isNumber {
			fmt.Fprintf(b, "n%d ", i+1) // the column stands at the right
		}
	}
	stacked := t.stacked()
	if stacked {
		b.WriteString("stack")
	}
	b.WriteString("\">\n<thead><tr>")
	for _, h := range t.Head {
		b.tag("th scope=\"col\"", h)
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for i, r := range rows {
		b.WriteString("<tr>")
		for k := range t.Head {
			var c Cell = ""
			if k < len(r) {
				c = r[k]
			}
			text := cellText(c)
			tag := "td"
			share, isShare := c.(Percent)
			switch {
			case k == 0 && i < t.Top:
				tag = "th scope=\"row\""
			case isShare && share > 0 && len(rows) <= barRows:
				tag = fmt.Sprintf("td class=\"p\" style=\"--w:%.0f%%\"", min(100, float64(100*share)))
			case len(text) > longCell:
				tag = "td class=\"w\""
			}
			if stacked {
				tag += " data-h=\"" + html.EscapeString(visible(t.Head[k])) + "\""
			}
			b.WriteString("<" + tag + ">") // the end of a cell or row need not be written
			b.text(text)
		}
		b.WriteString("\n")
	}
	b.WriteString("</tbody></table></div>\n")
	if rest := len(t.Rows) - len(rows); rest > 0 {
		b.tag("p class=\"more\"", fmt.Sprintf("... and %d more rows; -o json has all", rest))
	}
	if folded {
		b.WriteString("</details>\n")
	}
}

// stacked reports whether a narrow screen shows the cells of a row below each other,
// because they do not fit beside each other.
func (t *Table) stacked() bool {
	const most, fits = 100, 40
	if len(t.Rows) > most {
		return false
	}
	widths := make([]int, len(t.Head))
	for i, h := range t.Head {
		widths[i] = len(h)
	}
	for _, r := range t.Rows {
		for i, c := range r {
			widths[i] = max(widths[i], len(cellText(c)))
		}
	}
	sum := 0
	for _, w := range widths {
		sum += w + 2
	}
	return sum > fits
}
