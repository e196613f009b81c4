package page

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/berth-sched/berth/internal/errtext"
)

// WriteText writes the page for a terminal. Tables have at most limit rows; 0 means all.
func (p *Page) WriteText(w io.Writer, limit int) error {
	var b strings.Builder
	b.WriteString(errtext.Visible(p.Answer) + "\n")
	for _, f := range p.Facts {
		fmt.Fprintf(&b, "%s: %s\n", f.Name, errtext.Visible(f.Text))
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		if s.HTMLOnly || s.Table.Empty() && s.Note == "" {
			continue
		}
		b.WriteString("\n" + errtext.Visible(s.Title) + "\n")
		if s.Table.Empty() {
			b.WriteString(errtext.Visible(s.Note) + "\n")
			continue
		}
		s.Table.writeText(&b, limit)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeText writes the table with aligned columns: numbers to the right.
func (t *Table) writeText(b *strings.Builder, limit int) {
	rows := t.Rows[:len(t.Rows)-t.Same]
	all := len(rows)
	if limit > 0 && len(rows)-t.Top > limit { // the sum might overflow
		rows = rows[:limit+t.Top]
	}
	right := t.numeric()
	lines := make([][]string, 0, len(rows)+1)
	head := make([]string, len(t.Head))
	for i, h := range t.Head {
		head[i] = strings.ToUpper(h)
	}
	lines = append(lines, head)
	for _, r := range rows {
		line := make([]string, len(t.Head))
		for i := range line {
			if i < len(r) {
				line[i] = cellText(r[i])
			}
		}
		lines = append(lines, line)
	}
	width := make([]int, len(t.Head))
	for _, line := range lines {
		for i, text := range line {
			width[i] = max(width[i], utf8.RuneCountInString(text))
		}
	}
	for _, line := range lines {
		var row strings.Builder
		for i, text := range line {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(text))
			if i > 0 {
				row.WriteString("  ")
			}
			if right[i] {
				row.WriteString(pad + text)
			} else {
				row.WriteString(text + pad)
			}
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	if rest := all - len(rows); rest > 0 {
		fmt.Fprintf(b, "... and %d more\n", rest)
	}
	if t.Same > 0 {
		fmt.Fprintf(b, "%d equal on both sides\n", t.Same)
	}
}
