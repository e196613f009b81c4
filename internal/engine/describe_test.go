package engine

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A chapter is one thing that happens to a cluster, and what it shows.
type chapter struct {
	text string
	do   func(m *machine)
}

// decide asks about pods of a class.
func decide(t *testing.T, m *machine, class, times int) {
	t.Helper()
	for range times {
		m.ask(t, class, 0, 1000)
	}
}

// TestStories compares what Describe says, chapter by chapter, with golden files that
// are meant to be read.
func TestStories(t *testing.T) {
	ask := func(class, times int) func(*machine) { return func(m *machine) { decide(t, m, class, times) } }
	for name, story := range map[string][]chapter{
		"sharing": {
			{"A pod comes. It is the first of its base, and the reference path decides.", ask(2, 1)},
			{"The second one builds the class.", ask(2, 1)},
			{"Seven more come; the class has a tree of its own.", ask(2, 7)},
			{"After a few more it asks the tree of its base: nothing else tells nodes apart.", ask(2, 2)},
			{"A gate takes part that is asked about each node, so the class has its own tree again.", func(m *machine) {
				m.live = nodeGate
				m.closed["n1"] = true
				m.log = append(m.log, "n1")
				decide(t, m, 2, 1)
			}},
			{"The gate has nothing to do any more. The class shares again after nine decisions.", func(m *machine) {
				m.live = 0
				decide(t, m, 2, 9)
			}},
			{"A node is removed. The base moves, and the class finds everything again.", func(m *machine) {
				m.check(m.snap.RemoveNode("n4"))
				decide(t, m, 2, 1)
			}},
		},
		"groups": {
			{"Two pods come: the class has columns for the two scorers that normalize.", ask(0, 2)},
			{"A gate shuts zone z1. Its nodes are one group, and the gate is asked about one of them.", func(m *machine) {
				m.live, m.zone, m.flips = zoneGate, "z1", 1
				decide(t, m, 0, 1)
			}},
			{"The gate opens z1 and shuts z2. A scorer that treats zones alike adds offsets.", func(m *machine) {
				m.live, m.zone, m.flips = zoneGate|zoneScorer, "z2", 2
				m.bias["z0"], m.bias["z1"] = 3, 9
				decide(t, m, 0, 1)
			}},
			{"The scorer now likes z0 best: only the offsets change.", func(m *machine) {
				m.bias["z0"] = 12
				decide(t, m, 0, 1)
			}},
			{"Another class of the same base comes. It has columns and groups of its own.", func(m *machine) {
				decide(t, m, 1, 1)
			}},
		},
		"guess": {
			{"A scorer treats zones alike. After some decisions the class asks a tree of its base.", func(m *machine) {
				m.live, m.bias["z1"] = zoneScorer, 5
				decide(t, m, 2, 12)
			}},
			{"A second class of the base comes, with another gate. Its groups are those of the first: a guess.", func(m *machine) {
				m.live = zoneScorer | nodeGate
				decide(t, m, 3, 2)
			}},
			{"Then only the gate takes part in it, and tells nodes apart. No plugin has groups, so after a decision there are none.", func(m *machine) {
				m.live = nodeGate
				decide(t, m, 3, 2)
			}},
			{"The first class comes anew. For it the guess is in vain from the beginning.", func(m *machine) {
				m.engine.drop(m.engine.classes["2"])
				decide(t, m, 2, 3)
			}},
		},
		"time": {
			{"Some nodes are tired for a while. Their rows have deadlines.", func(m *machine) {
				m.snap.SetNow(m.snap.Now().Add(30 * time.Second))
				decide(t, m, 0, 2)
			}},
			{"50 seconds later, those whose deadlines have come are asked again.", func(m *machine) {
				m.snap.SetNow(m.snap.Now().Add(50 * time.Second))
				decide(t, m, 0, 1)
			}},
			{"The clock goes back, and all rows are found again.", func(m *machine) {
				m.snap.SetNow(m.snap.Now().Add(-70 * time.Second))
				decide(t, m, 0, 1)
			}},
			{"A plugin panics: the class is dropped, and the reference path tells what it was.", func(m *machine) {
				m.explode = "packed"
				decide(t, m, 0, 1)
				m.explode = ""
			}},
		},
	} {
		m := newMachine(12)
		if name != "time" {
			m.snap.SetNow(m.snap.Now().Add(time.Hour)) // no node is tired
		}
		var b strings.Builder
		for i, chapter := range story {
			chapter.do(m)
			fmt.Fprintf(&b, "%d. %s\n\n", i+1, chapter.text)
			for class := range 4 {
				if key := fmt.Sprint(class); m.engine.classes[key] != nil || m.refs[key] != nil {
					b.WriteString(Describe(m.engine, key))
				}
			}
			b.WriteString("\n")
		}
		file := filepath.Join("testdata", "story_"+name+".txt")
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s (-want +got), run with -update if it is right:\n%s", file, diff)
		}
	}
}
