package loadaware_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/replay/loadaware"
)

// TestGoldenKoordinator replays the answers of the real plugins: the recorded cases
// in testdata, and the cases in folders named koordinator in or below the folders of
// BERTH_VECTORS.
func TestGoldenKoordinator(t *testing.T) {
	files := vectors(t)
	for _, v := range []struct {
		version string
		rules   estimator.Rules
	}{{"1.8.0", estimator.Koordinator18}, {"1.4.1", estimator.Koordinator14}} {
		t.Run(v.version, func(t *testing.T) {
			const shown = 5
			cases, mismatches := 0, 0
			for _, file := range files {
				eachCase(t, file, func(c *loadaware.Case) {
					want, ok := c.Expect["v"+v.version]
					if !ok {
						return
					}
					cases++
					got, err := loadaware.Run(c, v.rules)
					if err != nil {
						mismatches++
						t.Errorf("%s, case %d (%s): %v", file, c.ID, c.Mode, err)
						return
					}
					for i := range want.Nodes {
						// Where Koordinator's score wraps around below 0, the
						// library's ends at 0.
						want.Nodes[i].Score = max(want.Nodes[i].Score, 0)
					}
					if diff := loadaware.Diff(&want, got); len(diff) > 0 {
						if mismatches++; mismatches <= shown {
							t.Errorf("%s, case %d (%s):\n%s", file, c.ID, c.Mode, strings.Join(diff, "\n"))
						}
					}
				})
			}
			fmt.Printf("golden koordinator/%s: %d cases, %d mismatches\n", v.version, cases, mismatches)
			if cases == 0 || mismatches > 0 {
				t.Errorf("%d cases, %d mismatches, want some and none", cases, mismatches)
			}
		})
	}
}

func vectors(t *testing.T) []string {
	t.Helper()
	files := []string{filepath.Join("testdata", "koordinator.jsonl.gz")}
	for _, dir := range filepath.SplitList(os.Getenv(golden.Variable)) {
		patterns := []string{filepath.Join(dir, "koordinator"), filepath.Join(dir, "*", "koordinator")}
		if filepath.Base(dir) == "koordinator" {
			patterns = append(patterns, dir)
		}
		for _, pattern := range patterns {
			more, err := filepath.Glob(filepath.Join(pattern, "*.jsonl.gz"))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, more...)
		}
	}
	return files
}

func eachCase(t *testing.T, file string, f func(*loadaware.Case)) {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	zip, err := gzip.NewReader(in)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for d := json.NewDecoder(bufio.NewReader(zip)); ; {
		c := new(loadaware.Case)
		if err := d.Decode(c); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		f(c)
	}
}
