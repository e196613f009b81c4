package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v2"
)

// ErrTooLarge reports that a document with its aliases resolved is larger than its
// text allows.
var ErrTooLarge = errors.New("document too large once its aliases are resolved")

// maxFlow bounds, in bytes, text that starts like JSON but is not JSON, and is tried
// as YAML.
const maxFlow = 1 << 20

// YAMLToJSON returns the documents of a YAML or JSON stream as JSON, as Kubernetes
// reads manifests. Mappings become objects with sorted keys, number and boolean keys
// become strings, and the last of several equal keys counts. Empty documents are
// left out; a document that is neither a mapping nor a list is an error. Text that
// starts with a brace or a bracket is read as a stream of JSON values, which are
// returned unchanged; if it is not JSON, up to 1 MiB of it is tried as YAML.
//
// The error names the line. Hostile text is rejected: aliases may not expand a
// document beyond eight times the size of the stream, and YAML may nest 150
// collections, JSON 10,000. Values may be short, but not all of them: beyond about 20,000 values
// the text must have a few bytes for each. The cost is otherwise linear in the size of
// data.
//
// Differs: %TAG directives and UTF-16.
// Original: Kubernetes reads both.
// Here: they are errors.
// Why: a directive repeats its prefix for every tag, so a small text takes gigabytes.
func YAMLToJSON(data []byte) ([][]byte, error) {
	if c := firstByte(data); c == '{' || c == '[' {
		docs, err := jsonDocuments(data)
		if err == nil || len(data) > maxFlow {
			return docs, err
		}
		if flow, flowErr := yamlDocuments(data); flowErr == nil {
			return flow, nil
		}
		return nil, err
	}
	return yamlDocuments(data)
}

// yamlDocuments returns the documents of a YAML stream.
func yamlDocuments(data []byte) ([][]byte, error) {
	if err := checkYAML(data, readCost); err != nil {
		return nil, err
	}
	return decodedDocuments(data, yaml.NewDecoder(bytes.NewReader(data)))
}

// decodedDocuments returns the documents of a YAML stream that has passed checkYAML. dec
// decodes it.
func decodedDocuments(data []byte, dec *yaml.Decoder) ([][]byte, error) {
	var docs [][]byte
	for number := 0; ; number++ {
		out, err := yamlToJSON(dec.Decode, len(data))
		switch {
		case err == io.EOF:
			return docs, nil
		case err != nil:
			return nil, yamlFault(data, number, err)
		case string(out) == "null":
			continue
		}
		if err := checkDocument(out); err != nil {
			return nil, fmt.Errorf("line %d: %w", documentOf(data, number).line, err)
		}
		docs = append(docs, out)
	}
}

// checkDocument rejects JSON values other than objects and arrays.
func checkDocument(doc []byte) error {
	if doc[0] != '{' && doc[0] != '[' {
		return errors.New("the document is neither a mapping nor a list")
	}
	return nil
}

// jsonDocuments returns the values of a JSON stream.
func jsonDocuments(data []byte) ([][]byte, error) {
	var docs [][]byte
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		var doc json.RawMessage
		switch err := dec.Decode(&doc); {
		case err == io.EOF:
			return docs, nil
		case err == nil:
			if err = checkDocument(doc); err == nil {
				docs = append(docs, doc)
				continue
			}
			fallthrough
		default:
			return nil, jsonError(data, err, dec.InputOffset())
		}
	}
}

// jsonError returns err with its line; offset is used for errors without an offset
// of their own.
func jsonError(data []byte, err error, offset int64) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.Is(err, io.ErrUnexpectedEOF):
		offset = int64(len(data))
	}
	offset = min(max(offset, 0), int64(len(data)))
	return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:offset], []byte{'\n'}), err)
}

// A yamlDocument is a part of a stream and the line where it starts.
type yamlDocument struct {
	text []byte
	line int
}

// documentOf returns a document of a YAML stream, counted from 0, for an error about
// it. Documents are separated by lines; directives belong to the document that follows.
func documentOf(data []byte, number int) yamlDocument {
	start, startLine := 0, 1
	begun := false // the document has its marker or a text line
	line := 1
	for pos := 0; pos < len(data); line++ {
		end := len(data)
		if i := bytes.IndexByte(data[pos:], '\n'); i >= 0 {
			end = pos + i + 1
		}
		text := bytes.TrimRight(data[pos:end], " \t\r\n")
		isStart := isMarker(text, "---")
		if begun && (isStart || isMarker(text, "...")) {
			if number--; number < 0 {
				return yamlDocument{data[start:pos], startLine}
			}
			start, startLine, begun = pos, line, false
		}
		if isStart || !isComment(text) && !isMarker(text, "...") && text[0] != '%' {
			if !begun && !isStart {
				start, startLine = pos, line
			}
			begun = true
		}
		pos = end
	}
	return yamlDocument{data[start:], startLine}
}

