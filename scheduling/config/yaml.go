package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v2"
)

// ErrTooLarge says that a document is larger, once its aliases are resolved, than
// its text allows for.
var ErrTooLarge = errors.New("document too large once its aliases are resolved")

// YAMLToJSON returns the documents of a YAML or JSON stream as JSON, as Kubernetes
// reads manifests: mappings become objects with sorted keys, keys that are numbers
// or booleans become strings, and the last of several equal keys counts. Empty
// documents are left out. Text that starts with a brace or a bracket is read as a
// stream of JSON values, which are returned as they are; if it is no JSON it is
// tried as YAML.
//
// The error names the line. Hostile text is refused: a document may not grow
// beyond eight times the size of the stream by its aliases, and nesting is
// limited to 10,000 levels. The cost is otherwise linear in the size of data.
func YAMLToJSON(data []byte) ([][]byte, error) {
	var jsonErr error
	if c := firstByte(data); c == '{' || c == '[' {
		var docs [][]byte
		if docs, jsonErr = jsonDocuments(data); jsonErr == nil {
			return docs, nil
		}
	}
	var docs [][]byte
	line := 1
	for _, doc := range splitDocuments(data) {
		out, err := yamlToJSON(doc, len(data))
		if err != nil && jsonErr != nil {
			return nil, jsonErr
		}
		if err != nil {
			at, text := cutLine(err.Error())
			return nil, fmt.Errorf("line %d: %s", line+max(at, 1)-1, strings.TrimPrefix(text, "yaml: "))
		}
		if string(out) != "null" {
			docs = append(docs, out)
		}
		line += bytes.Count(doc, []byte{'\n'})
	}
	return docs, nil
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
		case err != nil:
			return nil, jsonError(data, err, dec.InputOffset())
		case string(doc) != "null":
			docs = append(docs, doc)
		}
	}
}

// jsonError returns err with the line where it is; offset is used for errors that
// do not tell theirs.
func jsonError(data []byte, err error, offset int64) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = syntax.Offset
	}
	offset = min(max(offset, 0), int64(len(data)))
	return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:offset], []byte{'\n'}), err)
}

// splitDocuments cuts a YAML stream at the lines that separate documents. The
// parts together are the stream.
func splitDocuments(data []byte) [][]byte {
	var docs [][]byte
	start, content := 0, false
	for pos := 0; pos < len(data); {
		end := bytes.IndexByte(data[pos:], '\n')
		if end < 0 {
			end = len(data)
		} else {
			end += pos + 1
		}
		line := bytes.TrimRight(data[pos:end], " \t\r\n")
		first := byte(0)
		if len(line) > 0 {
			first = line[0]
		}
		switch {
		case isMarker(line, "---") && content:
			docs = append(docs, data[start:pos])
			start, content = pos, true
		case isMarker(line, "..."):
			docs = append(docs, data[start:end])
			start, content = end, false
		case isMarker(line, "---") || first != 0 && first != '#' && (content || first != '%'):
			content = true
		}
		pos = end
	}
	return append(docs, data[start:])
}

// isMarker reports whether a line is a document marker, alone or before something.
func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t')
}

// yamlToJSON returns the first document of YAML text as JSON; size is that of the
// whole text.
func yamlToJSON(doc []byte, size int) ([]byte, error) {
	var v any
	if err := guarded(func() error { return yaml.Unmarshal(doc, &v) }); err != nil {
		return nil, err
	}
	w := jsonWriter{limit: 8*size + 1<<10}
	if err := w.value(v); err != nil {
		return nil, err
	}
	return w.out, nil
}

// duplicateKeys returns the errors of keys that stand twice in a mapping, in
// text that is otherwise right.
func duplicateKeys(doc []byte) []string {
	var v any
	var wrong *yaml.TypeError
	if err := guarded(func() error { return yaml.UnmarshalStrict(doc, &v) }); errors.As(err, &wrong) {
		return wrong.Errors
	}
	return nil
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
	default:
		b, err := json.Marshal(v)
		w.out = append(w.out, b...)
		return err
	}
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

// firstByte returns the first byte of data that is no white space, 0 if there is
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
