package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// writeJSON writes a value as JSON. Characters that are not seen are escaped: a terminal would obey
// some of them, and they could imitate other output.
func writeJSON(w io.Writer, value any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		return err
	}
	_, err := w.Write(escapeHidden(b.Bytes()))
	return err
}

// escapeHidden escapes characters of a JSON text that are not seen. Line ends apart, they can only
// be in its strings, which are the same when they are decoded.
func escapeHidden(text []byte) []byte {
	hidden := func(r rune) bool { return r >= utf8.RuneSelf-1 && !unicode.IsPrint(r) }
	if !bytes.ContainsFunc(text, hidden) {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		if !hidden(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, "\\u%04x", unit)
		}
	}
	return out
}
