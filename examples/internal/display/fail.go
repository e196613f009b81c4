package display

import (
	"fmt"
	"io"
	"strings"

	"github.com/berth-sched/berth/internal/errtext"
)

// Fail writes the error of a program. Each line begins with the program's name. Lines with
// characters that are not seen are quoted: errors quote files that others wrote.
func Fail(w io.Writer, program string, err error) {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(w, "%s: %s\n", program, errtext.Visible(strings.TrimSuffix(line, "\n")))
	}
}
