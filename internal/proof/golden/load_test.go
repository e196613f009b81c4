package golden_test

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-sched/berth/internal/proof/golden"
)

// write makes a file of compressed lines.
func write(t *testing.T, dir, name string, lines ...string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	zipped := gzip.NewWriter(file)
	if _, err := zipped.Write([]byte(strings.Join(lines, "\n"))); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestLoadFromVariable(t *testing.T) {
	own, err := golden.Load("name")
	if err != nil {
		t.Fatal(err)
	}
	const a = `{"id":"a","family":"name","pod":{"metadata":{"name":"p"}}}`
	const b = `{"id":"b","family":"name","pod":{"metadata":{"name":"p"}}}`
	const other = `{"id":"c","family":"names","pod":{"metadata":{"name":"p"}}}`
	dir := t.TempDir()
	write(t, dir, "name.jsonl.gz", a, "", b)
	write(t, filepath.Join(dir, golden.System), "name-2.jsonl.gz", b, other, a)
	write(t, filepath.Join(dir, "another system"), "name.jsonl.gz", "junk")
	t.Setenv(golden.Variable, dir+string(filepath.ListSeparator)+dir)
	all, err := golden.Load("name")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, c := range all[len(own):] {
		ids = append(ids, c.ID)
	}
	if got := strings.Join(ids, " "); got != "a b" {
		t.Errorf("cases beside testdata: %s, want a b", got)
	}
}

func TestLoadErrors(t *testing.T) {
	for _, test := range []struct{ name, line, want string }{
		{"no folder", "", "no vectors (*.jsonl.gz) in "},
		{"junk", "junk", "name.jsonl.gz: line 1: invalid character 'j'"},
		{"no pod", `{"id":"a","family":"name"}`, "name.jsonl.gz: line 1: case a: no pod"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if test.line != "" {
				write(t, dir, "name.jsonl.gz", test.line)
			}
			t.Setenv(golden.Variable, dir)
			if _, err := golden.Load("name"); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want ...%s...", err, test.want)
			}
		})
	}
}
