package main

import (
	"testing"

	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/cases"
)

// TestStateful counts the events in sequences: every event must happen somewhere.
func TestStateful(t *testing.T) {
	counts := map[string]int{}
	a := newAsker()
	defer a.forget()
	for _, family := range cases.SequenceFamilies[1:] {
		for number := range uint64(14) {
			i, err := config{seed: 3, steps: 250}.generate(family, number)
			if err != nil {
				t.Fatal(err)
			}
			v := a.ask(i)
			if v.err != nil || len(v.differences) > 0 {
				t.Fatalf("%s: %v %q", i.ID, v.err, v.differences)
			}
			for name, n := range v.events {
				counts[name] += n
			}
		}
	}
	for _, name := range append(reasonsToMeet,
		"placed", "placed as promised", "placed elsewhere", "given back", "bound to a volume", "volume made", "volume not made", "volume written",
		"promised", "promised again", "several candidates", "promise taken back", "no room", "not eligible", "victim gone at once", "victim leaving",
		"node relabelled", "pod changed", "reverted for another pod",
	) {
		if counts[name] == 0 {
			t.Errorf("%q never happened, of %v", name, counts)
		}
	}
	t.Log(counts)
}
