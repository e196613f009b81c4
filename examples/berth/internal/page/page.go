// Package page holds an answer of berth as something to look at: a line that says it,
// tables, and pictures. [Page.WriteText] writes it for a terminal, [Page.WriteHTML] as one
// HTML file that needs nothing else: no network, no script, no font.
//
// Every number of a picture is in a table of the same section. The output depends on the
// page alone. A page is plain data; any goroutine may write it.
package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/berth-sched/berth/internal/errtext"
)

// A Page is an answer.
type Page struct {
	// Title names the question, such as "berth drain".
	Title string
	// Answer says it in a line.
	Answer string
	// Yes is whether the answer is yes.
	Yes bool
	// Facts are what the answer is about: the cluster, the rules.
	Facts []Fact
	// Sections are the parts of the answer.
	Sections []Section
}

// A Fact is a name and a text.
type Fact struct{ Name, Text string }

// A Section is a part of a page.
type Section struct {
	Title string
	// Note says in a sentence or two what the table and the picture show.
	Note string
	// Figure is the picture, nil if there is none. A terminal does not show it.
	Figure Figure
	// Table holds the numbers.
	Table Table
	// HTMLOnly keeps the section off a terminal.
	HTMLOnly bool
}

// A Figure is a picture that writes itself as HTML.
type Figure interface{ write(b *builder) }

// A Table is a table of cells.
type Table struct {
	Head []string
	Rows [][]Cell
	// Top is how many rows come first and are never cut off, such as sums.
	Top int
	// Same is how many rows at the end show nothing new. A terminal does not show them.
	Same int
}

// A Cell is a string, an int, an int64, or one of the types below.
type Cell any

// A Percent is a share, from 0 to 1 and more; below 0 there is none.
type Percent float64

// String writes the share, such as "12.5%".
func (p Percent) String() string {
	if p < 0 {
		return "-"
	}
	return strconv.FormatFloat(float64(100*p), 'f', 1, 64) + "%"
}

// A Seconds is a time.
type Seconds float64

// String writes the time, such as "1h30m0s".
func (s Seconds) String() string { return duration(float64(s)) }

// Add adds a row.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, cells) }

// Empty reports whether the table has no rows.
func (t *Table) Empty() bool { return len(t.Rows) == 0 }

// cellText returns the text of a cell, "-" for an empty one.
func cellText(c Cell) string {
	if text := fmt.Sprint(c); text != "" {
		return errtext.Visible(text)
	}
	return "-"
}

// isNumber reports whether a cell stands at the right.
func isNumber(c Cell) bool {
	switch c.(type) {
	case int, int64, Percent, Seconds:
		return true
	}
	return false
}

// numeric reports for each column whether all its cells are numbers.
func (t *Table) numeric() []bool {
	list := make([]bool, len(t.Head))
	for i := range list {
		list[i] = len(t.Rows) > 0
		for _, r := range t.Rows {
			if i >= len(r) || !isNumber(r[i]) && r[i] != "" {
				list[i] = false
				break
			}
		}
	}
	return list
}

// duration writes seconds for people.
func duration(seconds float64) string {
	if seconds < 60 {
		return strconv.FormatFloat(math.Round(seconds*1000)/1000, 'f', -1, 64) + "s"
	}
	const maxSeconds = 1e15
	s := int64(min(seconds, maxSeconds) + 0.5)
	var parts []string
	for _, unit := range []struct {
		name    string
		seconds int64
	}{{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}} {
		if n := s / unit.seconds; n > 0 {
			parts = append(parts, strconv.FormatInt(n, 10)+unit.name)
			s %= unit.seconds
		}
	}
	return strings.Join(parts, "")
}
