//go:build full

package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	tagPattern       = regexp.MustCompile(`<(/?)([a-z0-9]+)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>`)
	attributePattern = regexp.MustCompile(`([a-z-]+)(?:="([^"]*)")?`)
)

// TestMarkup checks the page for what a validator of HTML refuses: tags that are not
// closed, attributes that do not exist, roles of the wrong element, spaces in addresses,
// and references to nothing.
func TestMarkup(t *testing.T) {
	data, err := static.ReadFile("static/index.html")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	void := []string{"meta", "link", "input", "br", "wbr"}
	var open []string
	ids, refers := map[string]bool{}, map[string]string{}
	tags := tagPattern.FindAllStringSubmatch(page, -1)
	if want := strings.Count(page, "<") - strings.Count(page, "<!"); len(tags) != want || want < 100 {
		t.Errorf("%d tags are well formed, want all %d", len(tags), want)
	}
	for _, m := range tags {
		name, attributes := m[2], map[string]string{}
		if m[1] == "/" {
			if len(open) == 0 || open[len(open)-1] != name {
				t.Fatalf("</%s> closes %v", name, open)
			}
			open = open[:len(open)-1]
			continue
		}
		for _, a := range attributePattern.FindAllStringSubmatch(m[3], -1) {
			if _, twice := attributes[a[1]]; twice {
				t.Errorf("%s: attribute %s twice", m[0], a[1])
			}
			attributes[a[1]] = a[2]
		}
		for _, a := range []string{"wrap", "align", "border", "bgcolor", "width", "height", "style", "onclick"} {
			if _, ok := attributes[a]; ok {
				t.Errorf("%s: attribute %s has no place here: use the style sheet, or the script", m[0], a)
			}
		}
		if role := attributes["role"]; role != "" && !slices.Contains([]string{"div", "p", "span"}, name) {
			t.Errorf("%s: the role %s is for a div around it", m[0], role)
		}
		for _, a := range []string{"href", "src"} {
			if strings.ContainsAny(attributes[a], " <>") {
				t.Errorf("%s: write %%20, %%3C and %%3E in the address", m[0])
			}
		}
		if id := attributes["id"]; id != "" {
			if ids[id] {
				t.Errorf("the id %s is there twice", id)
			}
			ids[id] = true
		}
		for _, a := range []string{"for", "aria-labelledby", "aria-describedby"} {
			if attributes[a] != "" {
				refers[attributes[a]] = m[0]
			}
		}
		if !slices.Contains(void, name) {
			open = append(open, name)
		}
	}
	if len(open) > 0 {
		t.Errorf("%v are not closed", open)
	}
	for id, tag := range refers {
		if !ids[id] {
			t.Errorf("%s refers to %s, which is not there", tag, id)
		}
	}
}
