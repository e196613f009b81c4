package page

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriteText(t *testing.T) {
	p := Page{
		Answer: "2 of 3 fit\x1b[1m", Facts: []Fact{{"cluster", "sample"}},
		Sections: []Section{
			{Title: "Nodes", Table: Table{Head: []string{"node", "cpu", "note"}, Top: 1, Same: 1, Rows: [][]Cell{
				{"(all)", Percent(0.5), ""}, {"a", Percent(1.25), "full"}, {"näh", Percent(-1), "x"}, {"c", Percent(0), ""}, {"d", Percent(0), ""},
			}}},
			{Title: "Only HTML", HTMLOnly: true, Table: Table{Head: []string{"x"}, Rows: [][]Cell{{1}}}},
			{Title: "Nothing", Table: Table{Head: []string{"x"}}},
			{Title: "Note", Note: "none"},
		},
	}
	var b strings.Builder
	if err := p.WriteText(&b, 2); err != nil {
		t.Fatal(err)
	}
	want := `"2 of 3 fit\x1b[1m"
cluster: sample

Nodes
NODE      CPU  NOTE
(all)   50.0%  -
a      125.0%  full
näh         -  x
... and 1 more
1 equal on both sides

Note
none
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestDuration(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0s", 0.0314: "0.031s", 59.9: "59.9s", 60: "1m", 61: "1m1s", 3600: "1h", 86400: "1d", 90061: "1d1h1m1s", 12903800: "149d8h23m20s", 1e300: "11574074074d1h46m40s",
	} {
		if got := duration(seconds); got != want {
			t.Errorf("duration(%v) = %s, want %s", seconds, got, want)
		}
	}
}

func TestLevel(t *testing.T) {
	share, count := Layer{}, Layer{Count: true}
	for _, test := range []struct {
		layer *Layer
		value float64
		want  byte
	}{
		{&share, -1, 'n'},
		{&share, 0, 'a'},
		{&share, 0.0999, 'a'},
		{&share, 0.1, 'b'},
		{&share, 0.95, 'j'},
		{&share, 1, 'j'},
		{&share, 1.01, 'k'},
		{&count, 0, 'a'},
		{&count, 4, 'f'},
		{&count, 8, 'j'},
	} {
		if got := test.layer.level(test.value, 8); got != test.want {
			t.Errorf("level(%v) = %c, want %c", test.value, got, test.want)
		}
	}
}

func TestNiceTop(t *testing.T) {
	for v, want := range map[float64]float64{0: 1, 0.013: 0.02, 3: 4, 42: 50, 99: 100, 100: 100, 101: 200} {
		if got := niceTop(v); got < v || got > want*1.0001 || got < want*0.9999 {
			t.Errorf("niceTop(%v) = %v, want %v", v, got, want)
		}
	}
}

// TestHeatMap expects one cell for each node in each layer, in every size.
func TestHeatMap(t *testing.T) {
	for _, n := range []int{1, wideCells, wideCells + 1, namedCells, namedCells + 1, 5001} {
		h := HeatMap{Layers: []Layer{{Name: "cpu"}, {Name: "memory"}}, MarkedAs: "gone"}
		for i := range n {
			h.Names = append(h.Names, "<node>")
			h.Marked = append(h.Marked, i == 0)
			for k := range h.Layers {
				h.Layers[k].Values = append(h.Layers[k].Values, float64(i)/float64(n))
			}
		}
		var b builder
		h.write(&b)
		text := b.String()
		cells := strings.Count(text, "<i ") - 2*len(levels[:10]) - 1 // without the keys
		if cells != 2*n || strings.Contains(text, "<node>") {
			t.Errorf("%d nodes: %d cells, want %d; names escaped: %v", n, cells, 2*n, !strings.Contains(text, "<node>"))
		}
		if perCell := len(text) / (2 * n); n > namedCells && perCell > 30 {
			t.Errorf("%d nodes: %d bytes a cell, want at most 30", n, perCell)
		}
	}
}

// TestMarks expects an outline for the marked nodes, and no others, in every size.
func TestMarks(t *testing.T) {
	for _, n := range []int{3, wideCells + 1, namedCells + 1, maxCells + 1} {
		h := HeatMap{Layers: []Layer{{Name: "cpu"}}, MarkedAs: "gone", Marked: []bool{false, false, true}} // the others are not
		for i := range n {
			h.Names = append(h.Names, strconv.Itoa(i))
			h.Layers[0].Values = append(h.Layers[0].Values, 0.35)
		}
		var b builder
		h.write(&b)
		text, mark := b.String(), "<i class=\"d m\"></i>"
		if n <= wideCells {
			mark = "<div class=\"m\"><b>2</b>"
		}
		marks := strings.Count(text, " m\"") + strings.Count(text, "\"m\"")
		if marks != 2 || !strings.Contains(text, mark) { // one is in the key
			t.Errorf("%d nodes: %d marks, want that of node 2, and one in the key:\n%.300s", n, marks, text)
		}
	}
}

// TestCoarse expects that of many nodes each cell shows the highest of several.
func TestCoarse(t *testing.T) {
	h := HeatMap{Layers: []Layer{{Name: "a"}, {Name: "b"}}}
	for i := range maxCells + 3 {
		h.Names = append(h.Names, strconv.Itoa(i))
		for k := range h.Layers {
			h.Layers[k].Values = append(h.Layers[k].Values, 0)
		}
	}
	h.Layers[1].Values[4] = 0.95
	var b builder
	h.write(&b)
	text := b.String()
	cells, full := strings.Count(text, "<i class="), strings.Count(text, "<i class=j>")
	if want := 2 * ((maxCells + 3 + 2) / 3); cells != want+20 || full != 1 {
		t.Errorf("%d cells, %d of them full; want %d and the keys, and 1", cells, full, want)
	}
	for _, part := range []string{"stands for 3 nodes", "title=\"0 to 29\"", "title=\"24990 to 25002\""} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q", part)
		}
	}
}

// TestLargePage expects that a page does not become too large, that small tables have all
// of their rows, and that a limit holds for tables of pages too.
func TestLargePage(t *testing.T) {
	small, large := Table{Head: []string{"n"}}, Table{Head: []string{"n", "text"}, Top: 1}
	for i := range 300 {
		small.Add(i)
	}
	for i := range maxRows {
		large.Add(i, strings.Repeat("<", 100))
	}
	p := Page{Sections: []Section{{Title: "Small", Table: small}, {Title: "Large", Table: large}, {Title: "Too", Table: large}}}
	for _, limit := range []int{0, 7} {
		var b strings.Builder
		if err := p.WriteHTML(&b, limit); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		parts := strings.Split(text, "<section")[1:]
		rows := make([]int, len(parts))
		for i, part := range parts {
			rows[i] = strings.Count(part, "<tr>") - 1
			if all := len(p.Sections[i].Table.Rows); rows[i] < all && !strings.Contains(part, fmt.Sprintf("and %d more rows", all-rows[i])) {
				t.Errorf("limit %d: %d of %d rows, and it does not say so", limit, rows[i], all)
			}
		}
		switch {
		case limit == 7 && !slices.Equal(rows, []int{7, 8, 8}):
			t.Errorf("limit 7: rows %v", rows)
		case limit == 0 && (len(text) > maxPage || len(text) < maxPage*9/10 || rows[0] != 300 || rows[1] != rows[2]):
			t.Errorf("%d bytes, rows %v", len(text), rows)
		}
	}
}

// TestLines draws the highest of many samples.
func TestLines(t *testing.T) {
	c := Lines{Series: []Series{{Name: "x"}}}
	for i := range 10 * maxPoints {
		c.At = append(c.At, float64(i))
		v := 0.0
		if i == 777 {
			v = 4
		}
		c.Series[0].Values = append(c.Series[0].Values, v)
	}
	var b builder
	c.write(&b)
	if text := b.String(); !strings.Contains(text, "V1.0") || strings.Count(text, "V") > 2*maxPoints {
		t.Errorf("the peak is not drawn, or %d points are", strings.Count(text, "V"))
	}
}

// TestAnyLimit writes tables with limits at the edges.
func TestAnyLimit(t *testing.T) {
	p := Page{Sections: []Section{{Title: "T", Table: Table{Head: []string{"n"}, Rows: [][]Cell{{"sum"}, {"a"}, {"b"}, {"c"}}, Top: 1}}}}
	for limit, want := range map[int]int{0: 4, 1: 2, 3: 4, 4: 4, math.MaxInt - 1: 4, math.MaxInt: 4} {
		var text, page strings.Builder
		if err := errors.Join(p.WriteText(&text, limit), p.WriteHTML(&page, limit)); err != nil {
			t.Fatal(err)
		}
		lines := 0
		for _, name := range []string{"sum", "a", "b", "c"} {
			lines += strings.Count(text.String(), "\n"+name+"\n")
		}
		if rows := strings.Count(page.String(), "<tr>") - 1; lines != want || rows != want {
			t.Errorf("limit %d: %d rows of text and %d of HTML, want %d", limit, lines, rows, want)
		}
	}
}

// TestLongTable folds a long table and says how many rows are left out.
func TestLongTable(t *testing.T) {
	table := Table{Head: []string{"n"}}
	for i := range maxRows + 5 {
		table.Add(i)
	}
	p := Page{Sections: []Section{{Title: "Long", Table: table}}}
	var b strings.Builder
	if err := p.WriteHTML(&b, 0); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Count(text, "<td>") != maxRows || !strings.Contains(text, "<details>") || !strings.Contains(text, "and 5 more rows") {
		t.Errorf("%d rows", strings.Count(text, "<td>"))
	}
}
