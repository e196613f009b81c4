//go:build full

package manifest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/amplify"
)

// TestSourceAmplifies measures the memory to read texts with fields that look misspelt, that
// are unknown, and that are repeated, and to find lines in them. What reads an object once for
// each field, or looks at all fields for each object, takes more than linear memory.
func TestSourceAmplifies(t *testing.T) {
	amplify.Run(t, amplify.Decoder{
		Name: "manifest", Base: 1 << 20, Most: 1500, Decode: func(text []byte) {
			s, o := Source{Name: "f", Strict: true}, new(api.Objects)
			_ = s.Decode(o, bytes.NewReader(text))
			var fields []*Field
			for i := range 20 {
				fields = append(fields, &Field{Object: "pod default/p", Path: fmt.Sprintf("spec.x%d", i)})
			}
			s.Find(fields)
		},
		Texts: []amplify.Shape{
			numbered("unknown fields", "", "---\nkind: Pod\nmetadata: {name: p, x%d: 1}\n", ""),
			numbered("unknown fields in JSON", "", "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p\", \"x%d\": 1}}\n", ""),
			numbered("misspelt fields", "", "---\nkind: Pod\nmetadata: {name: p}\nspec: {n%s: 1}\n", ""),
			numbered("misspelt fields of one object", "kind: Pod\nmetadata: {name: p}\nspec:\n", "  n%s: 1\n", ""),
			numbered("misspelt fields of one object in JSON", `{"kind":"Pod","metadata":{"name":"p"},"spec":{"a":1`, ",\n\"n%s\": 1", "}}"),
			numbered("misspelt fields of elements", "kind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n", "  - restartPoli%s: 1\n", ""),
			numbered("repeated fields", "kind: Pod\nmetadata: {name: p}\nspec:\n  nodeSelector:\n", "    x%[1]d: 1\n    x%[1]d: 2\n", ""),
			numbered("repeated fields in JSON", `{"kind":"Pod","metadata":{"name":"p"},"spec":{"a":1`, ",\n\"x%[1]d\": 1,\"x%[1]d\": 2", "}}"),
			numbered("repeated fields of one name", "", "---\nkind: Pod\nkind: Pod\nmetadata: {name: p, name: p}\n", ""),
			numbered("items", "kind: List\nitems:\n", "- kind: Pod\n  metadata: {name: p, x%d: 1}\n", ""),
			numbered("keys of a long name", "kind: Pod\nmetadata: {name: "+strings.Repeat("p", 500)+"}\nspec:\n", "  n%s: 1\n", ""),
		},
	})
}

// numbered is a shape that repeats a part with a number, or with the field odeName as people
// misspell it.
func numbered(name, before, part, after string) amplify.Shape {
	return amplify.Shape{Name: name, Text: func(n int) []byte {
		var b strings.Builder
		b.WriteString(before)
		for i := 0; b.Len() < n; i++ {
			switch {
			case strings.Contains(part, "%s"):
				fmt.Fprintf(&b, part, misspell(i))
			case strings.Contains(part, "%"):
				fmt.Fprintf(&b, part, i)
			default:
				b.WriteString(part)
			}
		}
		b.WriteString(after)
		return []byte(b.String())
	}}
}

// misspell returns what is left of nodeName with two letters that are wrong.
func misspell(i int) string {
	letters := []byte("odeName")
	letters[i%7] = 'a' + byte(i/7%26)
	letters[(i+1)%7] = 'a' + byte(i/7/26%26)
	return string(letters)
}
