package capacity

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// Amounts are mostly small, so that many are equal and some sets fit; some are near overflow.
var (
	small, few   = rapid.Int64Range(0, 40), rapid.Int64Range(0, 3)
	nearOverflow = rapid.Int64Range(math.MaxInt64-2, math.MaxInt64)
	drawnRoom    = rapid.OneOf(small, small, small, rapid.Int64Range(0, 3000), nearOverflow)
	drawnNeed    = rapid.OneOf(few, small, rapid.Int64Range(0, 3000), nearOverflow)
)

// twins are a packer and its plain twin.
type twins struct {
	packer *setPacker
	plain  *plainPacker
}

// drawKinds returns components of a set, for both packers.
func drawKinds(t *rapid.T, width int, most int64) (kinds []setKind, plain []plainKind) {
	need := rapid.SampledFrom([]*rapid.Generator[int64]{few, few, small, drawnNeed}).Draw(t, "needs")
	for range rapid.IntRange(0, 8).Draw(t, "components") {
		k := setKind{replicas: rapid.OneOf(few, rapid.Int64Range(0, most)).Draw(t, "replicas"), needs: []int64{1}}
		for range width - 1 {
			k.needs = append(k.needs, need.Draw(t, "need"))
		}
		kinds = append(kinds, k)
		plain = append(plain, plainKind{replicas: k.replicas, needs: k.needs})
	}
	return kinds, plain
}

// podsIn is how many pods the components have.
func podsIn(kinds []setKind) (n int64) {
	for i := range kinds {
		n += kinds[i].replicas
	}
	return n
}

// check compares the room of the nodes that both have filled.
func (x twins) check(t *rapid.T) {
	next := 0
	for i := range x.packer.rows {
		nodes := &x.packer.rows[i].nodes
		for at := range nodes.count {
			for x.plain.nodes[next].grade < i { // empty ones that the plain packer has passed over
				next++
			}
			if want := x.plain.nodes[next].room; at >= nodes.dropped && !slices.Equal(nodes.room(at), want) {
				t.Fatalf("node %d of row %d has room %d, want %d", at, i, nodes.room(at), want)
			}
			next++
		}
	}
	for _, n := range x.plain.nodes[next:] {
		if !slices.Equal(n.room, x.plain.empty[n.grade]) {
			t.Fatalf("only the plain packer fills a node of grade %d", n.grade)
		}
	}
}

// TestPackerOfGrades: nodes of grades are filled as if one looked at each of them, however many
// there are.
func TestPackerOfGrades(t *testing.T) {
	var huge, all int
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 3).Draw(t, "width")
		assumed, plainAssumed := drawKinds(t, width, 9)
		kinds, plainKinds := drawKinds(t, width, 9)
		bound := rapid.SampledFrom([]int64{0, 7, 40, 500}).Draw(t, "bound")
		// The plain packer gets as many nodes of a grade as it could ever fill.
		pods := podsIn(assumed) + bound*podsIn(kinds)
		x := twins{&setPacker{maxSteps: maxPackSteps}, &plainPacker{}}
		var before int64
		counts := rapid.SampledFrom([]*rapid.Generator[int64]{small, rapid.OneOf(small, rapid.Just[int64](maxFilled/4), rapid.Just[int64](math.MaxInt64))}).Draw(t, "counts")
		for range rapid.IntRange(0, 4).Draw(t, "grades") {
			row := setRow{before: before, empty: []int64{podsPerNode}, nodes: setNodes{width: width}}
			row.left = counts.Draw(t, "nodes")
			for range width - 1 {
				row.empty = append(row.empty, drawnRoom.Draw(t, "room"))
			}
			before = resource.SatAdd(before, row.left)
			x.packer.rows = append(x.packer.rows, row)
			x.plain.left = append(x.plain.left, min(row.left, pods))
			x.plain.empty = append(x.plain.empty, row.empty)
		}
		x.packer.place(assumed)
		x.plain.place(plainAssumed)
		got, want := x.packer.pack(kinds, bound), x.plain.pack(plainKinds, bound)
		if err := x.packer.check(); err != nil {
			if before <= maxFilled {
				t.Fatalf("%d nodes: %v", before, err)
			}
			return
		}
		if got != want {
			t.Fatalf("pack = %d, want %d", got, want)
		}
		x.check(t)
		if before <= pods && x.packer.opened != int64(len(x.plain.nodes)) { // the plain one has all nodes
			t.Fatalf("opened %d nodes, want %d", x.packer.opened, len(x.plain.nodes))
		}
		if before >= maxFilled/4 {
			huge++
		}
		if got == bound && got > 0 {
			all++
		}
	})
	if huge == 0 || all == 0 {
		t.Errorf("%d cases of huge grades, %d of sets that all fit; want both", huge, all)
	}
}

