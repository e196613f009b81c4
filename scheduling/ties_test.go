package scheduling

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// maxHeap is what kube-scheduler builds: equal totals are never swapped.
type maxHeap []scored

type scored struct {
	place int
	total int64
}

func (h maxHeap) Len() int           { return len(h) }
func (h maxHeap) Less(i, j int) bool { return h[i].total > h[j].total }
func (h maxHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *maxHeap) Push(x any)        { *h = append(*h, x.(scored)) }
func (h *maxHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// popHeap is the definition: container/heap over the list, one Pop.
func popHeap(totals []int64) int {
	var h maxHeap
	for i, t := range totals {
		h = append(h, scored{i, t})
	}
	heap.Init(&h)
	return heap.Pop(&h).(scored).place
}

func largestOf(totals []int64) int64 {
	_, largest := extremes(totals)
	return largest
}

func TestHeapPick(t *testing.T) {
	// Measured with kube-scheduler 1.37.1.
	for _, tt := range []struct {
		totals []int64
		want   int
	}{
		{[]int64{5, 5, 5, 5}, 0},
		{[]int64{1, 5, 5, 5}, 1},
		{[]int64{3, 5, 5, 5, 5}, 1},
		{[]int64{1, 2, 5, 5, 5}, 3},
		{[]int64{1, 2, 3, 5, 5, 5, 5}, 3},
		{[]int64{5, 1, 5, 5, 5, 1, 5}, 0},
	} {
		if got := heapPick(tt.totals, 5); got != tt.want {
			t.Errorf("heapPick(%v) = %d, want %d", tt.totals, got, tt.want)
		}
	}
}

func TestHeapPickIsThatOfContainerHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		totals := rapid.SliceOfN(rapid.Int64Range(0, 3), 1, 70).Draw(t, "totals")
		if got, want := heapPick(totals, largestOf(totals)), popHeap(totals); got != want {
			t.Fatalf("heapPick(%v) = %d, want %d", totals, got, want)
		}
	})
}

// chiSquare999 holds the 99.9 % quantiles of the chi-square distribution by
// degrees of freedom.
var chiSquare999 = map[int]float64{2: 13.82, 6: 22.46, 9: 27.88}

func TestTiesAreUniform(t *testing.T) {
	const draws = 70_000
	totals := []int64{3, 9, 9, 1, 9, 9, 9, 0, 9, 9} // seven tied
	var tied []int
	for i, x := range totals {
		if x == 9 {
			tied = append(tied, i)
		}
	}
	rules := map[string]func(seed uint64) int{
		"Random":    func(seed uint64) int { return tied[draw(seed, len(tied))] },
		"Reservoir": func(seed uint64) int { return reservoirPick(totals, seed) },
	}
	for name, pick := range rules {
		t.Run(name, func(t *testing.T) {
			counts := map[int]int{}
			for n := range uint64(draws) {
				counts[pick(decisionSeed(42, n))]++
			}
			expected := float64(draws) / float64(len(tied))
			var chi float64
			seen := 0
			for _, i := range tied {
				d := float64(counts[i]) - expected
				chi += d * d / expected
				seen += counts[i]
			}
			if seen != draws {
				t.Errorf("%d of %d draws chose a node that is not tied", draws-seen, draws)
			}
			if limit := chiSquare999[len(tied)-1]; chi > limit {
				t.Errorf("chi-square of %v = %.1f, want at most %.1f", counts, chi, limit)
			}
		})
	}
}

// evenNames scores nodes with names of even length 1 and all others 0.
type evenNames struct{}

func (evenNames) Name() string { return "evenNames" }

func (evenNames) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return int64(1 - len(n.Name())%2)
}

func (evenNames) Scope() framework.Scope { return framework.Scope{Reads: framework.ReadsNode} }

