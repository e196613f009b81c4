package golden

import (
	"bufio"
	"compress/gzip"
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

// System is the folder name of vectors of kube-scheduler.
const System = "kube-scheduler"

// Variable is the environment variable that names more folders with vectors,
// separated as in PATH.
const Variable = "BERTH_VECTORS"

//go:embed testdata/kube-scheduler/*.jsonl.gz
var embedded embed.FS

// Load returns the cases of a family from testdata and from the folders of
// [Variable]. A folder without any vector is an error: it is misspelt.
func Load(family string) ([]*Case, error) {
	own, err := fs.Sub(embedded, "testdata/"+System)
	if err != nil {
		return nil, err
	}
	cases, _, err := loadFrom(own, family)
	if err != nil {
		return nil, err
	}
	for _, dir := range filepath.SplitList(os.Getenv(Variable)) {
		found := false
		for _, pattern := range []string{dir, filepath.Join(dir, System), filepath.Join(dir, "*", System)} {
			folders, err := filepath.Glob(pattern)
			if err != nil {
				return nil, err
			}
			for _, folder := range folders {
				more, any, err := loadFrom(os.DirFS(folder), family)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", folder, err)
				}
				cases, found = append(cases, more...), found || any
			}
		}
		if !found {
			return nil, fmt.Errorf("%s: no vectors (*.jsonl.gz) in %s", Variable, dir)
		}
	}
	return cases, nil
}

// loadFrom returns the family's cases in a folder, and whether the folder holds
// vectors of any family.
func loadFrom(folder fs.FS, family string) (cases []*Case, any bool, err error) {
	files, err := fs.Glob(folder, "*.jsonl.gz")
	if err != nil {
		return nil, false, err
	}
	slices.Sort(files)
	for _, name := range files {
		if match, _ := filepath.Match(family+"*.jsonl.gz", name); !match {
			continue
		}
		file, err := folder.Open(name)
		if err != nil {
			return nil, true, err
		}
		more, err := read(file)
		err = errors.Join(err, file.Close())
		if err != nil {
			return nil, true, fmt.Errorf("%s: %w", name, err)
		}
		for _, c := range more {
			if c.Family == family {
				cases = append(cases, c)
			}
		}
	}
	return cases, len(files) > 0, nil
}

// read reads compressed lines, one case each.
func read(r io.Reader) ([]*Case, error) {
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	var cases []*Case
	for lines := bufio.NewReader(unzipped); ; {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			c := new(Case)
			if err := json.Unmarshal(line, c); err != nil {
				return nil, fmt.Errorf("case %d: %w", len(cases)+1, err)
			}
			if c.Pod == nil {
				return nil, fmt.Errorf("case %d: no pod", len(cases)+1)
			}
			if err := c.restore(); err != nil {
				return nil, fmt.Errorf("case %s: %w", c.ID, err)
			}
			cases = append(cases, c)
		}
		switch {
		case errors.Is(err, io.EOF):
			return cases, nil
		case err != nil:
			return nil, err
		}
	}
}
