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
	"sync"
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
	"internal/match", "internal/podsize", "internal/subjects", "internal/topo", "internal/volumes", "scheduling", "scheduling/args", "scheduling/config", "scheduling/extender", "scheduling/gang", "scheduling/lifecycle",
	"scheduling/multicluster", "scheduling/preemption", "scheduling/queue", "scheduling/simulate", "scheduling/whatif", "scheduling/workload", "scoring",
}

// TestWork counts statements for each shape.
func TestWork(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the library anew")
	}
	counter := newCounter(t)
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

// A counter runs tests of the package in a process of their own, which counts.
type counter struct{ binary string }

const module = "github.com/berth-sched/berth/"

// built is the directory of the test with counters. It is built once for all that count.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "work")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "test", "-c", "-tags", "full", "-o", filepath.Join(dir, "work.test"),
		"-covermode=count", "-coverpkg=slices,"+module+strings.Join(covered, ","+module), ".")
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

// counting is set once a test has asked for counters.
var counting bool

func newCounter(t *testing.T) *counter {
	t.Helper()
	counting = true
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return &counter{filepath.Join(dir, "work.test")}
}

func TestMain(m *testing.M) {
	code := m.Run()
	if counting {
		if dir, _ := built(); dir != "" {
			os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// A block is a few statements in a row, and how often they ran.
type block struct {
	at               string // such as "filter/taints.go:12.3,14.5"
	statements, runs int
}

// blocks runs a test, and tells it in the environment what to do.
func (c *counter) blocks(t *testing.T, test, setting string) (list []block) {
	t.Helper()
	profile := c.binary + ".profile"
	run := exec.Command(c.binary, "-test.run=^"+test+"$", "-test.coverprofile="+profile)
	run.Env = append(os.Environ(), setting)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", setting, err, out)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue // the mode
		}
		statements, err := strconv.Atoi(fields[1])
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		runs, err := strconv.Atoi(fields[2])
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, block{strings.TrimPrefix(fields[0], module), statements, runs})
	}
	return list
}

// counts are how many statements ran, and how often the one that ran most.
type counts struct {
	sum, most int
	at        string
}

func (c *counter) of(t *testing.T, s shape, size int) (all counts) {
	t.Helper()
	for _, b := range c.blocks(t, "TestShape", fmt.Sprintf("BERTH_WORK=%s:%d", s.name, size)) {
		all.sum += b.statements * b.runs
		if b.runs > all.most {
			all.most, all.at = b.runs, filepath.Base(filepath.Dir(b.at))+"/"+filepath.Base(b.at)
		}
	}
	return all
}
