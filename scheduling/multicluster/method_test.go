package multicluster_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

func weigh(pairs ...any) []multicluster.Weight {
	var w []multicluster.Weight
	for i := 0; i < len(pairs); i += 2 {
		w = append(w, multicluster.Weight{Name: pairs[i].(string), Weight: int64(pairs[i+1].(int))})
	}
	return w
}

func targets(pairs ...any) []multicluster.Target {
	w := []multicluster.Target{}
	for i := 0; i < len(pairs); i += 2 {
		w = append(w, multicluster.Target{Name: pairs[i].(string), Replicas: int64(pairs[i+1].(int))})
	}
	return w
}

func TestMethodDivide(t *testing.T) {
	for _, c := range []struct {
		name    string
		method  multicluster.Method
		n       int64
		weights []multicluster.Weight
		held    []multicluster.Target
		ties    multicluster.NameOrder
		want    []multicluster.Target
	}{
		{"exact", multicluster.Webster, 9, weigh("a", 1, "b", 2), nil, multicluster.Ascending, targets("a", 3, "b", 6)},
		{"Floor is not Webster", multicluster.Floor, 25, weigh("a", 6, "b", 6, "c", 2), nil, multicluster.Ascending, targets("a", 11, "b", 11, "c", 3)},
		{"Webster is not Floor", multicluster.Webster, 25, weigh("a", 6, "b", 6, "c", 2), nil, multicluster.Ascending, targets("a", 11, "b", 10, "c", 4)},
		{"the other direction", multicluster.Webster, 25, weigh("a", 6, "b", 6, "c", 2), nil, multicluster.Descending, targets("a", 10, "b", 11, "c", 4)},
		{"a great one takes all", multicluster.Webster, 10, weigh("a", 97, "b", 1, "c", 1, "d", 1), nil, multicluster.Ascending, targets("a", 10, "b", 0, "c", 0, "d", 0)},
		{"no weights", multicluster.Webster, 5, weigh("a", 0, "b", 0), nil, multicluster.Ascending, targets()},
		{"nothing to divide", multicluster.Floor, 0, weigh("a", 1), targets("b", 2), multicluster.Ascending, targets("b", 2)},
		{"nothing to divide, nothing held", multicluster.Webster, 0, weigh("a", 1), nil, multicluster.Ascending, targets("a", 0)},
		{"Floor adds to what is held", multicluster.Floor, 3, weigh("a", 1, "b", 2), targets("a", 3), multicluster.Ascending, targets("a", 4, "b", 2)},
		{"Webster counts what is held", multicluster.Webster, 3, weigh("a", 1, "b", 2), targets("a", 3), multicluster.Ascending, targets("a", 3, "b", 3)},
		{"held elsewhere", multicluster.Webster, 3, weigh("a", 1, "b", 2), targets("z", 3), multicluster.Ascending, targets("a", 1, "b", 2, "z", 3)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.method.Divide(c.n, c.weights, c.held, c.ties)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Divide differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMethodDivideErrors(t *testing.T) {
	huge := []multicluster.Weight{{Name: "a", Weight: math.MaxInt64}, {Name: "b", Weight: 1}}
	for _, c := range []struct {
		name    string
		n       int64
		weights []multicluster.Weight
		held    []multicluster.Target
		want    string
	}{
		{"negative number", -1, nil, nil, `replicas: "-1": must not be negative`},
		{"negative weight", 1, weigh("a", -2), nil, `cluster a: weight: "-2": must not be negative`},
		{"named twice", 1, weigh("a", 1, "a", 1), nil, `cluster a: weight: "1": the cluster is named twice`},
		{"sum", 1, huge, nil, `cluster b: weight: "1": the sum of the weights exceeds 2^63-1`},
		{"held twice", 1, weigh("a", 1), targets("b", 1, "b", 1), `cluster b: replicas: "1": the cluster is named twice`},
		{"held below 0", 1, weigh("a", 1), targets("b", -1), `cluster b: replicas: "-1": must not be negative`},
		{"too many", math.MaxInt64, weigh("a", 1), nil, `replicas: "9223372036854775807": more than 2^53 replicas`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := multicluster.Method(9).Divide(c.n, c.weights, c.held, multicluster.Ascending); fmt.Sprint(err) != `method: "Method(9)": unknown method` {
				t.Errorf("a method that does not exist: %v", err)
			}
			for _, m := range []multicluster.Method{multicluster.Webster, multicluster.Floor} {
				if _, err := m.Divide(c.n, c.weights, c.held, multicluster.Ascending); fmt.Sprint(err) != c.want {
					t.Errorf("%v: %v, want %s", m, err, c.want)
				}
			}
		})
	}
}

// oneByOne is Webster's method by its definition, with fractions.
func oneByOne(n int64, weights []multicluster.Weight, held []multicluster.Target, ties multicluster.NameOrder) map[string]int64 {
	has := map[string]int64{}
	for _, t := range held {
		has[t.Name] = t.Replicas
	}
	claim := func(w multicluster.Weight) *big.Rat { return big.NewRat(w.Weight, 2*has[w.Name]+1) }
	for range n {
		best := weights[0]
		for _, w := range weights[1:] {
			switch c := claim(w).Cmp(claim(best)); {
			case c > 0,
				c == 0 && has[w.Name] < has[best.Name],
				c == 0 && has[w.Name] == has[best.Name] && (w.Name < best.Name) == (ties == multicluster.Ascending):
				best = w
			}
		}
		has[best.Name]++
	}
	return has
}

func drawWeights(t *rapid.T, most int64) []multicluster.Weight {
	var w []multicluster.Weight
	for i := range rapid.IntRange(1, 8).Draw(t, "clusters") {
		w = append(w, multicluster.Weight{
			Name: fmt.Sprint("m", i), Weight: rapid.Int64Range(0, most).Draw(t, "weight"), Previous: rapid.Int64Range(0, 3).Draw(t, "previous"),
		})
	}
	return w
}

func total(w []multicluster.Weight) int64 {
	var sum int64
	for _, x := range w {
		sum += x.Weight
	}
	return sum
}

func TestWebsterIsGivingOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := drawWeights(t, rapid.SampledFrom([]int64{3, 40, 1 << 40, math.MaxInt64 / 8}).Draw(t, "most"))
		if total(weights) == 0 {
			return
		}
		var held []multicluster.Target
		for i := range rapid.IntRange(0, 4).Draw(t, "held") {
			held = append(held, multicluster.Target{Name: fmt.Sprint("m", 2*i), Replicas: rapid.Int64Range(0, 30).Draw(t, "held replicas")})
		}
		n := rapid.Int64Range(1, 120).Draw(t, "n")
		ties := multicluster.NameOrder(rapid.Bool().Draw(t, "descending"))
		want := oneByOne(n, weights, held, ties)
		got, err := multicluster.Webster.Divide(n, weights, held, ties)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range got {
			if x.Replicas != want[x.Name] {
				t.Fatalf("%s has %d, want %d of %v", x.Name, x.Replicas, want[x.Name], want)
			}
		}
	})
}

