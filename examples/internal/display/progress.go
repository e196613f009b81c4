package display

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Progress shows how much of some work is done: always on a terminal, and elsewhere
// after the first second. Make one with [NewProgress].
type Progress struct {
	w        io.Writer
	terminal bool
	total    int
	next     time.Time
	shown    bool
}

// NewProgress returns the progress of work with total steps, 0 if that is not known. Time
// counts from now.
func NewProgress(w io.Writer, total int) *Progress {
	p := &Progress{w: w, total: total, next: time.Now().Add(time.Second)}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.terminal, p.next = true, time.Now()
		}
	}
	return p
}

// Step reports that done steps are complete, and describes the results. A terminal
// gets a line that changes ten times a second; a file gets one line a second.
func (p *Progress) Step(done int, format string, args ...any) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	text := fmt.Sprintf(format, args...)
	if p.total > 0 {
		text = fmt.Sprintf("%3d%%  %s", 100*done/p.total, text)
	}
	if p.shown = true; p.terminal {
		p.next = now.Add(time.Second / 10)
		fmt.Fprintf(p.w, "\r%s\033[K", text)
	} else {
		p.next = now.Add(time.Second)
		fmt.Fprintln(p.w, text)
	}
}

// Done removes the line from a terminal.
func (p *Progress) Done() {
	if p.terminal && p.shown {
		fmt.Fprint(p.w, "\r\033[K")
	}
}