// TestPackerOfNodes: known nodes are filled as if one looked at each of them.
func TestPackerOfNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 3).Draw(t, "width")
		x := twins{&setPacker{maxSteps: math.MaxInt64}, &plainPacker{}}
		known := setNodes{width: width}
		for range rapid.IntRange(0, 5*blockSize).Draw(t, "nodes") {
			room := []int64{rapid.Int64Range(0, 200).Draw(t, "pods")}
			for range width - 1 {
				room = append(room, drawnRoom.Draw(t, "room"))
			}
			known.add(room)
			x.plain.nodes = append(x.plain.nodes, plainNode{0, room})
		}
		x.packer.rows = []setRow{{nodes: known}}
		kinds, plainKinds := drawKinds(t, width, 20)
		for i := range kinds {
			if period := rapid.IntRange(1, 40).Draw(t, "forbidden"); period > 1 {
				kinds[i].may = func(node int) bool { return node%period > 0 }
				plainKinds[i].may = kinds[i].may
			}
			if short := rapid.IntRange(1, width).Draw(t, "needs"); rapid.Bool().Draw(t, "short") {
				kinds[i].needs, plainKinds[i].needs = kinds[i].needs[:short], kinds[i].needs[:short]
			}
		}
		bound := rapid.SampledFrom([]int64{0, 1, 7, 100_000}).Draw(t, "bound")
		if got, want := x.packer.pack(kinds, bound), x.plain.pack(plainKinds, bound); got != want {
			t.Fatalf("pack = %d, want %d", got, want)
		}
		x.check(t)
	})
}

// manyComponents are so many that all differ: two of them never share a node of grade 6.
func manyComponents(n int) []Component {
	var list []Component
	for i := range int64(n) {
		list = append(list, Component{Replicas: 1, Request: resource.List{resource.CPU: resource.Milli(16_001 + i), resource.Memory: resource.New(1+i, resource.BinarySI)}})
	}
	return list
}

// nodesOfGrade6 is a cluster of so many nodes, with no other limits.
func nodesOfGrade6(n int) *api.Cluster {
	c := &api.Cluster{}
	c.Spec.ResourceModels = DefaultModels()
	plenty := resource.New(1<<60, resource.DecimalSI)
	c.Status.ResourceSummary = &api.ResourceSummary{
		Allocatable:          resource.List{resource.Pods: plenty, resource.CPU: resource.Milli(1 << 60), resource.Memory: plenty},
		AllocatableModelings: []api.AllocatableModeling{{Grade: 6, Count: n}},
	}
	return c
}

// TestComponentsDoNotMultiplyNodes: components pass over nodes without room for them in blocks.
func TestComponentsDoNotMultiplyNodes(t *testing.T) {
	const nodes, components = 5000, 1000
	empty := []int64{podsPerNode, 32_000, 1 << 37}
	p := &setPacker{known: map[resource.Name]bool{}, maxSteps: maxPackSteps}
	p.count(resource.CPU)
	p.count(resource.Memory)
	p.rows = []setRow{{empty: empty, left: nodes, nodes: setNodes{width: len(empty)}}}
	plain := &plainPacker{left: []int64{nodes}, empty: [][]int64{empty}}
	kinds := p.kindsOf(manyComponents(components))
	var same []plainKind
	for _, k := range kinds {
		same = append(same, plainKind{replicas: k.replicas, needs: k.needs})
	}
	got, want := p.pack(kinds, MaxReplicas), plain.pack(same, MaxReplicas)
	if got != want || got != nodes/components {
		t.Errorf("pack = %d, want %d", got, want)
	}
	if plain.looks < nodes*components*4/5 || p.steps > plain.looks/10 {
		t.Errorf("%d steps, want at most a tenth of %d", p.steps, plain.looks)
	}
}

// TestPackStepsAreBounded: a status that claims absurdly many nodes costs its cluster the estimate,
// and says why.
func TestPackStepsAreBounded(t *testing.T) {
	c := nodesOfGrade6(4_000_000)
	c.Name = "m"
	_, err := General{}.EstimateSets(c, manyComponents(300))
	if want := `cluster m: status.resourceSummary.allocatableModelings: "more than 33554432 steps for `; err == nil || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
		t.Errorf("EstimateSets: %v, want %s...", err, want)
	}
	for _, components := range []int{10, 1000} {
		if _, err := (General{}).EstimateSets(nodesOfGrade6(50_000), manyComponents(components)); err != nil {
			t.Errorf("%d components: %v", components, err)
		}
	}
}

