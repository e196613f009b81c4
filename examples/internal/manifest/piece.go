package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/config"
)

// A piece is one object of a stream of objects, as it was written.
type piece struct {
	text     []byte
	line     int // of its first byte, from 1
	document int // from 1
	item     int // its index in a list, -1 for none
	yaml     bool
	entry    bool // the text is an entry of a YAML list: it begins with a dash
}

// place names the piece as package api does.
func (p *piece) place() string {
	if p.item < 0 {
		return fmt.Sprintf("document %d", p.document)
	}
	return fmt.Sprintf("document %d, items[%d]", p.document, p.item)
}

// A listKind is the kind of the list that pieces are from.
type listKind struct{ kind, apiVersion string }

// wrap returns objects in JSON as a list of the kind, so that they may omit their own.
func (k listKind) wrap(objects []byte) []byte {
	if k.kind == "" {
		k.kind = "List"
	}
	text := append([]byte(`{"kind":`), quoted(k.kind)...)
	if k.apiVersion != "" {
		text = append(append(text, `,"apiVersion":`...), quoted(k.apiVersion)...)
	}
	text = append(text, `,"items":[`...)
	text = append(text, objects...)
	return append(text, "]}"...)
}

// quoted returns a text in JSON.
func quoted(text string) []byte {
	out, _ := json.Marshal(text) // a text has no error
	return out
}

// A FaultError says where in a file a fault is.
type FaultError struct {
	File string
	Line int // from 1; 0 if it is not known
	Err  error
}

// Error names the file, the line and the fault.
func (e *FaultError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Err.Error()
	}
	return e.File + ":" + strconv.Itoa(e.Line) + ": " + e.Err.Error()
}

// Unwrap returns the fault.
func (e *FaultError) Unwrap() error { return e.Err }

// lineOf returns the line of a field of the piece's object, or of what is around it.
func (p *piece) lineOf(field string) int { return p.linesOf([]string{field})[0] }

// linesOf is lineOf for many fields. It reads the piece once.
func (p *piece) linesOf(fields []string) []int {
	paths := slices.Clone(fields)
	for i := range paths {
		if p.entry {
			paths[i] = strings.TrimSuffix("[0]."+paths[i], ".")
		}
	}
	lines, begin := config.FieldLines(p.text, paths...), p.begin()
	for i := range lines {
		if lines[i] > 0 {
			lines[i] += p.line - 1
		} else {
			lines[i] = begin
		}
	}
	return lines
}

// begin returns the first line of the piece that is neither empty nor a comment.
func (p *piece) begin() int {
	line := p.line
	for text := range bytes.Lines(p.text) {
		if text = bytes.TrimSpace(text); len(text) > 0 && text[0] != '#' {
			return line
		}
		line++
	}
	return p.line
}

// fault says where the error of decoding the piece alone is.
func (p *piece) fault(file string, err error) error {
	var invalid *api.InvalidError
	var syntax *api.SyntaxError
	switch {
	case errors.As(err, &invalid):
		named := *invalid
		for _, alone := range []string{"document 1, items[0]", "document 1"} {
			if strings.Contains(named.Object, alone) {
				named.Object = strings.Replace(named.Object, alone, p.place(), 1)
				break
			}
		}
		if line := deepLine(invalid); line > 0 && !p.yaml {
			return &FaultError{file, p.line + line - 1, &named}
		}
		return &FaultError{file, p.lineOf(invalid.Field), &named}
	case errors.As(err, &syntax):
		return &FaultError{file, p.line + syntax.Line - 1, errors.New("not JSON: " + syntax.Problem)}
	}
	return &FaultError{file, p.begin(), err}
}

// deepLine returns the line that the error of a text with too many brackets names, 0 for any
// other error. Such a text cannot be searched for the field.
func deepLine(e *api.InvalidError) int {
	text := ""
	if e.Err != nil {
		text = e.Err.Error()
	}
	_, text, _ = strings.Cut(text, " levels at line ")
	number, _, _ := strings.Cut(text, ",")
	line, _ := strconv.Atoi(number)
	return line
}

// yamlFault says where the error of YAML text is that begins at the given line.
func yamlFault(file string, line int, err error) error {
	if n := yamlLine(err); n > 0 {
		_, why, _ := strings.Cut(err.Error(), ": ")
		return &FaultError{file, line + n - 1, errors.New(why)}
	}
	return &FaultError{file, line, err}
}

// yamlLine returns the line that an error of YAML text names, 0 if it names none.
func yamlLine(err error) int {
	rest, _ := strings.CutPrefix(err.Error(), "line ")
	number, _, found := strings.Cut(rest, ": ")
	if n, err := strconv.Atoi(number); found && err == nil {
		return n
	}
	return 0
}

// label names the piece's object as errors do: "pod default/web"; "" if it has no name.
func (p *piece) label(list listKind) string {
	text, err := p.json()
	if err != nil {
		return ""
	}
	var o struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
	}
	if err := unmarshal(text, &o); err != nil || o.Metadata.Name == "" {
		return ""
	}
	if o.Kind == "" {
		o.Kind = strings.TrimSuffix(list.kind, "List")
	}
	if o.Metadata.Namespace != "" {
		o.Metadata.Name = o.Metadata.Namespace + "/" + o.Metadata.Name
	}
	return strings.ToLower(o.Kind) + " " + o.Metadata.Name
}

// json returns the piece's object as JSON.
func (p *piece) json() ([]byte, error) {
	if !p.yaml {
		return p.text, nil
	}
	documents, err := config.YAMLToJSON(p.text)
	if err != nil {
		return nil, err
	}
	text := bytes.Join(documents, []byte("\n"))
	if p.entry {
		text = unlisted(text)
	}
	return text, nil
}

// unlisted takes the brackets off a list in JSON.
func unlisted(text []byte) []byte {
	text = bytes.TrimSpace(text)
	if len(text) < 2 || text[0] != '[' {
		return text
	}
	return text[1 : len(text)-1]
}
