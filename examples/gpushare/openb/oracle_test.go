//go:build full

package openb_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/examples/gpushare/devices"
	"github.com/berth-sched/berth/examples/gpushare/openb"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/resource"
)

// The oracle runs the experiment without a scheduler: loops over arrays, written from the
// description of the simulator. It shares no formula with package devices.

type oracleNode struct {
	cpu, memory float64
	model       string
	left        []float64
	shares      int
	whole       map[int]int // pods by number of whole GPUs
}

func (n *oracleNode) total() (sum float64) {
	for _, l := range n.left {
		sum += l
	}
	return sum
}

func (n *oracleNode) clone() *oracleNode {
	c := *n
	c.left = slices.Clone(n.left)
	return &c
}

type oraclePod struct {
	cpu, memory, milli float64
	count              int
	models             string
}

func (p oraclePod) sum() float64 { return float64(p.count) * p.milli }

func (p oraclePod) share() bool { return p.count == 1 && p.milli < 1000 }

type oracle struct {
	nodes   []*oracleNode // in the order that breaks ties
	typical []oraclePod
	weights []float64
}

func (o *oracle) fragmentation(n *oracleNode) float64 {
	total := n.total()
	lackBoth, lackGPU, lackCPU, none, noneLackCPU, wrong := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
	for i, p := range o.typical {
		w, enough, fits := o.weights[i], n.cpu >= p.cpu, 0
		small := 0.0
		for _, l := range n.left {
			if l >= p.milli {
				fits++
			} else {
				small += l
			}
		}
		switch {
		case p.count == 0 && enough:
			none += float64(w * total)
		case p.count == 0:
			noneLackCPU += float64(w * total)
		case p.models != "" && !strings.Contains("|"+p.models+"|", "|"+n.model+"|"):
			wrong += float64(w * total)
		case fits >= p.count && enough:
			lackGPU += float64(w * small)
		case fits >= p.count:
			lackCPU += float64(w * total)
		case enough:
			lackGPU += float64(w * total)
		default:
			lackBoth += float64(w * total)
		}
	}
	return lackBoth + lackGPU + lackCPU + none + noneLackCPU + wrong
}

// gpus returns the GPUs with least left that fit, nil if there are too few.
func (n *oracleNode) gpus(p oraclePod) []int {
	var fitting []int
	for i, l := range n.left {
		if l >= p.milli {
			fitting = append(fitting, i)
		}
	}
	slices.SortStableFunc(fitting, func(a, b int) int { return int(n.left[a] - n.left[b]) })
	if len(fitting) < p.count {
		return nil
	}
	return fitting[:p.count]
}

func (n *oracleNode) fits(p oraclePod) bool {
	return n.cpu >= p.cpu && n.memory >= p.memory &&
		(p.count == 0 || n.gpus(p) != nil && (p.models == "" || strings.Contains("|"+p.models+"|", "|"+n.model+"|")))
}

func (n *oracleNode) after(p oraclePod, gpus []int) *oracleNode {
	c := n.clone()
	c.cpu, c.memory = c.cpu-p.cpu, c.memory-p.memory
	for _, i := range gpus {
		c.left[i] -= p.milli
	}
	return c
}

// score returns the score of a node and the GPUs that the pod gets there.
func (o *oracle) score(policy openb.Policy, n *oracleNode, p oraclePod) (score int, gpus []int) {
	if p.count > 0 {
		gpus = n.gpus(p)
	}
	switch policy {
	case openb.BestFit:
		return int((1 - (0.5*(n.cpu-p.cpu)/128000 + 0.5*(n.total()-p.sum())/8000)) * 100), gpus
	case openb.DotProd:
		a, b := float64(n.cpu/128000*(p.cpu/128000)), float64(n.total()/8000*(p.sum()/8000))
		return int(100 * (1 - (a+b)/2)), gpus
	case openb.GpuPacking:
		return packing(n, p, gpus), gpus
	case openb.GpuClustering:
		return clustering(n, p), gpus
	case openb.FGD:
		sigmoid := func(m *oracleNode) int {
			return int(1 / (1 + math.Exp(-(o.fragmentation(n)-o.fragmentation(m))/1000)) * 100)
		}
		if !p.share() {
			return sigmoid(n.after(p, gpus)), gpus
		}
		score = -1
		for i, l := range n.left {
			if l < p.milli {
				continue
			}
			if s := sigmoid(n.after(p, []int{i})); s > score {
				score, gpus = s, []int{i}
			}
		}
		return score, gpus
	}
	return 0, gpus
}

