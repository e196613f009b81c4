package simulatetest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/simulate"
	"github.com/berth-sched/berth/scheduling/simulate/simulatetest"
	"github.com/berth-sched/berth/scoring"
)

// spreading is the release's profile, which prefers empty nodes.
func spreading() simulate.Config {
	return simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}}
}

// packing prefers full nodes.
func packing() simulate.Config {
	return simulate.Config{Profiles: []scheduling.Profile{{
		Filter:  scheduling.Kubernetes137().Filter,
		Score:   []scheduling.Weighted{{Plugin: scoring.NodeResourcesFit{Strategy: scoring.MostAllocated}}},
		TieRule: scheduling.First,
	}}}
}

func TestGolden(t *testing.T) {
	simulatetest.Golden(t, "testdata/day.jsonl", spreading())
}

// A recorder is a test that remembers how it ended.
type recorder struct {
	testing.TB
	text []string
}

type stopped struct{}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.text = append(r.text, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(stopped{})
}

func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

// failures runs Golden and returns what it said.
func failures(t *testing.T, file string, config simulate.Config) string {
	r := &recorder{TB: t}
	func() {
		defer func() {
			if v := recover(); v != nil && v != any(stopped{}) {
				panic(v)
			}
		}()
		simulatetest.Golden(r, file, config)
	}()
	return strings.Join(r.text, "\n")
}

func TestGoldenFails(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	day, err := os.ReadFile("testdata/day.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	events, _, _ := strings.Cut(string(day), `{"at":"1m0s","decision"`)
	for _, tt := range []struct {
		name, file string
		config     simulate.Config
		want       string
	}{
		{"another profile", "testdata/day.jsonl", packing(), "pod default/p3, decision 1: file: 3m0s: default/p3 bound to c; now: 3m0s: default/p3 bound to b"},
		{"no decisions", write("events.jsonl", events), spreading(), "there are no decisions to compare with: run the test with BERTH_UPDATE=1 once"},
		{"junk", write("junk.jsonl", "{"), spreading(), "junk.jsonl: trace: line 1"},
		{"no file", filepath.Join(dir, "absent"), spreading(), "no such file"},
		{"no profile", "testdata/day.jsonl", simulate.Config{}, "day.jsonl: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := failures(t, tt.file, tt.config); !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q in it", got, tt.want)
			}
		})
	}
}

func TestGoldenWrites(t *testing.T) {
	day, err := os.ReadFile("testdata/day.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "day.jsonl")
	if err := os.WriteFile(file, day, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(simulatetest.UpdateVariable, "1")
	simulatetest.Golden(t, file, packing())
	t.Setenv(simulatetest.UpdateVariable, "")
	simulatetest.Golden(t, file, packing())
	if got := failures(t, file, spreading()); !strings.Contains(got, "decisions differ from the file") {
		t.Errorf("after writing, the old profile says %q", got)
	}
}
