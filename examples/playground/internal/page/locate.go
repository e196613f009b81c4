package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/config"
)

// A Problem is what is wrong with a text.
type Problem struct {
	// Area is nodes, pods, config, link, weights or page.
	Area string `json:"area"`
	// Line is counted from 1; 0 if the problem concerns all of the area.
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

// lineIn matches the line in the text of an error.
var lineIn = regexp.MustCompile(`\bline (\d+)(?:, byte \d+)?: `)

// problemOf says what is wrong with the text of an area, and where.
func problemOf(area, text string, err error) Problem {
	var invalid *api.InvalidError
	var syntax *api.SyntaxError
	switch {
	case errors.As(err, &invalid):
		return Problem{area, locate([]byte(text), invalid.Object, invalid.Field), invalid.Error()}
	case errors.As(err, &syntax):
		return Problem{area, syntax.Line, "not JSON: " + syntax.Problem}
	}
	line, why := 0, strings.TrimPrefix(err.Error(), area+": ")
	if m := lineIn.FindStringSubmatchIndex(why); m != nil {
		line, _ = strconv.Atoi(why[m[2]:m[3]])
		why = why[:m[0]] + why[m[1]:]
	}
	return Problem{area, line, why}
}

// A written object is one of a text, with the line of its document and its path there.
type written struct {
	document  []byte
	line      int // of the document's first line
	path      string
	label     string // "pod default/web"
	place     string // "document 2, items[0]"
	namespace bool   // the label has one
}

// locate returns the line of a field of an object, or of what is around it; 0 if the text
// has no such object.
func locate(text []byte, object, field string) int {
	var near *written
	for _, w := range objectsOf(text) {
		if w.is(object) {
			return w.lineOf(field)
		}
		if w.made(object) && near == nil {
			near = &w
		}
	}
	if near != nil {
		return near.lineOf("spec.template." + field)
	}
	return 0
}

// is reports whether an error means the object: by its label, or by its place.
func (w *written) is(object string) bool {
	if object == w.label || object == w.place || strings.HasSuffix(object, "("+w.place+")") {
		return true
	}
	kind, name, _ := strings.Cut(w.label, " ")
	return !w.namespace && object == kind+" default/"+name
}

// made reports whether the object is a pod that the written object stands for: its name is
// the workload's and a number or a node.
func (w *written) made(object string) bool {
	name, isPod := strings.CutPrefix(object, "pod ")
	_, own, _ := strings.Cut(w.label, " ")
	if !w.namespace {
		own = "default/" + own
	}
	return isPod && strings.HasPrefix(name, own+"-") && !strings.HasPrefix(w.label, "pod ")
}

func (w *written) lineOf(field string) int {
	for _, path := range []string{field, "metadata.name"} {
		if line := config.FieldLine(w.document, strings.Trim(w.path+"."+path, ".")); line > 0 {
			return w.line + line - 1
		}
	}
	if _, name, ok := strings.Cut(w.label, " "); ok { // the document is too large to be looked into
		name = name[strings.LastIndexByte(name, '/')+1:]
		if at := bytes.Index(w.document, []byte(strconv.Quote(name))); at >= 0 {
			return w.line + bytes.Count(w.document[:at], []byte("\n"))
		}
	}
	return w.line
}

// A head is what names an object.
type head struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Items []head `json:"items"`
}

// objectsOf takes a text apart. What cannot be read is left out.
func objectsOf(text []byte) (list []written) {
	number := 0
	for _, d := range documentsOf(text) {
		documents, err := config.YAMLToJSON(d.text)
		if err != nil || len(documents) == 0 {
			continue
		}
		number++
		place := "document " + strconv.Itoa(number)
		var h head
		_ = json.Unmarshal(documents[0], &h) // a field of the wrong type leaves the others
		for i, item := range h.Items {
			if item.Kind == "" {
				item.Kind = strings.TrimSuffix(h.Kind, "List")
			}
			path := "items[" + strconv.Itoa(i) + "]"
			list = append(list, item.written(d, path, place+", "+path))
		}
		list = append(list, h.written(d, "", place))
	}
	return list
}

func (h *head) written(d document, path, place string) written {
	w := written{document: d.text, line: d.line, path: path, place: place, namespace: h.Metadata.Namespace != ""}
	w.label = strings.ToLower(h.Kind) + " " + h.Metadata.Name
	if w.namespace {
		w.label = strings.ToLower(h.Kind) + " " + h.Metadata.Namespace + "/" + h.Metadata.Name
	}
	return w
}

// A document is a part of a stream, with the line where it begins.
type document struct {
	text []byte
	line int
}

// documentsOf splits a stream of JSON values, or of YAML documents.
func documentsOf(text []byte) (list []document) {
	if start := bytes.TrimLeft(text, " \t\r\n"); len(start) > 0 && start[0] == '{' {
		d := json.NewDecoder(bytes.NewReader(text))
		for begin := 0; ; {
			var value json.RawMessage
			if d.Decode(&value) != nil {
				break
			}
			end := int(d.InputOffset())
			first := end - len(value)
			list = append(list, document{text[first:end], 1 + bytes.Count(text[:first], []byte("\n"))})
			begin = end
			if begin >= len(text) {
				break
			}
		}
		if len(list) > 0 {
			return list
		}
	}
	line, begin, first := 1, 0, 1
	for pos := 0; pos < len(text); line++ {
		end := pos + len(text[pos:])
		if i := bytes.IndexByte(text[pos:], '\n'); i >= 0 {
			end = pos + i + 1
		}
		if row := bytes.TrimRight(text[pos:end], " \t\r\n"); string(row) == "---" || bytes.HasPrefix(row, []byte("--- ")) {
			list = append(list, document{text[begin:pos], first})
			begin, first = pos, line
		}
		pos = end
	}
	return append(list, document{text[begin:], first})
}
