// Command soak runs a random history of a cluster and takes both paths, the
// reference path and the incremental one, for every decision and every preemption.
// It ends with a line "N steps, M differences". If there are differences, the exit
// status is 1.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/berth-sched/berth/internal/proof/soak"
)

func main() {
	steps := flag.Int("steps", 100_000, "number of random steps")
	seed := flag.Uint64("seed", 1, "seed of the history")
	replay := flag.Bool("replay", false, "print each difference with all that is needed to decide again")
	flag.Parse()

	began := time.Now()
	last := began
	res, err := soak.Run(*steps, *seed, func(done int) {
		if time.Since(last) > 5*time.Second {
			last = time.Now()
			fmt.Fprintf(os.Stderr, "%d of %d steps, %s\n", done, *steps, time.Since(began).Round(time.Second))
		}
	})
	for _, d := range res.Differences {
		fmt.Println(d)
		if *replay {
			fmt.Printf("%s\n", d.Replay)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
	fmt.Printf("%d decisions, %d placed, %d unschedulable, seed %d, %s\n",
		res.Decisions, res.Placed, res.Unschedulable, *seed, time.Since(began).Round(time.Millisecond))
	c := res.Preemption
	fmt.Printf("%d attempts to make room: %d preemptions, %d evictions (%d lingering, %d against a budget), %d waits, %d may never\n",
		c.Attempts, c.Preemptions, c.Evictions, c.Lingering, c.Violations, c.Waits, c.Never)
	fmt.Printf("%d nominations, %d renounced, %d claimed, %d decisions beside nominated pods\n", c.Nominations, c.Renounced, c.Claimed, c.Beside)
	fmt.Printf("%d steps, %d differences\n", res.Steps, res.Count)
	if res.Count > 0 {
		os.Exit(1)
	}
}
