//go:build full

package openb_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/examples/gpushare/openb"
)

// tables makes a trace of nodes with 8 GPUs, and pods that ask for parts of one.
func tables(nodes, pods, milli int) (*openb.Trace, error) {
	var n, p strings.Builder
	n.WriteString("sn,cpu_milli,memory_mib,gpu,model\n")
	for i := range nodes {
		fmt.Fprintf(&n, "n%d,96000,393216,8,G2\n", i)
	}
	p.WriteString("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n")
	for i := range pods {
		gpus := i%5/4 + i%7/6
		fmt.Fprintf(&p, "p%06d,1000,16,%d,%d,\n", i, gpus, milli*min(gpus, 1))
	}
	return openb.Read("made", []byte(n.String()), []byte(p.String()))
}

// TestSequenceTakesAway compares the sequence of a workload that asks for too much with the
// plain way: random pods are cut out of the list one by one.
func TestSequenceTakesAway(t *testing.T) {
	for _, pods := range []int{7, 64, 65, 1000, 3001} {
		trace, err := tables(1, pods, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range int64(5) {
			r := rand.New(rand.NewSource(seed))
			r.Int()
			var want []int
			sum, goal := int64(0), int64(1.3*8000)
			for i := range pods {
				want = append(want, i)
				sum += trace.Demands[i].GPU.Total()
			}
			r.Shuffle(pods, func(i, k int) { want[i], want[k] = want[k], want[i] })
			if pods > 100 && sum <= goal {
				t.Fatalf("%d pods ask for %d, which is not too much", pods, sum)
			}
			for sum > goal {
				i := r.Intn(len(want))
				sum -= trace.Demands[want[i]].GPU.Total()
				want = slices.Delete(want, i, i+1)
			}
			got := trace.SequenceOf(seed).Arrivals
			if pods > 100 && !slices.Equal(got, want) || !slices.Equal(got[:min(len(got), len(want))], want) {
				t.Fatalf("%d pods, seed %d: %d come, want %d: %v; %v", pods, seed, len(got), len(want), got, want)
			}
		}
	}
}

// TestWorkIsBounded: pods that all differ are as many typical pods, and each is compared with all of these on each node.
func TestWorkIsBounded(t *testing.T) {
	for differ, want := range map[bool]string{false: "", true: "workload made: 3000 pods that come, 4000 nodes and 2850 typical pods are 3.42e+10 comparisons: want at most 2e+10"} {
		var n, p strings.Builder
		n.WriteString("sn,cpu_milli,memory_mib,gpu,model\n")
		for i := range 4000 {
			fmt.Fprintf(&n, "n%d,96000,393216,%d,G2\n", i, max(0, 1-i))
		}
		p.WriteString("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n")
		for i := range 3000 {
			cpu := 1000
			if differ {
				cpu += i
			}
			fmt.Fprintf(&p, "p%06d,%d,16,1,1000,\n", i, cpu)
		}
		_, err := openb.Read("made", []byte(n.String()), []byte(p.String()))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("pods differ %t: %v, want %q", differ, err, want)
		}
	}
}

// TestSequenceIsBounded: pods that ask for too little, and would come without end, are
// refused.
func TestSequenceIsBounded(t *testing.T) {
	if _, err := tables(100, 5, 1); err == nil || !strings.Contains(err.Error(), "workload made: about 5199995 copies of pods must come until all ask for 1.3 times the GPUs: want at most 1048576") {
		t.Errorf("5 pods with a thousandth for 800 GPUs: %v", err)
	}
	trace, err := tables(1, 7, 10)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(trace.SequenceOf(1).Arrivals); n < 3000 || n > 4500 {
		t.Errorf("%d pods come, want about 3640", n)
	}
}
