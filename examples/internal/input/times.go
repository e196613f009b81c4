package input

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// The annotations for simulations: when a pod arrives, counted from the beginning,
// and how long it runs once it is bound. The values are Go durations ("90s",
// "1h30m") or seconds ("90", "0.5"). Without the first, a pod is there from the
// beginning; without the second, it never ends. A workload sets them for its pods in
// its template.
const (
	AnnotationArrival = "berth-sched.github.io/arrival"
	AnnotationRunTime = "berth-sched.github.io/run-time"
)

// Forever is the run time of pods that never end.
const Forever time.Duration = -1

// Times holds when a pod arrives, and how long it runs.
type Times struct {
	Arrival time.Duration
	Run     time.Duration // or Forever
}

// Times returns the times of a pod, by its annotations. A pod from a table of the
// OpenB trace has the times of its row: it arrives at creation_time, and runs as
// long as from then to deletion_time.
func (c *Cluster) Times(p *api.Pod) (t Times, err error) {
	t.Run = Forever
	for _, a := range []struct {
		key string
		to  *time.Duration
	}{{AnnotationArrival, &t.Arrival}, {AnnotationRunTime, &t.Run}} {
		text, ok := p.Annotations[a.key]
		if !ok {
			continue
		}
		if *a.to, err = parseTime(text); err != nil {
			return t, c.explain(&api.InvalidError{
				Object: "pod " + p.Key(), Field: fmt.Sprintf("metadata.annotations[%s]", a.key), Value: text, Err: err,
			})
		}
	}
	return t, nil
}

// Timed reports whether the annotations of some pod set when it arrives or how long
// it runs. Rows of a table do not count, since they all have times.
func (c *Cluster) Timed() bool {
	for _, p := range c.Objects.Pods {
		_, comes := p.Annotations[AnnotationArrival]
		_, ends := p.Annotations[AnnotationRunTime]
		if (comes || ends) && !c.tables[c.files["pod "+p.Key()]] {
			return true
		}
	}
	return false
}

// longest bounds times, so that sums of a few do not overflow.
const longest = 50 * 365 * 24 * time.Hour

var errTime = errors.New("want a duration such as 90s or 1h30m, or a number of seconds, from 0 to 50 years")

func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil || !(seconds >= 0 && seconds <= longest.Seconds()) {
			return 0, errTime
		}
		d = time.Duration(seconds * float64(time.Second))
	}
	if d < 0 || d > longest {
		return 0, errTime
	}
	return d, nil
}
