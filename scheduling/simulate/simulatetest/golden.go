// Package simulatetest holds a scheduler to recorded days: a test runs a trace and
// compares every decision with those that stand in the file.
//
//	func TestMonday(t *testing.T) {
//		simulatetest.Golden(t, "testdata/monday.jsonl", simulate.Config{
//			Profiles: []scheduling.Profile{mine()},
//		})
//	}
//
// A trace comes from a [simulate.Recorder] on a scheduler that works, or from
// [simulate.FromObjects] on a dump of a cluster. Run the test with BERTH_UPDATE=1 in the
// environment to write the present decisions into the file; then review the change.
//
// The same trace and configuration give the same decisions on every machine.
package simulatetest

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/berth-sched/berth/scheduling/simulate"
)

// UpdateVariable is the environment variable that makes [Golden] write files: any value
// but "" does.
const UpdateVariable = "BERTH_UPDATE"

// differencesMost is how many differences a failure lists.
const differencesMost = 20

// Golden runs the trace in the file under the configuration, whose own Trace is not
// looked at, and fails the test at decisions that differ from those in the file: which
// pod, which of its decisions, what stands in the file and what was decided. A trace that
// cannot be read or run, and one without decisions, fails it too.
func Golden(t testing.TB, file string, config simulate.Config) {
	t.Helper()
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := simulate.ReadTrace(bytes.NewReader(old))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	config.Trace = trace
	result, differences, err := simulate.Replay(t.Context(), config)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if os.Getenv(UpdateVariable) != "" {
		trace.Decisions = result.Decisions
		var text bytes.Buffer
		if err := trace.Write(&text); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if !bytes.Equal(old, text.Bytes()) {
			if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: written, %d decisions, %d differed", file, len(result.Decisions), len(differences))
		}
		return
	}
	switch {
	case len(trace.Decisions) == 0:
		t.Fatalf("%s: there are no decisions to compare with: run the test with %s=1 once", file, UpdateVariable)
	case len(differences) > 0:
		t.Errorf("%s: %s", file, text(differences))
	}
}

// text lists differences.
func text(list []simulate.Difference) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d decisions differ from the file", len(list))
	for i, d := range list {
		if i == differencesMost {
			fmt.Fprintf(&b, "\n\tand %d more", len(list)-i)
			break
		}
		fmt.Fprintf(&b, "\n\tpod %s, decision %d: file: %s; now: %s", d.Pod, d.Number, said(d.A), said(d.B))
	}
	return b.String()
}

// said describes a decision.
func said(d *simulate.Decision) string {
	if d == nil {
		return "none"
	}
	return d.String()
}
