// Loadaware tells the story of a hot spot: the same pods come to the same nodes
// under request-based and under load-aware scheduling. Pods use more or less than
// they request, and two nodes are busy with work that requests do not show. In
// between, four nodes stop reporting for a while. Their metrics expire, and
// load-aware scheduling keeps new pods off them until they are back.
//
//	go run ./examples/loadaware
package main

import (
	"errors"
	"flag"
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
	switch err := run(os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "loadaware:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	if err := noArguments(args, stderr); err != nil {
		return err
	}
	load, err := estimator.NewLoad(estimator.LoadConfig{})
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
	_, err = io.WriteString(stdout, story(worlds[0], worlds[1]))
	return err
}

// noArguments rejects arguments: the story is always the same.
func noArguments(args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("loadaware", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(stderr, "Usage of loadaware: it takes no flags and no arguments.")
		return err
	case err != nil:
		return err
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q: it takes none", flags.Arg(0))
	}
	return nil
}

// scene introduces the story.
const scene = `The same %d pods come to %d nodes of %d cores, twice: placed by what they request,
and by what the nodes really use.

  - A pod uses a tenth, two thirds or the double of what it requests.
  - On node-02 and node-07 work that no request tells of takes 6 cores.
  - From minute %d to %d node-00 to node-%02d do not report. After three minutes their
    metrics have expired, and by load no pod goes there until they are back.

CPU in use: "=" up to that of the coolest node (min), "#" up to that of the hottest
(max). How many nodes are hot, that is above %d %%, comes behind.

`

// story compares the two worlds.
func story(requests, load *world) string {
	var b strings.Builder
	fmt.Fprintf(&b, scene, pods, nodes, cores, silentFrom/time.Minute, silentUntil/time.Minute, silent-1, hot)
	legend := func(what string) string { return fmt.Sprintf("%-*s %5s %5s %3s", barWidth, what, "max", "min", "hot") }
	fmt.Fprintf(&b, "%5s  %s  %s\n", "", legend("by requests"), legend("by load"))
	for i := range requests.moments {
		a, c := &requests.moments[i], &load.moments[i]
		note := ""
		if c.expired > 0 {
			note = fmt.Sprintf("  %d metrics expired", c.expired)
		}
		fmt.Fprintf(&b, "%4dm  %s  %s%s\n", int(a.at/time.Minute), bar(a), bar(c), note)
	}
	row := func(what string, value func(*world) float64, unit string) {
		decimals := 0
		if unit == "m" {
			decimals = minuteDecimals
		}
		fmt.Fprintf(&b, "%-48s %12.*f%-1s %12.*f%s\n", what, decimals, value(requests), unit, decimals, value(load), unit)
	}
	fmt.Fprintf(&b, "\n%-48s %13s %13s\n", "", "by requests", "by load")
	row("hottest node ever", func(w *world) float64 { return w.peak }, "%")
	row("mean spread between hottest and coolest node", func(w *world) float64 { return w.spread / float64(w.samples) }, "%")
	row("time that nodes were hot, added up", func(w *world) float64 { return w.hotTime().Minutes() }, "m")
	row("time that pods sat on hot nodes, added up", func(w *world) float64 { return w.hotPods.Minutes() }, "m")
	row("pods placed", func(w *world) float64 { return float64(w.placed) }, "")
	row("pods placed on nodes with expired metrics", func(w *world) float64 { return float64(w.blind) }, "")
	fmt.Fprintf(&b, "\nhot nodes by requests  %s\nhot nodes by load      %s\n", requests.hotList(), load.hotList())
	return b.String()
}

// minuteDecimals shows times exactly: samples are a quarter of a minute apart.
const minuteDecimals = 2

// hotTime returns how long nodes were hot, added up.
func (w *world) hotTime() (sum time.Duration) {
	for _, d := range w.hotNodes {
		sum += d
	}
	return sum
}

// hotList names the nodes that were hot, and for how long.
func (w *world) hotList() string {
	var list []string
	for i, d := range w.hotNodes {
		if d > 0 {
			list = append(list, fmt.Sprintf("%s %.*fm", nodeName(i), minuteDecimals, d.Minutes()))
		}
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

const barWidth = 22

// bar draws the load of the hottest and of the coolest node.
func bar(m *moment) string {
	const full = 110.0
	cells := func(percent float64) int { return min(barWidth, int(percent/full*barWidth+0.5)) }
	hottest, coolest := cells(m.hottest), cells(m.coolest)
	return fmt.Sprintf("%-*s %4.0f%% %4.0f%% %3d", barWidth, strings.Repeat("=", coolest)+strings.Repeat("#", hottest-coolest), m.hottest, m.coolest, m.hot)
}
