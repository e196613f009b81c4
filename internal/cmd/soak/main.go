// Command soak runs a random history of a cluster and takes both paths for every
// decision and every preemption. It ends with the line
//
//	N steps, M differences, H % hits, B bypassed, F faults
//
// Hits and bypasses are those of the incremental path. The exit status is 1 if there
// is a difference or a fault, or if there are fewer hits than the mix of clusters must
// give.
//
// With -tenants N it places innocent pods beside a hostile user instead, for N rounds of
// each kind of hostility. The exit status is 1 if the rate of innocent pods falls below
// 80 % of what it is without that user, does not come back to 95 %, or if memory stays.
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
	tenants := flag.Int("tenants", 0, "rounds of each kind of hostility; 0: compare the paths")
	replay := flag.Bool("replay", false, "print each difference with all that is needed to decide again")
	flag.Parse()
	if *tenants > 0 {
		beside(*tenants)
		return
	}

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
	for _, f := range res.FaultErrors {
		fmt.Printf("%s\n%s\n", f, f.Stack)
		if *replay {
			fmt.Printf("%s\n", f.Replay)
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
	g := res.Given
	fmt.Printf("%d devices given: %d with admin access, %d partitions, %d shares, %d on the network, %d by requests for all\n", g.All, g.Admin, g.Partitions, g.Shares, g.Network, g.Whole)
	fmt.Printf("%d nominations, %d taken back, %d claimed, %d decisions beside nominated pods\n", c.Nominations, c.ClearedNominations, c.Claimed, c.Beside)
	for i, m := range res.Mixes {
		fmt.Printf("budget %d: %d hits (%.1f %%), %d misses, %d bypassed\n", i, m.Hits, m.HitRate(), m.Misses, m.Bypassed)
	}
	fmt.Println(&res)
	if err := res.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// beside places innocent pods beside a hostile user.
func beside(rounds int) {
	phases, err := soak.Tenants(rounds)
	ok := err == nil
	for _, p := range phases {
		verdict := ""
		if p.Relative < p.Least || p.Late > 0 || p.Heap > phases[0].Heap+soak.TenantMemory {
			verdict, ok = " FAIL", false
		}
		fmt.Println(p.String() + verdict)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
	} else {
		fmt.Printf("allocations of a round afterwards: %.1f %%\n", 100*phases[len(phases)-1].Allocations)
	}
	if !ok {
		os.Exit(1)
	}
}
