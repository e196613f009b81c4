//go:build full

package openb_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/berth-sched/berth/examples/gpushare/openb"
	"github.com/berth-sched/berth/scheduling"
)

// table writes a published table with one row for each workload.
func table(figure string, workloads ...string) string {
	var b strings.Builder
	b.WriteString("workload,sc_policy,tune,seed,total_gpus")
	for c := range openb.Columns {
		fmt.Fprintf(&b, ",%d", c)
	}
	for _, w := range workloads {
		fmt.Fprintf(&b, "\n%s,06-FGD,1.3,42,6212%s", w, strings.Repeat(","+figure, openb.Columns))
	}
	return b.String() + "\n"
}

func TestReadTables(t *testing.T) {
	good := map[string]string{
		"a_allo_discrete.csv": table("1.5", "default", "other"), "a_frag_discrete.csv": table("2.5", "default"), "a_frag_ratio_discrete.csv": table("3.25", "default"),
	}
	read := func(change func(files map[string]string)) (openb.Tables, error) {
		files := map[string]string{}
		for name, text := range good {
			files[name] = text
		}
		if change != nil {
			change(files)
		}
		dir := fstest.MapFS{}
		for name, text := range files {
			dir[name] = &fstest.MapFile{Data: []byte(text)}
		}
		return openb.ReadTables(dir, "default")
	}
	tables, err := read(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := tables[openb.Key{Policy: openb.FGD, Seed: 42}]
	if len(tables) != 1 || s == nil || s.Allocation[0] != 1.5 || s.Fragmentation[130] != 2.5 || s.Ratio[7] != 3.25 {
		t.Fatalf("ReadTables = %v", tables)
	}
	other := *s
	other.Ratio[3]++
	if equal, different, first := s.Compare(&other); equal != 392 || different != 1 || first != "frag_ratio_discrete at 3 %: 3.25, published 4.25" {
		t.Errorf("Compare = %d, %d, %q", equal, different, first)
	}
	const allo = "a_allo_discrete.csv"
	for name, test := range map[string]struct {
		change func(map[string]string)
		want   string
	}{
		"no file":      {func(f map[string]string) { delete(f, allo) }, "0 files are named *allo_discrete.csv"},
		"two files":    {func(f map[string]string) { f["b_allo_discrete.csv"] = "" }, "2 files"},
		"no column":    {func(f map[string]string) { f[allo] = strings.Replace(f[allo], "seed", "sead", 1) }, "no column seed"},
		"not a number": {func(f map[string]string) { f[allo] = table("x", "default") }, `line 2: column 0`},
		"no policy":    {func(f map[string]string) { f[allo] = strings.Replace(f[allo], "06-FGD", "06-Best", 1) }, `no policy "Best"`},
		"other tune":   {func(f map[string]string) { f[allo] = strings.Replace(f[allo], "1.3", "1.2", 1) }, `tune: "1.2"`},
		"no seed":      {func(f map[string]string) { f[allo] = strings.Replace(f[allo], ",1.3,42,", ",1.3,,", 1) }, "seed"},
		"no runs":      {func(f map[string]string) { f[allo] = table("1", "other") }, `no runs of workload "default"`},
		"a run more": {func(f map[string]string) {
			f["a_frag_discrete.csv"] = strings.Replace(table("1", "default"), ",1.3,42,", ",1.3,43,", 1)
		}, "is not in the table"},
		"empty": {func(f map[string]string) { f[allo] = "" }, "EOF"},
	} {
		if _, err := read(test.change); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	nodes := "sn,cpu_milli,memory_mib,gpu,model\nn1,96000,393216,8,G2\n"
	pods := "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\np1,1000,16,1,460,\n"
	if _, err := openb.Read("w", []byte(nodes), []byte(pods)); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ nodes, pods, want string }{
		"pods first":   {pods, pods, "the table of nodes has pods"},
		"nodes twice":  {nodes, nodes, "the table of pods has nodes"},
		"bad node":     {strings.Replace(nodes, ",8,", ",eight,", 1), pods, "line 2: node n1: gpu"},
		"many GPUs":    {strings.Replace(nodes, ",8,", ",17,", 1), pods, `node n1: status.allocatable[alibabacloud.com/gpu-milli]: "17k": want at most 16000, which are 16 GPUs`},
		"bad pod":      {nodes, strings.Replace(pods, "460", "4600", 1), `line 2: pod default/p1: gpu_milli: "4600"`},
		"no GPUs":      {strings.Replace(nodes, ",8,", ",0,", 1), pods, "there are no GPUs or no pods"},
		"no pods":      {nodes, strings.SplitAfter(pods, "\n")[0], "there are no GPUs or no pods"},
		"a node twice": {nodes + "n1,1,1,1,G2\n", pods, "n1"},
	} {
		if _, err := openb.Read("w", []byte(test.nodes), []byte(test.pods)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// TestTies runs each tie rule under Verify, on a sample, and checks the devices at the end.
func TestTies(t *testing.T) {
	trace, err := openb.Sample(12, 120, 5)
	if err != nil {
		t.Fatal(err)
	}
	differs := 0
	for _, policy := range openb.Policies() {
		first := run(t, trace, openb.Config{Policy: policy, Seed: 1})
		for _, tie := range openb.Ties() {
			c := openb.Config{Policy: policy, Tie: tie, Seed: 1, Cache: scheduling.CacheConfig{Verify: true}}
			if *run(t, trace, c) != *first {
				differs++
			}
			r, err := openb.Prepare(trace, c)
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Len() {
				r.Place(i) // whatever comes of it
			}
			if err := r.Check(); err != nil {
				t.Errorf("%s, %s: %v", policy, tie, err)
			}
		}
	}
	if differs < 10 {
		t.Errorf("%d runs differ from the fixed order's, want more: tie rules have no effect", differs)
	}
}

// TestExplain: a decision and its explanation name the GPUs of the pod.
func TestExplain(t *testing.T) {
	trace, err := openb.Sample(12, 120, 5)
	if err != nil {
		t.Fatal(err)
	}
	r, err := openb.Prepare(trace, openb.Config{Policy: openb.FGD, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for i := range r.Len() {
		e := r.Explain(i)
		d, err := r.Place(i)
		if err != nil {
			continue
		}
		for _, n := range e.Nodes {
			if n.Node != d.Node {
				continue
			}
			if n.Reserved != d.Reserved || (d.Reserved == "") != (r.Demand(i).GPU.Count == 0) {
				t.Errorf("pod %d asks for %v: Explain says %q, the decision %q", i, r.Demand(i).GPU, n.Reserved, d.Reserved)
			}
			if d.Reserved != "" {
				named++
			}
		}
	}
	if named < 20 {
		t.Errorf("%d decisions name GPUs", named)
	}
}