func BenchmarkEstimateSets(b *testing.B) {
	for _, components := range []int{10, 100, 1000} {
		set := manyComponents(components)
		b.Run(fmt.Sprintf("nodes=5000/components=%d", components), func(b *testing.B) {
			c := nodesOfGrade6(5000)
			for b.Loop() {
				if _, err := (General{}).EstimateSets(c, set); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestAssumedNamesTakeNoRoom: a workload in flight may request any number of resources that no node
// has. It fits nowhere, from the first component that requests one, and costs no room for each node.
func TestAssumedNamesTakeNoRoom(t *testing.T) {
	grades := func(cpu, odd string) api.ResourceModel {
		m := api.ResourceModel{Ranges: []api.ResourceModelRange{{Name: resource.CPU, Min: resource.MustParse(cpu), Max: resource.MustParse("100")}}}
		if odd != "" {
			m.Ranges = append(m.Ranges, api.ResourceModelRange{Name: "example.com/odd", Min: resource.MustParse(odd), Max: resource.MustParse("100")})
		}
		return m
	}
	component := func(cpu string, odd ...string) Component {
		c := Component{Replicas: 1, Request: resource.List{resource.CPU: resource.MustParse(cpu)}}
		for _, name := range odd {
			c.Request[resource.Name("example.com/"+name)] = resource.MustParse("1")
		}
		return c
	}
	var many []string
	for i := range 5000 {
		many = append(many, fmt.Sprint("r", i))
	}
	for _, tt := range []struct {
		name    string
		model   api.ResourceModel
		assumed []Component
		want    int64 // sets of one CPU beside them, on a node with 8
	}{
		{"nothing", grades("8", ""), nil, 8},
		{"one that fits", grades("8", ""), []Component{component("3")}, 5},
		{"one that fits, and one that requests a name of no node", grades("8", ""), []Component{component("3"), component("1", "odd")}, 5},
		{"nothing after that", grades("8", ""), []Component{component("1", "odd"), component("3")}, 8},
		{"a name that nodes have", grades("8", "1"), []Component{component("3", "odd"), component("1")}, 4},
		{"more of it than they have", grades("8", "1"), []Component{component("3", "odd"), component("1", "odd")}, 5},
		{"thousands of names", grades("8", ""), []Component{component("3", many...)}, 8},
	} {
		m := modelCount{rule: Karmada118, models: []api.ResourceModel{tt.model}, counts: []api.AllocatableModeling{{Count: 1}}}
		set := []Component{component("1")}
		m.wanted = countedOnly(demands(set[0].Request))
		if _, err := m.uncovered(); err != nil {
			t.Fatal(err)
		}
		p := m.packer([]Assumed{{Components: tt.assumed}})
		if width, want := p.rows[0].nodes.width, 1+len(tt.model.Ranges); width != want {
			t.Errorf("%s: a node has room for %d resources, want %d", tt.name, width, want)
		}
		if got := p.pack(p.kindsOf(set), 100); got != tt.want {
			t.Errorf("%s: %d sets fit, want %d", tt.name, got, tt.want)
		}
	}
}

// TestAssumedStepsEndNoEstimate: however much is in flight, an estimate is made.
func TestAssumedStepsEndNoEstimate(t *testing.T) {
	c := nodesOfGrade6(20_000)
	c.Name = "m"
	var assumed []Assumed
	for range 8 {
		components := manyComponents(1000)
		for i := range components {
			components[i].Replicas = 1000
		}
		assumed = append(assumed, Assumed{Components: components})
	}
	m := modelCount{rule: Karmada118, models: c.Spec.ResourceModels, counts: c.Status.ResourceSummary.AllocatableModelings}
	m.wanted = countedOnly(demands(manyComponents(1)[0].Request))
	if _, err := m.uncovered(); err != nil {
		t.Fatal(err)
	}
	if p := m.packer(assumed); p.check() != nil || p.steps != 0 {
		t.Errorf("%d steps are taken before the estimate, %v", p.steps, p.check())
	}
}

// TestAssumedNodesEndNoEstimate: however many nodes a cluster claims, and however many of them
// workloads in flight reach or fill, others get an estimate.
func TestAssumedNodesEndNoEstimate(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes under the race detector, which finds nothing in one goroutine")
	}
	const nodes = maxFilled + 1_000_000
	of := func(replicas int64, cpu string) []Component {
		return []Component{{Replicas: replicas, Request: resource.List{resource.CPU: resource.MustParse(cpu)}}}
	}
	for _, tt := range []struct {
		name     string
		assumed  []Component
		set      []Component
		replicas int64 // of a whole node
	}{
		{"nothing", nil, of(1, "32"), nodes},
		{"a replica that fits nowhere", of(1, "33"), of(1, "32"), nodes},
		{"replicas that fill more nodes than are placed", of(nodes, "32"), of(1, "32"), nodes - maxFilled},
		{"sets that take too long beside them", of(maxFilled, "32"), manyComponents(200), nodes - maxFilled},
	} {
		const sets = 100
		assumed := []Assumed{{Components: tt.assumed}}
		g, c := General{Assumed: map[string][]Assumed{"m": assumed}}, nodesOfGrade6(nodes)
		c.Name = "m"
		e, err := g.Estimate(c, &Replica{Request: of(1, "32")[0].Request})
		if err != nil || e.Replicas != tt.replicas {
			t.Errorf("%s: %d replicas fit, %v; want %d", tt.name, e.Replicas, err, tt.replicas)
		}
		c.Status.ResourceSummary.Allocatable[resource.Pods] = resource.New(podsAssumed(assumed)+int64(len(tt.set))*sets, resource.DecimalSI)
		e, err = g.EstimateSets(c, tt.set)
		if err != nil || e.Replicas != sets {
			t.Errorf("%s: %d sets fit, %v; want %d", tt.name, e.Replicas, err, sets)
		}
	}
}
