package golden

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// System is the name of the folder with kube-scheduler's vectors.
const System = "kube-scheduler"

// Variable is the environment variable that names more folders with vectors,
// separated as in PATH.
const Variable = "BERTH_VECTORS"

//go:embed testdata/kube-scheduler/*.jsonl.gz testdata/dynamic-resources/*.jsonl.gz testdata/pod-groups/*.jsonl.gz
var embedded embed.FS

// Families returns the names of all families.
func Families() []string {
	return []string{
		"fit", "balanced", "taint", "nodeaffinity", "ports", "name", "image", "spread", "interpod", "volumes", "preemption", "mixed",
	}
}

// Load returns the cases of a family from testdata and from the folders of
// [Variable]. A line that occurs twice counts once. A folder without any vector is
// an error, since its name is probably misspelt.
func Load(family string) ([]*Case, error) {
	l := loader{family: family}
	err := eachLine(System, family+"*.jsonl.gz", l.add)
	return l.cases, err
}

// eachLine calls add for every different line of the files of a system, from testdata and
// from the folders of [Variable].
func eachLine(system, pattern string, add func(line []byte) error) error {
	own, err := fs.Sub(embedded, "testdata/"+system)
	if err != nil {
		return err
	}
	r := reader{pattern: pattern, seen: map[[sha256.Size]byte]bool{}, line: add}
	if err := r.load(own); err != nil {
		return err
	}
	for _, dir := range filepath.SplitList(os.Getenv(Variable)) {
		if !hasVectors(dir) {
			return fmt.Errorf("%s: no vectors (*.jsonl.gz) in %s", Variable, dir)
		}
		for _, place := range []string{dir, filepath.Join(dir, system), filepath.Join(dir, "*", system)} {
			folders, err := filepath.Glob(place)
			if err != nil {
				return err
			}
			for _, folder := range folders {
				if err := r.load(os.DirFS(folder)); err != nil {
					return fmt.Errorf("%s: %w", folder, err)
				}
			}
		}
	}
	return nil
}

// hasVectors reports whether the folder has vectors of any system.
func hasVectors(dir string) bool {
	for _, depth := range []string{"", "*", "*/*"} {
		if files, _ := filepath.Glob(filepath.Join(dir, depth, "*.jsonl.gz")); len(files) > 0 {
			return true
		}
	}
	return false
}

// A reader reads the lines of compressed files.
type reader struct {
	pattern string
	seen    map[[sha256.Size]byte]bool
	line    func([]byte) error
}

// load reads the files in a folder.
func (r *reader) load(folder fs.FS) error {
	files, err := fs.Glob(folder, r.pattern)
	if err != nil {
		return err
	}
	slices.Sort(files)
	for _, name := range files {
		file, err := folder.Open(name)
		if err != nil {
			return err
		}
		if err := errors.Join(r.read(file), file.Close()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// read reads compressed lines.
func (r *reader) read(from io.Reader) error {
	unzipped, err := gzip.NewReader(from)
	if err != nil {
		return err
	}
	lines := bufio.NewReader(unzipped)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := r.add(line); err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

func (r *reader) add(line []byte) error {
	sum := sha256.Sum256(line)
	if r.seen[sum] {
		return nil
	}
	r.seen[sum] = true
	return r.line(line)
}

// A loader collects the cases of a family.
type loader struct {
	family string
	cases  []*Case
}

func (l *loader) add(line []byte) error {
	c := new(Case)
	if err := json.Unmarshal(line, c); err != nil {
		return err
	}
	if c.Family != l.family {
		return nil
	}
	if c.Pod == nil {
		return fmt.Errorf("case %s: no pod", c.ID)
	}
	if err := c.restore(); err != nil {
		return fmt.Errorf("case %s: %w", c.ID, err)
	}
	l.cases = append(l.cases, c)
	return nil
}
