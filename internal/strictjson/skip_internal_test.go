package strictjson

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawJSON writes a value, with white space, and now and then a byte that is wrong.
func drawJSON(t *rapid.T, b *strings.Builder, depth int) {
	space := func() {
		b.WriteString(rapid.SampledFrom([]string{"", "", " ", "\n            ", "\r\n\t"}).Draw(t, "space"))
	}
	text := func() {
		b.WriteString(rapid.SampledFrom([]string{`"a"`, `""`, `"longer than eight"`, `"é\n"`, `"\u00e9 and more"`}).Draw(t, "text"))
	}
	space()
	what := rapid.IntRange(0, 5).Draw(t, "what")
	if depth == 0 {
		what = rapid.IntRange(2, 5).Draw(t, "leaf")
	}
	switch what {
	case 0, 1:
		b.WriteByte("{["[what])
		for i := range rapid.IntRange(0, 3).Draw(t, "items") {
			if i > 0 {
				b.WriteByte(',')
			}
			if what == 0 {
				space()
				text()
				space()
				b.WriteByte(':')
			}
			drawJSON(t, b, depth-1)
		}
		space()
		b.WriteByte("}]"[what])
	case 2, 3:
		text()
	default:
		b.WriteString(rapid.SampledFrom([]string{"0", "-12.5e3", "true", "false", "null"}).Draw(t, "word"))
	}
	space()
}

// The fast loop consumes what the recursive descent consumes, and nothing else.
func TestSkipWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.SampledFrom([]int{0, 0, 1, 60, 70}).Draw(t, "around") {
			b.WriteByte('[')
		}
		drawJSON(t, &b, 4)
		around := len(b.String()) - len(strings.TrimLeft(b.String(), "["))
		text := b.String() + strings.Repeat("]", around) + " 1"
		if n := rapid.IntRange(-1, len(text)-1).Draw(t, "wrong"); n >= 0 && rapid.Bool().Draw(t, "is wrong") {
			text = text[:n] + rapid.SampledFrom([]string{"", "x", ",", "]", "}", ":", `"`, "\x00", "1"}).Draw(t, "instead") + text[n+1:]
		}
		max := rapid.SampledFrom([]int{2, 63, 64, 65, 1000}).Draw(t, "max depth")
		fast, slow := Scanner{data: []byte(text), maxDepth: max}, Scanner{data: []byte(text), maxDepth: max}
		begin := slow.Peek()
		if begin != '{' && begin != '[' {
			return
		}
		fast.Peek()
		ok := fast.skipWhole()
		err := slow.skipItems(begin)
		if ok && (err != nil || fast.Mark() != slow.Mark()) {
			t.Fatalf("skipWhole(%q) ends at %v; skipItems at %v with %v", text, fast.Mark(), slow.Mark(), err)
		}
		if !ok && err == nil && around < maxFast-5 {
			t.Fatalf("skipWhole(%q) gives up", text)
		}
		if !ok && fast.pos != len(text)-len(strings.TrimLeft(text, " \n\r\t")) {
			t.Fatalf("skipWhole(%q) gives up at %d", text, fast.pos)
		}
	})
}
