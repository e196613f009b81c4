package resource

import (
	"strconv"
	"strings"
)

// SyntaxError reports that a text is not a quantity, and why.
type SyntaxError struct {
	// Text is the text, or its beginning if it is long.
	Text string
	// Reason completes a sentence whose subject is the text: "is empty".
	Reason string
}

// Error returns one line that quotes the text and gives the reason.
func (e *SyntaxError) Error() string {
	return "quantity " + strconv.Quote(e.Text) + " " + e.Reason
}

// maxQuoted is the number of bytes that an error repeats of a text.
const maxQuoted = 64

// syntaxError returns the error for text. It keeps a short copy, so an error does
// not hold a long text in memory.
func syntaxError(text, reason string) *SyntaxError {
	if len(text) > maxQuoted {
		text = text[:maxQuoted] + "..."
	}
	return &SyntaxError{Text: strings.Clone(text), Reason: reason}
}