// TestDecisionsAreUniform draws through Schedule, on both paths.
func TestDecisionsAreUniform(t *testing.T) {
	const draws = 70_000
	tied := []string{"aa", "bb", "cc", "dd", "ee", "ff", "gg"}
	for _, rule := range []TieRule{Random, Reservoir} {
		for _, off := range []bool{true, false} {
			t.Run(fmt.Sprintf("%v, cache off %t", rule, off), func(t *testing.T) {
				s := framework.NewSnapshot(framework.ZoneInterleaved)
				for _, name := range append([]string{"x", "yyy"}, tied...) {
					if err := s.AddNode(api.MakeNode(name, "1", "1Gi").Obj()); err != nil {
						t.Fatal(err)
					}
				}
				pod, err := s.NewPodInfo(api.MakePod("p").Obj())
				if err != nil {
					t.Fatal(err)
				}
				sched, err := New(Profile{Score: []Weighted{{Plugin: evenNames{}, Weight: 1}}, TieRule: rule, Seed: 42, Cache: CacheConfig{Off: off}})
				if err != nil {
					t.Fatal(err)
				}
				counts := map[string]int{}
				for range draws {
					d, err := sched.Schedule(s, pod)
					if err != nil {
						t.Fatal(err)
					}
					counts[d.Node]++
				}
				expected, chi, seen := float64(draws)/float64(len(tied)), 0.0, 0
				for _, name := range tied {
					d := float64(counts[name]) - expected
					chi += d * d / expected
					seen += counts[name]
				}
				if limit := chiSquare999[len(tied)-1]; seen != draws || chi > limit {
					t.Errorf("chi-square of %v = %.1f, want at most %.1f over %d tied nodes and no other", counts, chi, limit, len(tied))
				}
			})
		}
	}
}

func TestDrawCoversAll(t *testing.T) {
	for _, tt := range []struct {
		word uint64
		n    int
		want int
	}{
		{0, 3, 0}, {1 << 63, 3, 1}, {1<<64 - 1, 3, 2}, {1<<64 - 1, 1, 0}, {1 << 62, 4, 1},
	} {
		if got := draw(tt.word, tt.n); got != tt.want {
			t.Errorf("draw(%#x, %d) = %d, want %d", tt.word, tt.n, got, tt.want)
		}
	}
}

func TestDecisionSeedsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for seed := range uint64(50) {
		for n := range uint64(500) {
			s, id := decisionSeed(seed, n), fmt.Sprintf("seed %d, decision %d", seed, n)
			if other, ok := seen[s]; ok {
				t.Fatalf("%s and %s have the same random word", id, other)
			}
			seen[s] = id
		}
	}
}

// TestReservoirDrawForDraw compares with selectHost of kube-scheduler 1.22, fed by
// the same generator. One draw too many or too few, or in another place, would show
// in the later draws.
func TestReservoirDrawForDraw(t *testing.T) {
	selectHost := func(totals []int64, intn func(int) int) int {
		largest, selected, count := totals[0], 0, 1
		for i, total := range totals[1:] {
			if total > largest {
				largest, selected, count = total, i+1, 1
			} else if total == largest {
				if count++; intn(count) == 0 {
					selected = i + 1
				}
			}
		}
		return selected
	}
	rapid.Check(t, func(t *rapid.T) {
		totals := rapid.SliceOfN(rapid.Int64Range(0, 3), 1, 70).Draw(t, "totals")
		seed := rapid.Uint64().Draw(t, "seed")
		want := selectHost(totals, rand.New(rand.NewPCG(seed, 0)).IntN)
		if got := reservoirPick(totals, seed); got != want {
			t.Fatalf("reservoirPick(%v, %d) = %d, want %d", totals, seed, got, want)
		}
	})
}

func TestWanted(t *testing.T) {
	// Measured with kube-scheduler's formula at percentage 0 (adaptive).
	adaptive := map[int]int{
		99: 99, 100: 100, 125: 100, 500: 230, 1000: 420, 2000: 680, 5000: 500, 5625: 281, 6000: 300, 10000: 500, 15000: 750,
	}
	got := map[int]int{}
	for n := range adaptive {
		got[n] = wanted(n, Adaptive, true)
	}
	if diff := cmp.Diff(adaptive, got); diff != "" {
		t.Errorf("wanted(n, Adaptive) (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		n, percentage int
		scoring       bool
		want          int
	}{
		{5000, AllNodes, true, 5000},
		{5000, 100, true, 5000},
		{5000, 40, true, 2000},
		{150, 40, true, 100},
		{50, 1, true, 50},
		{5000, AllNodes, false, 1},
		{0, AllNodes, false, 0},
		{0, Adaptive, true, 0},
		{1<<31 - 1, 30, true, 644245094},
	} {
		if got := wanted(tt.n, tt.percentage, tt.scoring); got != tt.want {
			t.Errorf("wanted(%d, %d, %t) = %d, want %d", tt.n, tt.percentage, tt.scoring, got, tt.want)
		}
	}
}

func TestTieRuleNames(t *testing.T) {
	if got := Heap.String(); got != "Heap" {
		t.Errorf("Heap.String() = %q", got)
	}
	if got := TieRule(200).String(); got != "TieRule(200)" {
		t.Errorf("TieRule(200).String() = %q", got)
	}
}