// isComment reports whether a line is blank or a comment.
func isComment(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return len(line) == 0 || line[0] == '#'
}

// isMarker reports whether a line is a document marker, alone or before other text.
func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t')
}

// yamlToJSON returns a document as JSON. decode decodes it; size is the size of the
// whole text.
func yamlToJSON(decode func(any) error, size int) ([]byte, error) {
	var v any
	if err := guarded(func() error { return decode(&v) }); err != nil {
		return nil, err
	}
	w := jsonWriter{limit: 8*size + 1<<10}
	if err := w.value(v); err != nil {
		return nil, err
	}
	return w.out, nil
}

// repeatedKeys parts the errors about keys that occur twice in a mapping from other errors
// of the YAML library in its strict mode. The first of equal keys counts there.
func repeatedKeys(err error) (keys []string, other error) {
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) {
		return nil, err
	}
	for _, text := range wrong.Errors {
		if !strings.Contains(text, "already set in map") {
			return nil, err
		}
	}
	return wrong.Errors, nil
}

// guarded calls the YAML library and turns a panic in it into an error.
func guarded(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	return call()
}

// A jsonWriter writes what the YAML library decodes as JSON.
type jsonWriter struct {
	out   []byte
	limit int // bytes
}

func (w *jsonWriter) value(v any) error {
	if len(w.out) > w.limit {
		return ErrTooLarge
	}
	switch v := v.(type) {
	case map[any]any:
		return w.object(v)
	case []any:
		w.out = append(w.out, '[')
		for i, item := range v {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			if err := w.value(item); err != nil {
				return err
			}
		}
		w.out = append(w.out, ']')
		return nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errNotFinite
		}
	}
	b, err := json.Marshal(v)
	w.out = append(w.out, b...)
	return err
}

var errNotFinite = errors.New("a number that JSON does not have")

// specialNumber matches a plain scalar that YAML reads as infinite or not a number.
var specialNumber = regexp.MustCompile(`(?:^|[\s\[{,:])([-+]?\.(?:inf|Inf|INF|nan|NaN|NAN))(?:$|[\s\]},])`)

// notFinite returns the error about the first number of the document that is infinite
// or not a number. The YAML library does not tell its line.
func notFinite(doc yamlDocument) error {
	for i, line := range bytes.Split(doc.text, []byte{'\n'}) {
		if isComment(line) {
			continue
		}
		if m := specialNumber.FindSubmatch(line); m != nil {
			return fmt.Errorf("line %d: %s is %w; write a finite number", doc.line+i, m[1], errNotFinite)
		}
	}
	return fmt.Errorf("line %d: the document has %w; write a finite number", doc.line, errNotFinite)
}

func (w *jsonWriter) object(m map[any]any) error {
	fields := make(map[string]any, len(m))
	for k, v := range m {
		name, err := keyText(k)
		if err != nil {
			return err
		}
		if _, twice := fields[name]; twice {
			return fmt.Errorf("yaml: the keys of a mapping are not unique: %q", name)
		}
		fields[name] = v
	}
	w.out = append(w.out, '{')
	for i, name := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		b, err := json.Marshal(name)
		if err != nil {
			return err
		}
		w.out = append(append(w.out, b...), ':')
		if err := w.value(fields[name]); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	return nil
}

// keyText returns the key of a YAML mapping as the name of a field.
func keyText(key any) (string, error) {
	switch k := key.(type) {
	case string:
		return k, nil
	case int:
		return strconv.Itoa(k), nil
	case int64:
		return strconv.FormatInt(k, 10), nil
	case bool:
		return strconv.FormatBool(k), nil
	case float64:
		switch s := strconv.FormatFloat(k, 'g', -1, 32); s {
		case "+Inf":
			return ".inf", nil
		case "-Inf":
			return "-.inf", nil
		case "NaN":
			return ".nan", nil
		default:
			return s, nil
		}
	}
	return "", fmt.Errorf("yaml: a %T cannot be the key of a mapping", key)
}

// firstByte returns the first byte of data that is not white space, 0 if there is
// none.
func firstByte(data []byte) byte {
	data = bytes.TrimLeft(data, " \t\r\n")
	if len(data) == 0 {
		return 0
	}
	return data[0]
}

// looksLikeJSON reports whether a configuration is read as JSON only.
func looksLikeJSON(data []byte) bool { return firstByte(data) == '{' }
