// Package errtext bounds what errors say of input. Text that others chose may be as long
// as their input; an error that repeats it would be too.
package errtext

import (
	"fmt"
	"strings"
)

// Cut returns s if it has at most limit bytes. Otherwise it returns the first limit
// bytes, less what is not UTF-8, followed by the length of s.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(s[:limit], ""), len(s))
}
