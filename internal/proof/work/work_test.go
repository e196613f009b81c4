//go:build full

package work

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The smaller size of each shape, how many times it is the larger one, and how many times
// its work may be the work for the smaller. Sorting is not linear, and 4 times the size
// takes it 5 times the work.
const (
	size  = 500
	times = 4
	most  = 6
)

// covered are the packages whose statements are counted, beside slices of the standard library.
var covered = []string{
	"resource",
	"estimator/...", "filter", "framework/...", "internal/cow", "internal/devices/...", "internal/engine/...", "internal/heap",
	"internal/match", "internal/subjects", "internal/topo", "internal/volumes", "scheduling", "scheduling/config", "scheduling/extender", "scheduling/gang", "scheduling/lifecycle",
	"scheduling/multicluster", "scheduling/preemption", "scheduling/queue", "scheduling/simulate", "scheduling/whatif", "scheduling/workload", "scoring",
}

// TestWork counts statements for each shape.
func TestWork(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the library anew")
	}
	const module = "github.com/berth-sched/berth/"
	counter := &counter{binary: filepath.Join(t.TempDir(), "work.test")}
	build := exec.Command("go", "test", "-c", "-tags", "full", "-o", counter.binary,
		"-covermode=count", "-coverpkg=slices,"+module+strings.Join(covered, ","+module), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			n := size * max(1, s.times)
			nothing, small, large := counter.of(t, s, 1), counter.of(t, s, n), counter.of(t, s, times*n)
			most := cmp.Or(float64(s.most), most)
			factor := float64(large.sum-nothing.sum) / float64(small.sum-nothing.sum)
			t.Logf("%d statements for %d, %d for %d: %.1f times as many; at most %.0f for one, %s",
				small.sum, n, large.sum, times*n, factor, float64(large.most)/float64(times*n), large.at)
			if factor > most {
				t.Errorf("%.1f times the work for %d times the size, want at most %.0f; %d runs of %s",
					factor, times, most, large.most, large.at)
			}
		})
	}
}

// TestShape runs the shape that its caller, TestWork, names in the environment.
func TestShape(t *testing.T) {
	name, n, ok := strings.Cut(os.Getenv("BERTH_WORK"), ":")
	if !ok {
		t.Skip("TestWork runs it")
	}
	size, err := strconv.Atoi(n)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range shapes {
		if s.name == name {
			s.run(t, size)
		}
	}
}

// A counter runs shapes in a process of their own.
type counter struct{ binary string }

// counts are how many statements ran, and how often the one that ran most.
type counts struct {
	sum, most int
	at        string
}

func (c *counter) of(t *testing.T, s shape, size int) (all counts) {
	t.Helper()
	profile := c.binary + ".profile"
	run := exec.Command(c.binary, "-test.run=^TestShape$", "-test.coverprofile="+profile)
	run.Env = append(os.Environ(), fmt.Sprintf("BERTH_WORK=%s:%d", s.name, size))
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%s of size %d: %v\n%s", s.name, size, err, out)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		at, numbers, _ := strings.Cut(strings.TrimSpace(line), " ")
		statements, runs, ok := strings.Cut(numbers, " ")
		if !ok {
			continue // the mode
		}
		n, err := strconv.Atoi(statements)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		count, err := strconv.Atoi(runs)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all.sum += n * count
		if count > all.most {
			all.most, all.at = count, filepath.Base(filepath.Dir(at))+"/"+filepath.Base(at)
		}
	}
	return all
}
