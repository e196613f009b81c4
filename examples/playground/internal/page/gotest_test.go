//go:build full

package page

import (
	"go/format"
	"strings"
	"testing"
)

// story makes a page with every step in it, and a text that Go cannot quote with backquotes.
func story(t testing.TB, sample string) *Page {
	t.Helper()
	p := opened(t, sample)
	texts := p.state.Texts
	if sample == "shop" {
		texts.Nodes = strings.Replace(texts.Nodes, "a-1, topology", "a-1, odd: \"\", topology", 1)
		texts.Pods = strings.Replace(texts.Pods, "{name: db-0, ", "{name: db-0, annotations: {odd: \"a `quote` and a \\\\ \"}, ", 1)
	}
	do(t, p, Request{Do: "edit", Texts: &texts})
	do(t, p, Request{Do: "seed", Seed: 5})
	node := p.world.snapshot.At(0).Name()
	for _, r := range []Request{
		{Do: "place", N: 3},
		{Do: "weigh", Weights: map[string]int64{"NodeResourcesFit": 7, "ImageLocality": 0}},
		{Do: "place", N: 2},
		{Do: "add", Name: node},
		{Do: "drain", Name: node},
		{Do: "place", N: 1},
	} {
		do(t, p, r)
	}
	if sample == "shop" {
		do(t, p, Request{Do: "evict", Name: "shop/cache-0"})
	}
	return p
}

// TestGoTestFormat checks that the Go test is Go, formatted as gofmt does. The tag full
// adds a test that runs it.
func TestGoTestFormat(t *testing.T) {
	for _, sample := range []string{"shop", "ties", "load"} {
		text := do(t, story(t, sample), Request{Do: "test"}).Text
		formatted, err := format.Source([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", sample, err)
		}
		if string(formatted) != text {
			t.Errorf("%s: gofmt changes the Go test", sample)
		}
	}
}
