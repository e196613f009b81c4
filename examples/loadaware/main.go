// Loadaware tells the story of a hot spot: the same pods come to the same nodes
// under request-based and under load-aware scheduling. What pods use differs
// from what they request, and two nodes are busy with work that requests do not
// show. In between, four nodes stop reporting for a while: their metrics expire,
// and load-aware scheduling keeps new pods off them until they are back.
//
//	go run ./examples/loadaware
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "loadaware:", err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
	load, err := estimator.NewLoad(estimator.LoadAware{})
	if err != nil {
		return err
	}
	byRequests := scheduling.Profile{
		Name:   "requests",
		Filter: []framework.Plugin{filter.NodeResourcesFit{}},
		Score:  []scheduling.Weighted{{Plugin: scoring.NodeResourcesFit{}}},
		Seed:   1,
	}
	byLoad := scheduling.Profile{
		Name:    "load",
		Filter:  []framework.Plugin{filter.NodeResourcesFit{}, filter.LoadAware{Load: load}},
		Score:   []scheduling.Weighted{{Plugin: scoring.LoadAware{Load: load}}},
		Reserve: []framework.Plugin{estimator.Assigner{}},
		Seed:    1,
	}
	var worlds [2]*world
	for i, profile := range []scheduling.Profile{byRequests, byLoad} {
		if worlds[i], err = simulate(profile, load); err != nil {
			return err
		}
	}
	_, err = io.WriteString(out, story(worlds[0], worlds[1]))
	return err
}

// story compares the two worlds.
func story(requests, load *world) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d nodes of %d cores, CPU in use on the hottest node (#) and on the coolest one (=)\n\n", nodes, cores)
	fmt.Fprintf(&b, "%5s  %-36s  %s\n", "", "by requests", "by load")
	for i := range requests.moments {
		a, c := &requests.moments[i], &load.moments[i]
		note := ""
		if c.expired > 0 {
			note = fmt.Sprintf("  %d metrics expired", c.expired)
		}
		fmt.Fprintf(&b, "%4dm  %s  %s%s\n", int(a.at/time.Minute), bar(a), bar(c), note)
	}
	row := func(what string, value func(*world) float64, unit string) {
		fmt.Fprintf(&b, "%-48s %12.0f%-1s %12.0f%s\n", what, value(requests), unit, value(load), unit)
	}
	fmt.Fprintf(&b, "\n%-48s %13s %13s\n", "", "by requests", "by load")
	row("hottest node ever", func(w *world) float64 { return w.peak }, "%")
	row("mean spread between hottest and coolest node", func(w *world) float64 { return w.spread / float64(w.samples) }, "%")
	row(fmt.Sprintf("time that nodes were above %d %%", hot), func(w *world) float64 { return w.hotNodes.Minutes() }, "m")
	row("time that pods sat on such nodes", func(w *world) float64 { return w.hotPods.Minutes() }, "m")
	row("pods placed", func(w *world) float64 { return float64(w.placed) }, "")
	row("pods placed on silent nodes", func(w *world) float64 { return float64(w.blind) }, "")
	return b.String()
}

// bar draws the load of the hottest and of the coolest node.
func bar(m *moment) string {
	const width, full = 26, 130.0
	cells := func(percent float64) int { return min(width, int(percent/full*width+0.5)) }
	hottest, coolest := cells(m.hottest), cells(m.coolest)
	return fmt.Sprintf("%-*s %3.0f%% %3.0f%%", width, strings.Repeat("=", coolest)+strings.Repeat("#", hottest-coolest), m.hottest, m.coolest)
}
