package display

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Progress tells on a terminal, and elsewhere of what takes longer than a
// second, how much of some work is done. Make one with [NewProgress].
type Progress struct {
	w        io.Writer
	terminal bool
	total    int
	next     time.Time
	shown    bool
}

// NewProgress returns the progress of work in so many steps, from now on.
func NewProgress(w io.Writer, total int) *Progress {
	p := &Progress{w: w, total: total, next: time.Now().Add(time.Second)}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.terminal, p.next = true, time.Now()
		}
	}
	return p
}

// Step tells that so many steps are done, and says in words what came of them. A
// terminal gets a line that changes ten times a second, a file one a second.
func (p *Progress) Step(done int, format string, args ...any) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	text := fmt.Sprintf("%3d%%  ", 100*done/max(p.total, 1)) + fmt.Sprintf(format, args...)
	if p.shown = true; p.terminal {
		p.next = now.Add(time.Second / 10)
		fmt.Fprintf(p.w, "\r%s\033[K", text)
	} else {
		p.next = now.Add(time.Second)
		fmt.Fprintln(p.w, text)
	}
}

// Done takes the line off a terminal.
func (p *Progress) Done() {
	if p.terminal && p.shown {
		fmt.Fprint(p.w, "\r\033[K")
	}
}
