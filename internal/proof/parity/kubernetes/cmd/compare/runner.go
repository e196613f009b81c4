package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/cases"
)

// runner runs all cases.
type runner struct {
	config
	stdout, stderr io.Writer

	next atomic.Int64 // block
	done atomic.Int64 // cases

	lock   sync.Mutex
	counts map[string]*count
	seen   map[string]bool // kinds of differences
	first  []mismatch      // one of each kind
	others []mismatch
	err    error
}

// count is the result for a family.
type count struct {
	cases, placements, known, mismatches, left, crashes int
	needs                                               map[string]bool
}

// why lists the missing plugins that kept cases from running.
func (c *count) why() string {
	if len(c.needs) == 0 {
		return ""
	}
	return "needs " + strings.Join(slices.Sorted(maps.Keys(c.needs)), ", ")
}

// mismatch is an item that differs.
type mismatch struct {
	family string
	number uint64
	verdict
}

// sequenceShare says that one in so many blocks has sequences when all families run.
// A sequence takes as long as hundreds of cases.
const sequenceShare = 50

// family returns the family of a block.
func (r *runner) family(block int) string {
	if len(r.families) == len(allFamilies()) {
		if block%sequenceShare == sequenceShare/2 {
			return cases.SequenceFamily
		}
		return r.families[block%(len(r.families)-len(cases.SequenceFamilies))]
	}
	return r.families[block%len(r.families)]
}

// run returns the number of mismatches.
func (r *runner) run() (int, error) {
	r.counts, r.seen = map[string]*count{}, map[string]bool{}
	begin := time.Now()
	stop := r.report(begin)
	var wg sync.WaitGroup
	if r.only >= 0 {
		wg.Go(r.workOnly)
	} else {
		for range r.workers {
			wg.Go(r.work)
		}
	}
	wg.Wait()
	stop()
	if r.err != nil {
		return 0, r.err
	}
	r.show()
	return r.summarize(time.Since(begin)), nil
}

// report prints the progress from time to time.
func (r *runner) report(begin time.Time) (stop func()) {
	ticker := time.NewTicker(15 * time.Second)
	end := make(chan struct{})
	go func() {
		for {
			select {
			case <-end:
				return
			case <-ticker.C:
				fmt.Fprintf(r.stderr, "%d of %d cases after %v\n", r.done.Load(), r.cases, time.Since(begin).Round(time.Second))
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(end)
	}
}

// work runs block after block.
func (r *runner) work() {
	a := newAsker()
	defer a.forget()
	for {
		block := int(r.next.Add(1)) - 1
		from, to := block*cases.Block, min((block+1)*cases.Block, r.cases)
		if from >= r.cases {
			return
		}
		family := r.family(block)
		if family == cases.SequenceFamily && len(r.families) > len(cases.SequenceFamilies) {
			// A few are enough; the others of the block are cases.
			for _, name := range cases.SequenceFamilies {
				from = r.some(a, name, from, to)
			}
			family = "mixed"
		}
		for number := from; number < to; number++ {
			if !r.one(a, family, uint64(number)) {
				return
			}
		}
	}
}

// workOnly runs a single case.
func (r *runner) workOnly() {
	a := newAsker()
	defer a.forget()
	r.one(a, r.families[0], uint64(r.only))
}

// some runs the first two cases of a block.
func (r *runner) some(a *asker, family string, from, to int) int {
	to = min(from+2, to)
	for number := from; number < to; number++ {
		r.one(a, family, uint64(number))
	}
	return to
}

// one runs a case. It returns false if the whole run must end.
func (r *runner) one(a *asker, family string, number uint64) bool {
	i, err := r.generate(family, number)
	v := verdict{err: err}
	if err == nil {
		v = a.ask(i)
	}
	r.done.Add(1)
	r.lock.Lock()
	defer r.lock.Unlock()
	if v.err != nil && r.err == nil {
		r.err = fmt.Errorf("%s case %d: %w", family, number, v.err)
	}
	if r.err != nil {
		return false
	}
	c := r.counts[family]
	if c == nil {
		c = &count{needs: map[string]bool{}}
		r.counts[family] = c
	}
	c.cases++
	c.placements += v.placements
	c.known += v.known
	if v.crash {
		c.crashes++
	}
	if v.needs != "" {
		c.left++
		c.needs[v.needs] = true
	}
	if len(v.differences) > 0 {
		c.mismatches++
		m := mismatch{family, number, v}
		if k := kind(v.differences[0]); !r.seen[k] {
			r.seen[k] = true
			r.first = append(r.first, m)
		} else if len(r.others) < r.shown {
			r.others = append(r.others, m)
		}
	}
	return true
}

// show shrinks mismatches and prints them, with the first difference of the original
// item.
func (r *runner) show() {
	a := newAsker()
	defer a.forget()
	list := append(r.first, r.others...)
	for _, m := range list[:min(len(list), r.shown)] {
		i, err := r.generate(m.family, m.number)
		if err != nil {
			fmt.Fprintf(r.stderr, "%s: %v\n", m.family, err)
			continue
		}
		i, differences := a.shrink(i, m.differences)
		fmt.Fprintf(r.stderr, "%s: at first: %s\n", i.ID, m.differences[0])
		for _, d := range differences {
			fmt.Fprintf(r.stderr, "%s: made small: %s\n", i.ID, d)
		}
		text, err := line(i)
		if err != nil {
			fmt.Fprintf(r.stderr, "%s: %v\n", i.ID, err)
			continue
		}
		fmt.Fprintf(r.stdout, "%s\n", text)
	}
}

// summarize prints the counts.
func (r *runner) summarize(took time.Duration) (mismatches int) {
	t := tabwriter.NewWriter(r.stderr, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "family\tcases\tplacements\tknown deviations\toriginal crashes\tnot run\tmismatches\t")
	total := 0
	for _, family := range slices.Sorted(maps.Keys(r.counts)) {
		c := r.counts[family]
		total += c.cases
		mismatches += c.mismatches
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n", family, c.cases, c.placements, c.known, c.crashes, c.left, c.mismatches, c.why())
	}
	t.Flush()
	for _, text := range deviations {
		fmt.Fprintf(r.stderr, "not compared: %s\n", text)
	}
	fmt.Fprintf(r.stderr, "seed %d, %v\n", r.seed, took.Round(time.Second))
	fmt.Fprintf(r.stdout, "%d cases, %d mismatches\n", total, mismatches)
	return mismatches
}
