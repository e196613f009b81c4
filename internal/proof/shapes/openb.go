package shapes

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A Trace is a cluster of its own, with pods that come and leave in an order of their
// own.
type Trace struct {
	nodes []*api.Node
	rows  []traceRow
	leave [][]int // by pod: those that leave before it comes
}

// A traceRow is a pod of a trace.
type traceRow struct {
	name       string
	requests   resource.List
	models     []string // of GPUs that the pod accepts; empty: all
	come, gone int64    // seconds
}

// The resources of the OpenB trace: thousandths of GPUs, and a label for their model.
const (
	gpuMilli = resource.Name("alibabacloud.com/gpu-milli")
	gpuModel = "alibabacloud.com/gpu-card-model"
)

// Len is the number of pods.
func (t *Trace) Len() int { return len(t.rows) }

// ReadOpenB reads the tables of nodes and pods of the OpenB trace: the files *node*.csv
// and *pod*.csv of a directory.
//
// Source: the cluster trace "openb" that Alibaba published with "Beware of
// Fragmentation" (USENIX ATC 2023).
func ReadOpenB(dir string) (Trace, error) {
	var t Trace
	var problem error
	count := func(row map[string]string, column string) int64 {
		n, err := strconv.ParseUint(row[column], 10, 31)
		if err != nil && problem == nil {
			problem = fmt.Errorf("openb: %s of %s%s: %w", column, row["sn"], row["name"], err)
		}
		return int64(n)
	}
	list := func(row map[string]string, gpus int64) resource.List {
		l := milliMebi(count(row, "cpu_milli"), count(row, "memory_mib"))
		if gpus > 0 {
			l[gpuMilli] = resource.New(gpus, resource.DecimalSI)
		}
		return l
	}
	rows, err := readTable(filepath.Join(dir, "*node*.csv"))
	if err != nil {
		return t, err
	}
	for _, row := range rows {
		n := &api.Node{ObjectMeta: api.ObjectMeta{Name: row["sn"], Labels: map[string]string{api.LabelHostname: row["sn"]}}}
		if row["model"] != "" {
			n.Labels[gpuModel] = row["model"]
		}
		n.Status.Capacity = list(row, 1000*count(row, "gpu"))
		n.Status.Capacity[resource.Pods] = resource.New(1001, resource.DecimalSI)
		n.Status.Allocatable = n.Status.Capacity.Clone()
		t.nodes = append(t.nodes, n)
	}
	if rows, err = readTable(filepath.Join(dir, "*pod*.csv")); err != nil {
		return t, err
	}
	for _, row := range rows {
		r := traceRow{name: row["name"], come: count(row, "creation_time"), gone: count(row, "deletion_time")}
		r.requests = list(row, count(row, "num_gpu")*count(row, "gpu_milli"))
		if row["gpu_spec"] != "" {
			r.models = strings.Split(row["gpu_spec"], "|")
		}
		t.rows = append(t.rows, r)
	}
	t.order()
	return t, problem
}

// order sorts the pods by the time at which they come, and finds who leaves in between.
func (t *Trace) order() {
	slices.SortStableFunc(t.rows, func(a, b traceRow) int { return cmp.Compare(a.come, b.come) })
	departures := make([]int, len(t.rows))
	for i := range departures {
		departures[i] = i
	}
	slices.SortStableFunc(departures, func(a, b int) int { return cmp.Compare(t.rows[a].gone, t.rows[b].gone) })
	t.leave = make([][]int, len(t.rows))
	next := 0
	for i, r := range t.rows {
		for next < len(departures) && t.rows[departures[next]].gone <= r.come && departures[next] < i {
			t.leave[i] = append(t.leave[i], departures[next])
			next++
		}
	}
}

// readTable reads the one file that matches the pattern, row by row, by the names of its
// columns.
func readTable(pattern string) ([]map[string]string, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, fmt.Errorf("openb: %d files are %s, want one", len(files), pattern)
	}
	f, err := os.Open(files[0])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", files[0], err)
	}
	if len(lines) < 2 {
		return nil, fmt.Errorf("%s: there are no rows", files[0])
	}
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, column := range lines[0] {
			row[column] = line[i]
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func openB(t Trace) Shape {
	return Shape{
		Name: "openb", About: "the OpenB trace: its nodes, and its pods in their order with their departures",
		Cluster: func(int) *api.Objects {
			o := new(api.Objects)
			for _, n := range t.nodes {
				o.Nodes = append(o.Nodes, api.Clone(n))
			}
			return o
		},
		Leave: func(i, _ int) []int {
			if i >= len(t.leave) {
				return nil
			}
			return t.leave[i]
		},
		Pod: func(i, _ int) *api.Pod {
			if i >= len(t.rows) {
				return nil
			}
			r := &t.rows[i]
			p := request(pod(r.name, nil), r.requests.Clone())
			if len(r.models) > 0 {
				p.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
						MatchExpressions: []api.NodeSelectorRequirement{{Key: gpuModel, Operator: api.NodeSelectorOpIn, Values: slices.Clone(r.models)}},
					}}},
				}}
			}
			return p
		},
	}
}
