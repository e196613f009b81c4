package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/cases"
)

// item is a case or, if it has steps, a sequence.
type item = cases.Sequence

// generate makes the item of that number and decodes it from its JSON. So an empty
// list that JSON leaves out is absent on both sides.
func (c config) generate(family string, number uint64) (*item, error) {
	var i item
	switch {
	case family == cases.SequenceFamily:
		i = *cases.GenerateSequence(c.seed, number, c.steps)
	case family == cases.ObjectSequenceFamily:
		i = *cases.GenerateObjects(c.seed, number, c.steps)
	case slices.Contains(cases.SequenceFamilies, family):
		i = *cases.GenerateStateful(family, c.seed, number, c.steps)
	default:
		i.Case = cases.Generate(family, c.seed, number)
	}
	text, err := json.Marshal(i)
	if err != nil {
		return nil, err
	}
	read := new(item)
	return read, json.Unmarshal(text, read)
}

// kind returns the subject of a difference, without names and values.
func kind(difference string) string {
	text, _, _ := strings.Cut(difference, " = ")
	text, _, _ = strings.Cut(text, " of ")
	text, _, _ = strings.Cut(text, "\n")
	if plugin, what, ok := strings.Cut(text, ": step "); ok {
		_, what, _ = strings.Cut(what, ": ")
		return plugin + ": " + what
	}
	return text
}

// line writes the item as one line of JSON.
func line(i *item) ([]byte, error) { return json.Marshal(i) }
