package whatif_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// prodToo has thresholds for prod pods, too.
var prodToo = whatif.RebalanceConfig{
	UseRequests: true,
	Low:         map[resource.Name]float64{resource.CPU: 30}, High: map[resource.Name]float64{resource.CPU: 60},
	ProdLow: map[resource.Name]float64{resource.CPU: 10}, ProdHigh: map[resource.Name]float64{resource.CPU: 40},
}

// ofClass is a pod that may leave a node, of the class koord-prod or another one.
func ofClass(class, name, node, cpu string) *api.Pod {
	return api.MakePod(name).Labels("koordinator.sh/priority-class", class).Owner("ReplicaSet", "x").Requests(cpu, "1Gi").Node(node).Obj()
}

// moved returns copies of the pods as they lie after the moves.
func moved(pods []*api.Pod, moves []whatif.Move) []*api.Pod {
	to := map[string]string{}
	for _, m := range moves {
		to[m.Pod] = m.To
	}
	list := make([]*api.Pod, len(pods))
	for i, p := range pods {
		list[i] = new(*p)
		if node, ok := to[p.Key()]; ok {
			list[i].Spec.NodeName = node
		}
	}
	return list
}

// TestRebalanceProdTargets checks by hand how many pods of 1 CPU a target takes. A node has 10
// CPU; its high thresholds are 6 and, for prod pods, 4.
func TestRebalanceProdTargets(t *testing.T) {
	type load struct{ prod, batch int }
	tests := []struct {
		name          string
		a, b, target  load
		toProd, total int // pods on the target at last
	}{
		{"prod pods of both passes", load{10, 0}, load{6, 0}, load{}, 4, 4},
		{"prod pods of the first pass only", load{10, 0}, load{}, load{}, 4, 4},
		{"others of the first pass", load{0, 10}, load{}, load{}, 0, 4},
		{"others, then prod pods", load{0, 10}, load{6, 0}, load{}, 2, 6},
		{"in order as a whole", load{6, 0}, load{6, 0}, load{0, 5}, 1, 6},
		{"full as a whole", load{6, 0}, load{6, 0}, load{0, 6}, 0, 6},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var nodes []api.NodeBuilder
			var pods []*api.Pod
			for n, l := range []load{test.a, test.b, test.target} {
				name := []string{"a", "b", "t"}[n]
				node := api.MakeNode(name, "10", "64Gi")
				if name == "b" && l == (load{}) {
					node = node.Unschedulable() // no other target
				}
				nodes = append(nodes, node)
				for i := range l.prod {
					pods = append(pods, ofClass("koord-prod", fmt.Sprint("p-", name, i), name, "1"))
				}
				for i := range l.batch {
					pods = append(pods, ofClass("koord-batch", fmt.Sprint("b-", name, i), name, "1"))
				}
			}
			r, err := planner(cluster(nodes, pods...)).Rebalance(prodToo)
			if err != nil {
				t.Fatal(err)
			}
			prod, total := 0, 0
			for _, p := range moved(pods, r.Moves) {
				if p.Spec.NodeName == "t" {
					total++
					if p.Labels["koordinator.sh/priority-class"] == "koord-prod" {
						prod++
					}
				}
			}
			if prod != test.toProd || total != test.total {
				t.Errorf("the target has %d pods, %d of them prod; want %d, %d", total, prod, test.total, test.toProd)
			}
		})
	}
}

// TestRebalanceTwice checks on random clusters that no target exceeds a high threshold, and that
// Rebalance evicts nothing from a node that it made a target the time before.
func TestRebalanceTwice(t *testing.T) {
	moves, both := 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var nodes []api.NodeBuilder
		var pods []*api.Pod
		for i := range 4 + r.IntN(5) {
			name := fmt.Sprint("n", i)
			nodes = append(nodes, api.MakeNode(name, "10", "64Gi"))
			most := 3000 + 1000*r.IntN(8)
			if r.IntN(2) == 0 {
				most = 2000
			}
			share := r.IntN(5) // of prod pods, in quarters
			for k, sum := 0, 1000; sum < most; k++ {
				class, cpu := "koord-prod", 300+100*r.IntN(12)
				if r.IntN(4) >= share {
					class = "koord-batch"
				}
				pods = append(pods, ofClass(class, fmt.Sprintf("p%d-%d", i, k), name, fmt.Sprintf("%dm", cpu)))
				sum += cpu
			}
		}
		first, err := planner(cluster(nodes, pods...)).Rebalance(prodToo)
		if err != nil {
			t.Fatal(err)
		}
		pods = moved(pods, first.Moves)
		s := cluster(nodes, pods...)
		prod := map[string]int64{}
		for _, p := range pods {
			if p.Labels["koordinator.sh/priority-class"] == "koord-prod" {
				info, _ := s.Pod(p.Key())
				prod[p.Spec.NodeName] += info.Requests[0]
			}
		}
		targets := map[string]bool{}
		for _, m := range first.Moves {
			targets[m.To] = true
			if whole := s.Node(m.To).Requested[0]; whole > 6000 || prod[m.To] > 4000 {
				t.Errorf("seed %d: target %s has %dm CPU, want at most 6000m, and %dm of prod pods, want at most 4000m", seed, m.To, whole, prod[m.To])
			}
		}
		second, err := planner(s).Rebalance(prodToo)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range second.Moves {
			if targets[m.From] {
				t.Errorf("seed %d: %+v leaves a node that was a target", seed, m)
			}
		}
		classes := map[whatif.UseClass]bool{}
		for _, n := range first.Nodes {
			classes[n.Class] = true
		}
		if moves += len(first.Moves); classes[whatif.UseHigh] && classes[whatif.UseProdHigh] && len(first.Moves) > 1 {
			both++
		}
	}
	if moves < 200 || both < 20 {
		t.Errorf("%d moves, %d clusters with both passes; the test shows too little", moves, both)
	}
}
