// Package strictjson decodes JSON into Go values as Kubernetes does: names match
// exactly, every error has the path of its value, and limits bound the work.
//
// # Why not encoding/json
//
// encoding/json matches names regardless of case, hides repeated names, and
// loses the path inside types that decode themselves. It stops at the first
// value that does not fit. Arguments of plugins need all errors; objects of a
// cluster need the first one, with its place.
//
// # Parts
//
//	Scanner   reads tokens in place and checks that they are JSON
//	shape     is the table of one type: its reader, and its fields by name
//	Dialect   holds the rules of one caller, as data, and the shapes
//	Decoder   walks one text with the shapes of a dialect
//	Handler   is told of unknown names, repeated names and misfits
//	Counter   is a Handler that only counts; it lets equal values share memory
//
// A package has one [Dialect] for its lifetime and makes a [Decoder] per text:
//
//	var dialect = strictjson.Dialect{Name: "api", MaxDepth: 1000}
//
//	var d strictjson.Decoder
//	d.Init(&dialect, data, handler)
//	err := d.Value(&pod)
//
// # Errors
//
// A [SyntaxError] and a [LimitError] always stop the decoder. A [Misfit] goes to
// the handler, which returns an error to stop or nil to go on. All three carry
// structure; each caller writes the texts that its users read.
//
// # Cost
//
// Work is linear in the length of the text. A shape is built when a text first
// needs it, once per process. Short strings that repeat in a text share memory. After
// [Decoder.Share], maps, lists and pointers with the same text do so too, if they are
// read for the same field: most values of a large text are then skipped and not read.
// What no field takes is skipped in one loop (skip.go).
//
// # Seam for encoding/json/v2
//
// Once encoding/json/v2 needs no experiment flag, jsontext.Decoder can replace
// [Scanner]. Its methods PeekKind, ReadToken, ReadValue and SkipValue match
// those of Scanner, given AllowDuplicateNames(true) and AllowInvalidUTF8(true).
// The walker (value.go, nested.go) stays until json.Unmarshal can go on after an
// error. Outside this package only package api reads tokens, for headers and
// lists; it uses the methods of Scanner.
//
// # Concurrency and determinism
//
// Any number of goroutines may use a Dialect once its fields are set. A Decoder
// belongs to one. Results and errors depend on the text and the dialect alone.
package strictjson
