package page

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/berth-sched/berth/internal/errtext"
)

//go:embed style.css
var style string

// Bounds of an HTML page, so that a browser opens it at once.
const (
	maxPage   = 1_900_000 // bytes; tables are cut off where it would be more
	frame     = 2_000     // around the rows of a table, at most
	maxRows   = 6000      // of a table
	longTable = 40        // of a table that has its full height
	openRows  = 200       // of a table that is not folded
	barRows   = 1000      // of a table with bars behind its shares
	longCell  = 40        // bytes of a cell that is not wrapped
	wideCells = 60        // of a heat map whose cells have names
)

// A builder writes HTML.
type builder struct{ strings.Builder }

// text writes text, escaped.
func (b *builder) text(text string) { b.WriteString(html.EscapeString(errtext.Visible(text))) }

// tag writes an element with a text in it. The tag may have attributes.
func (b *builder) tag(tag, text string) {
	name, _, _ := strings.Cut(tag, " ")
	b.WriteString("<" + tag + ">")
	b.text(text)
	b.WriteString("</" + name + ">")
}

// WriteHTML writes the page as an HTML file. Tables have at most limit rows; 0 means as many
// as a page can hold.
func (p *Page) WriteHTML(w io.Writer, limit int) error {
	var head builder
	head.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	head.WriteString("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
	// Nothing may be fetched or run, whatever the names of objects contain.
	head.WriteString("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n")
	head.tag("title", p.Title+": "+p.Answer)
	head.WriteString("\n<style>\n" + style + "</style>\n</head>\n<body>\n<header>\n")
	head.tag("p class=\"question\"", p.Title)
	class := "no"
	if p.Yes {
		class = "yes"
	}
	head.tag("h1 class=\""+class+"\"", p.Answer)
	head.WriteString("\n<dl>")
	for _, f := range p.Facts {
		head.WriteString("<div>")
		head.tag("dt", f.Name)
		head.tag("dd", f.Text)
		head.WriteString("</div>")
	}
	head.WriteString("</dl>\n</header>\n<main>\n")
	const end = "</main>\n</body>\n</html>\n"

	left := maxPage - head.Len() - len(end)
	var sections []*section
	for i := range p.Sections {
		if s := p.Sections[i].section(i, limit); s != nil {
			sections = append(sections, s)
			left -= s.Len() + frame
		}
	}
	rows := fairly(sections, left)
	if _, err := io.WriteString(w, head.String()); err != nil {
		return err
	}
	for _, s := range sections {
		var b builder
		b.WriteString(s.String())
		s.writeTable(&b, rows)
		b.WriteString("</section>\n")
		if _, err := io.WriteString(w, b.String()); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, end)
	return err
}

// A section holds what comes before the rows of its table, and the rows.
type section struct {
	builder
	title   string
	table   *Table
	stacked bool
	rows    []string
	bytes   int // of the rows
}

// section returns nil if there is nothing to write.
func (s *Section) section(number, limit int) *section {
	if s.Table.Empty() && s.Note == "" {
		return nil
	}
	h := &section{title: s.Title, table: &s.Table}
	fmt.Fprintf(h, "<section aria-labelledby=\"s%d\">\n", number)
	h.tag(fmt.Sprintf("h2 id=\"s%d\"", number), s.Title)
	if s.Note != "" {
		h.tag("p", s.Note)
	}
	if s.Figure != nil && !s.Table.Empty() {
		h.WriteString("\n<figure>")
		s.Figure.write(&h.builder)
		h.WriteString("</figure>\n")
	}
	rows := s.Table.Rows[:min(len(s.Table.Rows), maxRows)]
	if limit > 0 && len(rows)-s.Table.Top > limit { // the sum might overflow
		rows = rows[:limit+s.Table.Top]
	}
	h.stacked = s.Table.stacked(rows)
	for i := range rows {
		h.rows = append(h.rows, s.Table.row(i, len(rows), h.stacked))
		h.bytes += len(h.rows[i])
	}
	return h
}

// fairly returns how many bytes the rows of a table may have, so that those of all tables
// have at most left: small tables have all of their rows.
func fairly(sections []*section, left int) (most int) {
	sorted := slices.SortedFunc(slices.Values(sections), func(a, b *section) int { return a.bytes - b.bytes })
	for i, s := range sorted {
		most = max(0, left/(len(sorted)-i))
		if s.bytes > most {
			return most
		}
		left -= s.bytes
	}
	return maxPage
}

// writeTable writes the table in a box that scrolls by itself, folded if it is long. Its
// rows have at most so many bytes.
func (s *section) writeTable(b *builder, most int) {
	if len(s.rows) == 0 {
		return
	}
	n, size := 0, 0
	for n < len(s.rows) && size+len(s.rows[n]) <= most {
		size += len(s.rows[n])
		n++
	}
	folded := n > openRows
	if folded {
		fmt.Fprintf(b, "<details><summary>Table of %d rows</summary>\n", n)
	}
	class := "scroll"
	if n > longTable {
		class = "scroll long"
	}
	b.WriteString("<div class=\"" + class + "\" tabindex=\"0\" role=\"region\" aria-label=\"")
	b.text("Table: " + s.title)
	b.WriteString("\"><table class=\"")
	for i, isNumber := range s.table.numeric() {
		if isNumber {
			fmt.Fprintf(b, "n%d ", i+1) // the column stands at the right
		}
	}
	if s.stacked {
		b.WriteString("stack")
	}
	b.WriteString("\">\n<thead><tr>")
	for _, h := range s.table.Head {
		b.tag("th scope=\"col\"", h)
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, row := range s.rows[:n] {
		b.WriteString(row)
	}
	b.WriteString("</tbody></table></div>\n")
	if rest := len(s.table.Rows) - n; rest > 0 {
		b.tag("p class=\"more\"", fmt.Sprintf("... and %d more rows; -o json has all", rest))
	}
	if folded {
		b.WriteString("</details>\n")
	}
}

// row writes row i of so many.
func (t *Table) row(i, rows int, stacked bool) string {
	var b builder
	b.WriteString("<tr>")
	for k := range t.Head {
		var c Cell = ""
		if k < len(t.Rows[i]) {
			c = t.Rows[i][k]
		}
		text := cellText(c)
		tag := "td"
		share, isShare := c.(Percent)
		switch {
		case k == 0 && i < t.Top:
			tag = "th scope=\"row\""
		case isShare && share > 0 && rows <= barRows:
			tag = fmt.Sprintf("td class=\"p\" style=\"--w:%.0f%%\"", min(100, float64(100*share)))
		case len(text) > longCell:
			tag = "td class=\"w\""
		}
		if stacked {
			tag += " data-h=\"" + html.EscapeString(errtext.Visible(t.Head[k])) + "\""
		}
		b.WriteString("<" + tag + ">") // the end of a cell or row need not be written
		b.text(text)
	}
	b.WriteString("\n")
	return b.String()
}

// stacked reports whether a narrow screen shows the cells of a row below each other,
// because they do not fit beside each other.
func (t *Table) stacked(rows [][]Cell) bool {
	const most, fits = 100, 40
	if len(rows) > most {
		return false
	}
	widths := make([]int, len(t.Head))
	for i, h := range t.Head {
		widths[i] = len(h)
	}
	for _, r := range rows {
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
