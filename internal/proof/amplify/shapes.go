package amplify

import (
	"fmt"
	"strings"
)

// Repeat returns a shape: unit as often as fits between before and after.
func Repeat(name, before, unit, after string) Shape {
	return Shape{name, func(n int) []byte {
		return []byte(before + strings.TrimSuffix(strings.Repeat(unit, max(1, (n-len(before)-len(after))/len(unit))), ",") + after)
	}}
}

// Numbered is Repeat for units that differ: each has its number in place of %d.
func Numbered(name, before, unit, after string) Shape {
	return Shape{name, func(n int) []byte {
		var b strings.Builder
		b.WriteString(before)
		for i := 0; b.Len() < n; i++ {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, unit, i)
		}
		b.WriteString(after)
		return []byte(b.String())
	}}
}

// nested returns a shape of values in each other.
func nested(name, before, open, middle, shut, after string) Shape {
	return Shape{name, func(n int) []byte {
		depth := max(1, (n-len(before)-len(after))/(len(open)+len(shut)))
		return []byte(before + strings.Repeat(open, depth) + middle + strings.Repeat(shut, depth) + after)
	}}
}

// values are what a place in a document may be filled with. Each has a unit that is
// repeated.
var values = []struct{ name, before, unit, after string }{
	{"empty objects", "[", "{},", "]"},
	{"empty lists", "[", "[],", "]"},
	{"numbers", "[", "1,", "]"},
	{"nulls", "[", "null,", "]"},
	{"empty texts", "[", `"",`, "]"},
	{"short texts", "[", `"a",`, "]"},
	{"a long text", `"`, "a", `"`},
	{"escapes", `"`, `\u0000`, `"`},
	{"control bytes", `"`, "\x7f", `"`},
	{"a long number", "", "9", ""},
	{"fractions", "[", "0.1e1,", "]"},
	{"one name", "{", `"a":1,`, "}"},
	{"one empty name", "{", `"":{},`, "}"},
	{"spaces", "[", " ", "]"},
}

// JSON returns the shapes in place of the verb %s of each frame, such as
// `{"spec":{"containers":%s}}`.
func JSON(frames ...string) (shapes []Shape) {
	for _, frame := range frames {
		before, after, _ := strings.Cut(frame, "%s")
		for _, v := range values {
			shapes = append(shapes, Repeat(v.name+" in "+frame, before+v.before, v.unit, v.after+after))
		}
		shapes = append(shapes,
			Numbered("names in "+frame, before+"{", `"a%d":1`, "}"+after),
			Numbered("names of texts in "+frame, before+"{", `"%d":""`, "}"+after),
			Numbered("names of objects in "+frame, before+"{", `"%d":{}`, "}"+after),
			nested("deep lists in "+frame, before, "[", "", "]", after),
			nested("deep objects in "+frame, before, `{"a":`, "1", "}", after),
			nested("unclosed lists in "+frame, before, "[", "", "", ""),
		)
	}
	return shapes
}
