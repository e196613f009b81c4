package engine

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
)

// TestSightings: bases are built for their second pod, until a third of the bases have had
// one; then for their first, until most are seen only once again.
func TestSightings(t *testing.T) {
	var s sightings
	ask := func(key string) (build, first bool) { return s.see(key) }
	for i := range firstFew - 1 {
		key := fmt.Sprint("few ", i)
		if build, _ := ask(key); build {
			t.Fatalf("base %d was built for its first pod: %+v", i, s)
		}
		if build, first := ask(key); !build || first {
			t.Fatalf("base %d was not built for its second pod: %v, %v", i, build, first)
		}
		if s.once[key] {
			t.Fatalf("base %d has been built, and its key is still remembered", i)
		}
	}
	if build, first := ask("next"); !build || !first {
		t.Fatalf("a base was not built for its first pod, though all have had a second: %+v", s)
	}
	one, other := new(framework.PodInfo), new(framework.PodInfo)
	b := &base{first: true, pod: one}
	before := s.again
	s.seeAgain(b, one)
	if s.again != before {
		t.Error("the first pod of a base counts as its second")
	}
	s.seeAgain(b, other)
	s.seeAgain(b, other)
	if s.again != before+1 || b.first {
		t.Errorf("the second pod of a base counts %d times, want 1", s.again-before)
	}
	built := 0
	for i := range 4 * firstMost {
		if build, _ := ask(fmt.Sprint("once ", i)); build {
			built++
		}
	}
	if built > 2*firstFew {
		t.Errorf("%d bases were built for pods that come once", built)
	}
	for i := range 2 * firstMost { // templates come back
		key := fmt.Sprint("again ", i)
		if build, first := ask(key); first {
			s.seeAgain(&base{first: true, pod: one}, other)
		} else if !build {
			ask(key)
		}
	}
	if build, first := ask("last"); !build || !first {
		t.Errorf("a base was not built for its first pod, though the last %d have had a second: %+v", firstMost, s)
	}
	if len(s.once) > onceMost {
		t.Errorf("%d keys are remembered, want at most %d", len(s.once), onceMost)
	}
	for i := range 3 * onceMost {
		s.again = 0
		ask(fmt.Sprint("many ", i))
	}
	if len(s.once) > onceMost {
		t.Errorf("%d keys are remembered, want at most %d", len(s.once), onceMost)
	}
}

// TestAskedIsBounded asks for ever new classes while the budget is used up: the keys of
// those that are not admitted are remembered up to a number.
func TestAskedIsBounded(t *testing.T) {
	e := New(nil, 1)
	e.stats.Bytes = 2
	c := newClass()
	e.recency.use(c)
	for i := range 3 * askedMost {
		e.clock++
		c.used = e.clock // the class that is kept is in use
		if e.admits(fmt.Sprint(i)) {
			t.Fatalf("class %d is admitted, and there is no room", i)
		}
		if len(e.asked) > askedMost {
			t.Fatalf("%d keys are remembered, want at most %d", len(e.asked), askedMost)
		}
	}
}
