package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/golden/podgroups"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/cases"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/rival"
)

// groupFamilies are compared with the gates of pod groups on, so each runs alone: single
// groups, trees of groups, and what one pod preempts of groups that leave as a whole.
var groupFamilies = []string{"podgroups", "podgrouptrees", "podgroupvictims"}

// groupRuns is how many whole attempts kube-scheduler makes for a case: it chooses by
// chance among placements that are equally good. Where none of these ends as berth's does,
// it makes moreGroupRuns: of eight equal placements one stays unseen in one of 10^14 cases.
const (
	groupRuns     = 4
	moreGroupRuns = 250
)

// comparePodGroups runs the cases of pod groups: seven of eight with
// TopologyAwareWorkloadScheduling, the last ones without. It returns the number of
// mismatches.
func comparePodGroups(c config, stdout io.Writer) (int, error) {
	if c.families[0] != groupFamilies[0] {
		return compareTrees(c, stdout)
	}
	restore, err := enable([]string{"GenericWorkload"})
	if err != nil {
		return 0, err
	}
	defer restore()
	t := &groupTally{config: c, stdout: stdout}
	plain := c.cases / 8
	for _, part := range []struct {
		from, to int
		topology bool
	}{{c.cases - plain, c.cases, false}, {0, c.cases - plain, true}} {
		if part.topology {
			off, err := rival.Enable("TopologyAwareWorkloadScheduling")
			if err != nil {
				return 0, err
			}
			defer off()
		}
		t.run(part.from, part.to, part.topology)
	}
	fmt.Fprintf(stdout, "podgroups: %d placements, %d successful, %d scored; %d ends of attempts, %d groups placed, %d preemptions with victims, %d gated, seed %d\n",
		t.placements, t.successful, t.scored, t.finals, t.placed, t.preempted, t.gated, c.seed)
	fmt.Fprintf(stdout, "%d cases, %d mismatches\n", t.cases, t.mismatches)
	return t.mismatches, t.err
}

// groupTally counts what was compared.
type groupTally struct {
	config
	stdout io.Writer

	mu                                                                                  sync.Mutex
	cases, mismatches, placements, successful, scored, finals, placed, preempted, gated int
	err                                                                                 error
}

func (t *groupTally) run(from, to int, topology bool) {
	t.each(from, to, func(i int) { t.one(i, topology) })
}

// each calls f for each number, by several workers.
func (t *groupTally) each(from, to int, f func(i int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range t.workers {
		wg.Go(func() {
			for i := range next {
				if t.only < 0 || int(t.only) == i {
					f(i)
				}
			}
		})
	}
	for i := from; i < to; i++ {
		next <- i
	}
	close(next)
	wg.Wait()
}

func (t *groupTally) one(i int, topology bool) {
	c := cases.PodGroup(t.seed, uint64(i), topology)
	t.ask(c, rival.Group, podgroups.Check)
}

// compareTrees compares the ends of attempts for trees of groups, or for single pods.
func compareTrees(c config, stdout io.Writer) (int, error) {
	restore, err := enable([]string{"GenericWorkload", "TopologyAwareWorkloadScheduling", "CompositePodGroup"})
	if err != nil {
		return 0, err
	}
	defer restore()
	t := &groupTally{config: c, stdout: stdout}
	ask, check := cases.PodGroupTree, podgroups.CheckTree
	if c.families[0] == "podgroupvictims" {
		ask, check = cases.PodGroupVictims, podgroups.CheckVictims
	}
	t.each(0, c.cases, func(i int) { t.ask(ask(t.seed, uint64(i)), rival.GroupEnds, check) })
	fmt.Fprintf(stdout, "%s: %d ends of attempts, %d cases with pods placed, %d preemptions with victims, %d gated, seed %d\n",
		c.families[0], t.finals, t.placed, t.preempted, t.gated, c.seed)
	fmt.Fprintf(stdout, "%d cases, %d mismatches\n", t.cases, t.mismatches)
	return t.mismatches, t.err
}

// ask compares one case. Where no end of a few attempts is berth's, many are made.
func (t *groupTally) ask(c *golden.PodGroupCase, rival func(*golden.PodGroupCase, int) error, check func(*golden.PodGroupCase) []string) {
	var differences []string
	var err error
	for _, runs := range []int{groupRuns, moreGroupRuns} {
		if err = rival(c, runs); err != nil {
			break
		}
		if differences = checkGroup(c, check); len(differences) == 0 {
			break
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		if t.err == nil {
			t.err = fmt.Errorf("%s: %w", c.ID, err)
		}
		return
	}
	t.cases++
	t.count(c)
	if len(differences) > 0 {
		if t.mismatches++; t.mismatches <= t.shown {
			fmt.Fprintf(t.stdout, "%s:\n", c.ID)
			for _, d := range differences[:min(len(differences), 8)] {
				fmt.Fprintf(t.stdout, "  %s\n", d)
			}
		}
	}
}

func (t *groupTally) count(c *golden.PodGroupCase) {
	e := &c.Expect
	if e.Gated != "" {
		t.gated++
	}
	t.placements += len(e.Placements)
	for _, p := range e.Placements {
		if p.Status.Code == "Success" {
			t.successful++
		}
		if p.Scores != nil {
			t.scored++
		}
	}
	t.finals += len(e.Finals)
	if slices.ContainsFunc(e.Finals, anyPlaced) {
		t.placed++
	}
	if slices.ContainsFunc(e.Finals, func(f golden.PodGroupFinal) bool { return len(f.Victims) > 0 }) {
		t.preempted++
	}
}

// anyPlaced reports whether a pod was placed.
func anyPlaced(f golden.PodGroupFinal) bool {
	for _, p := range f.Pods {
		if p.Node != "" {
			return true
		}
	}
	return false
}

// checkGroup asks berth; a panic is a difference.
func checkGroup(c *golden.PodGroupCase, check func(*golden.PodGroupCase) []string) (differences []string) {
	defer func() {
		if p := recover(); p != nil {
			differences = []string{fmt.Sprintf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	return check(c)
}
