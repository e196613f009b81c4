package openb

import (
	"encoding/csv"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// Tables are published figures: by policy and seed.
type Tables map[Key]*Series

// A Key names a run of a workload.
type Key struct {
	Policy Policy
	Seed   int64
}

// The three tables of a workload, and the figures that each holds.
var tables = []struct {
	suffix string
	of     func(*Series) *[Columns]float64
}{
	{"allo_discrete.csv", func(s *Series) *[Columns]float64 { return &s.Allocation }},
	{"frag_discrete.csv", func(s *Series) *[Columns]float64 { return &s.Fragmentation }},
	{"frag_ratio_discrete.csv", func(s *Series) *[Columns]float64 { return &s.Ratio }},
}

// ReadTables reads the published tables of a workload from a directory: the files whose
// names end in allo_discrete.csv, frag_discrete.csv and frag_ratio_discrete.csv. Rows of
// other workloads are left out. It is an error if the three do not have the same runs.
func ReadTables(dir fs.FS, workload string) (Tables, error) {
	all := Tables{}
	for k, table := range tables {
		names, err := fs.Glob(dir, "*"+table.suffix)
		if err != nil {
			return nil, err
		}
		if len(names) != 1 {
			return nil, fmt.Errorf("%d files are named *%s, want one: they are published with the paper's simulator", len(names), table.suffix)
		}
		runs := 0
		err = eachRow(dir, names[0], workload, func(key Key, figures *[Columns]float64) error {
			s := all[key]
			if s == nil && k > 0 {
				return fmt.Errorf("%s: %s, seed %d is not in the table of allocations", names[0], key.Policy, key.Seed)
			}
			if s == nil {
				s = new(Series)
				all[key] = s
			}
			*table.of(s) = *figures
			runs++
			return nil
		})
		if err != nil {
			return nil, err
		}
		if runs == 0 {
			return nil, fmt.Errorf("%s: no runs of workload %q: want one that the tables have", names[0], workload)
		}
		if runs != len(all) {
			return nil, fmt.Errorf("%s: %d runs of workload %s, and %d in the table of allocations", names[0], runs, workload, len(all))
		}
	}
	return all, nil
}

// eachRow calls f for each row of the workload.
func eachRow(dir fs.FS, name, workload string, f func(Key, *[Columns]float64) error) error {
	file, err := dir.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	columns := map[string]int{}
	for i, column := range header {
		columns[column] = i
	}
	for _, column := range []string{"workload", "sc_policy", "tune", "seed", "0", strconv.Itoa(Columns - 1)} {
		if _, ok := columns[column]; !ok {
			return fmt.Errorf("%s: there is no column %s", name, column)
		}
	}
	rows, err := r.ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for i, row := range rows {
		if row[columns["workload"]] != workload {
			continue
		}
		key, figures, err := parseRow(columns, row)
		if err == nil {
			err = f(key, figures)
		}
		if err != nil {
			return fmt.Errorf("%s: line %d: %w", name, i+2, err)
		}
	}
	return nil
}

func parseRow(columns map[string]int, row []string) (key Key, figures *[Columns]float64, err error) {
	_, policy, _ := strings.Cut(row[columns["sc_policy"]], "-") // after a number
	if key.Policy, err = ParsePolicy(policy); err != nil {
		return key, nil, err
	}
	if tune := row[columns["tune"]]; tune != strconv.FormatFloat(tuneRatio, 'g', -1, 64) {
		return key, nil, fmt.Errorf("tune: %q: want %v", tune, tuneRatio)
	}
	if key.Seed, err = strconv.ParseInt(row[columns["seed"]], 10, 64); err != nil {
		return key, nil, fmt.Errorf("seed: %w", err)
	}
	figures = new([Columns]float64)
	for c := range figures {
		column := strconv.Itoa(c)
		if figures[c], err = strconv.ParseFloat(row[columns[column]], 64); err != nil {
			return key, nil, fmt.Errorf("column %s: %w", column, err)
		}
	}
	return key, figures, nil
}

// Compare counts the figures of a run that equal the published ones, and those that do
// not. first describes the first difference.
func (s *Series) Compare(published *Series) (equal, different int, first string) {
	for _, table := range tables {
		got, want := table.of(s), table.of(published)
		for c := range got {
			if got[c] == want[c] || math.IsNaN(got[c]) && math.IsNaN(want[c]) {
				equal++
				continue
			}
			if different++; first == "" {
				first = fmt.Sprintf("%s at %d %%: %v, published %v", strings.TrimSuffix(table.suffix, ".csv"), c, got[c], want[c])
			}
		}
	}
	return equal, different, first
}
