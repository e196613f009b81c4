//go:build full

package manifest

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
)

// readJSON takes lists apart, and decodes a few bytes of objects at once.
func readJSON(text string, limit int) (objects string, err error) {
	s, o := Source{Name: "f", limit: limit}, new(api.Objects)
	if err := s.decodeJSON(o, strings.NewReader(text)); err != nil {
		return "", err
	}
	return show(o), nil
}

// TestJSONListsApart reads lists in JSON whose fields stand in an unusual order, or twice.
func TestJSONListsApart(t *testing.T) {
	const items = `[{"kind":"Node","metadata":{"name":"a"}},{"kind":"Node","metadata":{"name":"b"}}]`
	for _, test := range []struct{ name, text, want string }{ // an error, "" for none
		{"kind at last", `{"items":` + items + `,"kind":"NodeList"}`, ""},
		{"kind and version at last", `{"items":` + items + `,"kind":"List","apiVersion":"v1"}`, ""},
		{"null before", `{"items":null,"items":` + items + `,"kind":"List"}`, ""},
		{"no list after an object", `{"kind":"Node","metadata":{"name":"d"}}` + "\n" + `{"items":[],"kind":"Menu"}`, ""},

		{"items twice", `{"kind":"List","items":` + items + ",\n" + `"items":` + items + `}`, "f:2: document 1: items: is repeated"},
		{"items, then none", `{"kind":"List","items":` + items + `,"items":null}`, "f:1: document 1: items: is repeated"},
		{"no list after all", `{"items":` + items + `,"kind":"Menu"}`, `f:1: document 1: kind: "Menu": has items`},
		{"another kind", `{"kind":"NodeList","items":` + items + `,"kind":"PodList"}`, `f:1: document 1: kind: "PodList": must stand before the items`},
		{"version too late", `{"kind":"NodeList","items":` + items + `,"apiVersion":"example.com/v1"}`, `f:1: document 1: apiVersion: "example.com/v1": must stand before the items`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := readJSON(test.text, 1)
			if test.want != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.want) {
					t.Errorf("error %v, want %s", err, test.want)
				}
				return
			}
			if o, wholeErr := api.Decode([]byte(test.text)); wholeErr != nil || err != nil || got != show(o) {
				t.Errorf("taken apart %s, error %v; want what package api reads, error %v", got, err, wholeErr)
			}
		})
	}
}

// TestJSONListsApartAtRandom takes objects and lists apart. What is read is what package api reads.
func TestJSONListsApartAtRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes under the race detector, which finds nothing in one goroutine")
	}
	objects := []string{
		`{"kind":"Node","metadata":{"name":"a"}}`, `{"kind":"Node","metadata":{"name":"b"}}`, `{"kind":"Pod","metadata":{"name":"c"}}`, `{"metadata":{"name":"d"}}`,
		`{"kind":"Secret"}`, `{"kind":"List","items":[{"kind":"Node","metadata":{"name":"e"}}]}`,
	}
	fields := []string{
		`"kind":"List"`, `"kind":"NodeList"`, `"kind":"PodList"`, `"kind":"Menu"`, `"apiVersion":"v1"`, `"apiVersion":"example.com/v1"`, `"items":null`, `"items":[]`, `"metadata":{"items":[]}`, `"kind":null`,
	}
	read := 0
	for seed := range uint64(30_000) {
		r := rand.New(rand.NewPCG(seed, 3))
		text := ""
		for range 1 + r.IntN(3) {
			if r.IntN(3) == 0 {
				text += objects[r.IntN(len(objects))]
				continue
			}
			members := []string{fields[r.IntN(4)]}
			for range r.IntN(3) {
				members = append(members, fields[r.IntN(len(fields))])
			}
			for range 1 + r.IntN(9)/8 {
				var items []string
				for range r.IntN(4) {
					items = append(items, objects[r.IntN(len(objects))])
				}
				members = append(members, `"items":[`+strings.Join(items, ",")+"]")
			}
			r.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
			text += "{" + strings.Join(members, ",") + "}"
		}
		limit := 1 + r.IntN(200)
		got, err := readJSON(text, limit)
		if err != nil {
			continue
		}
		read++
		if o, err := api.Decode([]byte(text)); err != nil {
			if !missesKind(err) { // what is taken apart may omit the kind of a list
				t.Errorf("%s is read in pieces of %d bytes, but not as a whole: %v", text, limit, err)
			}
		} else if got != show(o) {
			t.Errorf("%s in pieces of %d bytes: %s, want %s", text, limit, got, show(o))
		}
	}
	if read < 5000 {
		t.Errorf("%d texts are read; the test shows too little", read)
	}
}