func packing(n *oracleNode, p oraclePod, gpus []int) int {
	if p.count == 0 {
		return 0
	}
	free := 0
	for _, l := range n.left {
		if l == 1000 {
			free++
		}
	}
	if free == len(n.left) {
		return max(33-free, free)
	}
	used, left := 0, 0
	for _, i := range gpus {
		if n.left[i] == 1000 {
			used++
		}
		left += int(n.left[i] * 100 / 1000)
	}
	if used > 0 {
		return max(50-used, 33)
	}
	return max(100-left/10, 50)
}

func clustering(n *oracleNode, p oraclePod) int {
	if p.count == 0 {
		return 0
	}
	same, kinds := n.whole[p.count] > 0, 0
	if p.share() {
		same = n.shares > 0
	}
	if n.shares > 0 {
		kinds++
	}
	for _, k := range n.whole {
		if k > 0 {
			kinds++
		}
	}
	base := 25 * (8000 - int(n.total())) / 8000
	switch {
	case same && kinds == 1:
		return base + 75
	case same:
		return base + 50
	case kinds == 0:
		return base + 25
	}
	return base
}

// place places a pod on the first of the best nodes.
func (o *oracle) place(policy openb.Policy, p oraclePod) bool {
	best, bestScore, bestGPUs := -1, 0, []int(nil)
	low, high := math.MaxInt, math.MinInt
	type scored struct {
		at, score int
		gpus      []int
	}
	var all []scored
	for i, n := range o.nodes {
		if n.fits(p) {
			s, gpus := o.score(policy, n, p)
			all = append(all, scored{i, s, gpus})
			low, high = min(low, s), max(high, s)
		}
	}
	for _, s := range all {
		if policy == openb.BestFit {
			if s.score = s.score - low; high > low {
				s.score = s.score * 100 / (high - low)
			}
		}
		if best < 0 || s.score > bestScore {
			best, bestScore, bestGPUs = s.at, s.score, s.gpus
		}
	}
	if best < 0 {
		return false
	}
	n := o.nodes[best].after(p, bestGPUs)
	if o.nodes[best] = n; p.share() {
		n.shares++
	} else if p.count > 0 {
		n.whole[p.count]++
	}
	return true
}

// run takes the same figures as openb.Run.
func (o *oracle) run(policy openb.Policy, pods []oraclePod) (s openb.Series, placed int) {
	all := 0.0
	for _, n := range o.nodes {
		all += n.total()
	}
	arrived, used := 0.0, 0.0
	var rows [openb.Columns][3][]float64
	for _, p := range pods {
		arrived += p.sum()
		if o.place(policy, p) {
			used += p.sum()
			placed++
		}
		sum := 0.0
		for _, n := range o.nodes {
			sum += o.fragmentation(n)
		}
		if c := int(math.RoundToEven(100 * arrived / all)); c < openb.Columns {
			for k, x := range []float64{100 * used / all, sum, 100 * sum / (all - used)} {
				rows[c][k] = append(rows[c][k], math.RoundToEven(100*x)/100)
			}
		}
	}
	for c, row := range rows {
		for k, to := range []*[openb.Columns]float64{&s.Allocation, &s.Fragmentation, &s.Ratio} {
			mean := 0.0
			for _, x := range row[k] {
				mean += x / float64(len(row[k]))
			}
			if k == 1 {
				mean *= 100 / all
			}
			if to[c] = mean; len(row[k]) == 0 && c > 0 {
				to[c] = to[c-1]
			}
		}
	}
	return s, placed
}

