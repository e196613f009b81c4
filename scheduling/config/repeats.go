package config

import (
	"bytes"
	"errors"

	"go.yaml.in/yaml/v2"

	"github.com/berth-sched/berth/internal/strictjson"
)

// repeats holds the rules for texts in which repeated fields are looked for.
var repeats = strictjson.Dialect{Name: "config", MaxDepth: maxNestingJSON}

var errFound = errors.New("there is one")

// YAMLToJSONStrict is [YAMLToJSON] that also reports whether some object may have a field
// twice. [RepeatedFields] finds which. Without a repeated field that costs little more: YAML
// is parsed once, and JSON is read once more.
func YAMLToJSONStrict(data []byte) (documents [][]byte, repeated bool, err error) {
	if c := firstByte(data); c == '{' || c == '[' {
		docs, err := jsonDocuments(data)
		if err == nil {
			return docs, JSONRepeats(data), nil
		}
		if len(data) <= maxFlow {
			if flow, repeated, flowErr := yamlStrict(data); flowErr == nil {
				return flow, repeated, nil
			}
		}
		return nil, false, err
	}
	return yamlStrict(data)
}

// yamlStrict is YAMLToJSONStrict for YAML. The YAML library refuses repeated keys, and also
// keys that a mapping has besides those that it merges, so then the text is read again.
func yamlStrict(data []byte) (documents [][]byte, repeated bool, err error) {
	if err := checkYAML(data, readCost); err != nil {
		return nil, false, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.SetStrict(true)
	if documents, err = decodedDocuments(data, dec); err == nil {
		return documents, false, nil
	}
	documents, err = decodedDocuments(data, yaml.NewDecoder(bytes.NewReader(data)))
	return documents, err == nil, err
}

// JSONRepeats reports whether an object in a text has a field twice. The text is JSON: values
// one after another, or with commas between them. What follows a fault is not looked at.
func JSONRepeats(data []byte) bool {
	return repeats.Repeats(data, func(strictjson.Path) error { return errFound }) != nil
}

// maxRepeats bounds what RepeatedFields returns.
const maxRepeats = 100

// RepeatedFields returns the fields that objects of a document, YAML or JSON, have more than
// once, each as the steps that lead to it, such as
//
//	"spec", "containers", "[0]", "resources", "requests", "cpu"
//
// A field is returned for each time that it is repeated, in the order of the text; at most
// 100 are. A field that a YAML mapping has besides what it merges from another one is not
// repeated. A document that cannot be read has none.
func RepeatedFields(document []byte) [][]string {
	var found [][]string
	if looksLikeJSON(document) {
		err := repeats.Repeats(document, func(path strictjson.Path) error {
			steps := make([]string, len(path))
			for i := range path {
				steps[i] = path[i : i+1].Dotted()
			}
			if found = append(found, steps); len(found) == maxRepeats {
				return errFound
			}
			return nil
		})
		if err != nil || repeats.Check(document) == nil {
			return found
		}
		found = nil
		document = append([]byte("--- "), document...) // YAML that begins with a brace
	}
	if checkYAML(document, readCost) != nil {
		return nil
	}
	// A MapSlice has all keys of a mapping, and none that it merges. A list would fit it, too.
	w := repeatWalk{}
	var list []yaml.MapSlice
	if err := guarded(func() error { return yaml.Unmarshal(document, &list) }); err == nil {
		for i := range list {
			w.inside(indexStep(i), func() { w.mapping(list[i]) })
		}
		return w.found
	}
	var items yaml.MapSlice
	if err := guarded(func() error { return yaml.Unmarshal(document, &items) }); err != nil {
		return nil
	}
	w.mapping(items)
	return w.found
}

// A repeatWalk walks over a document and notes repeated fields.
type repeatWalk struct {
	steps []string
	found [][]string
}

func (w *repeatWalk) inside(step string, walk func()) {
	w.steps = append(w.steps, step)
	walk()
	w.steps = w.steps[:len(w.steps)-1]
}

func (w *repeatWalk) mapping(items yaml.MapSlice) {
	names := make(map[string]bool, len(items))
	for _, item := range items {
		name, err := keyText(item.Key)
		if err != nil {
			continue
		}
		w.inside(name, func() {
			if names[name] && len(w.found) < maxRepeats {
				w.found = append(w.found, append([]string(nil), w.steps...))
			}
			names[name] = true
			w.value(item.Value)
		})
	}
}

func (w *repeatWalk) value(v any) {
	switch v := v.(type) {
	case yaml.MapSlice:
		w.mapping(v)
	case []any:
		for i := range v {
			w.inside(indexStep(i), func() { w.value(v[i]) })
		}
	}
}

func indexStep(i int) string { return strictjson.Path{{Kind: strictjson.Index, Index: i}}.Dotted() }