// Both methods give out exactly n replicas and ignore the order of the weights. No
// cluster gets more than its weight, as long as the weights suffice. Webster never
// takes replicas away when there are more to divide.
func TestMethodProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := drawWeights(t, 50)
		sum := total(weights)
		if sum == 0 {
			return
		}
		n := rapid.Int64Range(1, 2*sum).Draw(t, "n")
		method := rapid.SampledFrom([]multicluster.Method{multicluster.Webster, multicluster.Floor}).Draw(t, "method")
		divide := func(n int64, weights []multicluster.Weight) []multicluster.Target {
			got, err := method.Divide(n, weights, nil, multicluster.Ascending)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		got := divide(n, weights)
		var all int64
		for i, x := range got {
			all += x.Replicas
			if n <= sum && x.Replicas > weights[i].Weight {
				t.Fatalf("%s gets %d, more than its weight %d", x.Name, x.Replicas, weights[i].Weight)
			}
		}
		if all != n {
			t.Fatalf("%d replicas given out, want %d", all, n)
		}
		shuffled := rapid.Permutation(weights).Draw(t, "shuffled")
		if diff := cmp.Diff(got, divide(n, shuffled)); diff != "" {
			t.Fatalf("the order of the weights matters:\n%s", diff)
		}
		if method == multicluster.Webster {
			for i, x := range divide(n+1, weights) {
				if x.Replicas < got[i].Replicas {
					t.Fatalf("%s loses a replica when there is one more", x.Name)
				}
			}
		}
	})
}

func TestNameOrderOf(t *testing.T) {
	// FNV-1a of "a" is 0xe40c292c, and of "b" 0xe70c2de5.
	for uid, want := range map[api.UID]multicluster.NameOrder{"": multicluster.Ascending, "a": multicluster.Ascending, "b": multicluster.Descending} {
		if got := multicluster.NameOrderOf(uid); got != want {
			t.Errorf("NameOrderOf(%q) = %v, want %v", uid, got, want)
		}
	}
}

func BenchmarkMethodDivide(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var weights []multicluster.Weight
	for i := range 50 {
		weights = append(weights, multicluster.Weight{Name: fmt.Sprintf("m%02d", i), Weight: r.Int64N(40_000) + 1})
	}
	for _, m := range []multicluster.Method{multicluster.Webster, multicluster.Floor} {
		for _, n := range []int64{100, 1_000_000} {
			b.Run(fmt.Sprintf("method=%v/clusters=50/replicas=%d", m, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := m.Divide(n, weights, nil, multicluster.Ascending); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