func oracleOf(t *testing.T, trace *openb.Trace, seed int64) (*oracle, []oraclePod) {
	t.Helper()
	sequence := trace.SequenceOf(seed)
	o := &oracle{nodes: make([]*oracleNode, len(trace.Nodes))}
	amount := func(l resource.List, name resource.Name) float64 { q := l[name]; return float64(q.MilliValue()) }
	for i, n := range trace.Nodes {
		l := n.Status.Allocatable
		to := &oracleNode{cpu: amount(l, resource.CPU), memory: amount(l, resource.Memory), model: n.Labels[devices.Vendor+"/gpu-card-model"], whole: map[int]int{}}
		for range int(amount(l, devices.Vendor+"/gpu-count")+amount(l, devices.Vendor+"/gpu-milli")/1000) / 1000 {
			to.left = append(to.left, 1000) // samples count GPUs, tables of the trace their thousandths
		}
		o.nodes[sequence.Rank[i]] = to
	}
	for _, m := range trace.Typical {
		o.typical = append(o.typical, oraclePod{cpu: float64(m.CPU), milli: float64(m.GPU.Milli), count: int(m.GPU.Count), models: m.GPU.Models})
		o.weights = append(o.weights, m.Weight)
	}
	var pods []oraclePod
	for _, at := range sequence.Arrivals {
		d, l := trace.Demands[at], trace.Pods[at].Spec.Containers[0].Resources.Requests
		pods = append(pods, oraclePod{float64(d.CPU), amount(l, resource.Memory), float64(d.GPU.Milli), int(d.GPU.Count), d.GPU.Models})
	}
	return o, pods
}

// TestOracle compares runs of samples with the oracle's.
func TestOracle(t *testing.T) {
	for seed := range uint64(effort.Of(2, 6)) {
		trace, err := openb.Sample(24, 300, seed)
		if err != nil {
			t.Fatal(err)
		}
		compareWithOracle(t, trace, int64(seed))
	}
}

// TestOracleOfTables compares runs of tables as the trace has them: of small ones that are
// written here, and of a part of the trace.
func TestOracleOfTables(t *testing.T) {
	var pods strings.Builder
	pods.WriteString("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n")
	for i := range 90 {
		fmt.Fprintf(&pods, "p%03d,%d,%d,%s\n", i, 1000+i%7*500, 100+i, []string{"1,460,", "1,810,T4", "1,1000,", "2,1000,", "0,0,", "1,300,T4|G2"}[i%6])
	}
	trace, err := openb.Read("small", []byte("sn,cpu_milli,memory_mib,gpu,model\nn1,96000,393216,8,G2\nn2,32000,131072,2,T4\nn3,64000,262144,4,V100\n"), []byte(pods.String()))
	if err != nil {
		t.Fatal(err)
	}
	compareWithOracle(t, trace, firstSeed)

	whole, _ := published(t)
	var o api.Objects
	for i := 0; i < len(whole.Nodes); i += 40 {
		o.Nodes = append(o.Nodes, whole.Nodes[i])
	}
	for i := 0; i < len(whole.Pods); i += 30 {
		o.Pods = append(o.Pods, whole.Pods[i])
	}
	part, err := openb.New("part", &o)
	if err != nil {
		t.Fatal(err)
	}
	compareWithOracle(t, part, firstSeed)
}

// compareWithOracle compares runs of each policy with the oracle's: every pod has its place,
// and all figures agree.
func compareWithOracle(t *testing.T, trace *openb.Trace, seed int64) {
	t.Helper()
	for _, policy := range openb.Policies() {
		if policy.IsRandom() {
			continue
		}
		got := run(t, trace, openb.Config{Policy: policy, Seed: seed})
		o, pods := oracleOf(t, trace, seed)
		want, placed := o.run(policy, pods)
		if got.Placed != placed || got.Placed+got.Dropped != len(pods) || got.Placed == 0 || got.Dropped == 0 {
			t.Errorf("%s, %s %d: %d of %d pods placed, want %d and some dropped", policy, trace.Name, seed, got.Placed, len(pods), placed)
		}
		for c := range openb.Columns {
			if math.Abs(got.Allocation[c]-want.Allocation[c]) > 0.0051 || math.Abs(got.Fragmentation[c]-want.Fragmentation[c]) > 0.0051 || math.Abs(got.Ratio[c]-want.Ratio[c]) > 0.0101 {
				t.Errorf("%s, %s %d at %d %%: %v, %v, %v; want %v, %v, %v", policy, trace.Name, seed, c,
					got.Allocation[c], got.Fragmentation[c], got.Ratio[c], want.Allocation[c], want.Fragmentation[c], want.Ratio[c])
				break
			}
		}
	}
}
