//go:build full

package work

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A spot is a list or a map of a seed that can grow: the keys and indexes that lead to it.
type spot []any

func (s spot) String() string {
	var b strings.Builder
	for i, step := range s {
		if n, ok := step.(int); ok {
			if i > 0 {
				fmt.Fprintf(&b, "[%d]", n)
			}
			continue
		}
		b.WriteString("." + step.(string))
	}
	return b.String()
}

// A way says which number the marks of element i of n get.
type way struct {
	name string
	of   func(i, n int) int
}

var (
	upward   = way{"upward", func(i, _ int) int { return i }}
	downward = way{"downward", func(i, n int) int { return n - 1 - i }}
	same     = way{"same", func(int, int) int { return 0 }}
	others   = way{"others", func(i, n int) int { return n + i }}
	lastOnly = way{"last only", func(i, n int) int {
		if i == n-1 {
			return 0
		}
		return 2*n + i
	}}
)

// spots are the lists and maps of a seed that can grow: lists with elements, and maps with
// marked keys.
func spots(tree any) (list []spot) {
	var walk func(at spot, v any)
	walk = func(at spot, v any) {
		switch v := v.(type) {
		case []any:
			if len(v) > 0 && len(at) > 0 {
				list = append(list, slices.Clone(at))
			}
			for i, e := range v {
				walk(append(slices.Clip(at), i), e)
			}
		case map[string]any:
			keys := slices.Sorted(maps.Keys(v))
			if slices.ContainsFunc(keys, marked) {
				list = append(list, slices.Clone(at))
			}
			for _, k := range keys {
				walk(append(slices.Clip(at), k), v[k])
			}
		}
	}
	walk(nil, tree)
	return list
}

func marked(text string) bool { return strings.Contains(text, "$") }

// number is the tree with each mark replaced by i. A text that is "int:$" becomes a number.
func number(tree any, i int) any {
	switch v := tree.(type) {
	case string:
		if v == "int:$" {
			return float64(i + 1)
		}
		return strings.ReplaceAll(v, "$", strconv.Itoa(i))
	case []any:
		list := make([]any, len(v))
		for k, e := range v {
			list[k] = number(e, i)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[strings.ReplaceAll(k, "$", strconv.Itoa(i))] = number(e, i)
		}
		return m
	}
	return tree
}

// grown is the tree with n elements at the spot. Those beyond its own are copies of the ones in
// the seed.
func grown(tree, seed any, at spot, n int, w way) any {
	if len(at) > 0 {
		switch v := tree.(type) {
		case []any:
			v = slices.Clone(v)
			v[at[0].(int)] = grown(v[at[0].(int)], seed.([]any)[at[0].(int)], at[1:], n, w)
			return v
		case map[string]any:
			v = maps.Clone(v)
			v[at[0].(string)] = grown(v[at[0].(string)], seed.(map[string]any)[at[0].(string)], at[1:], n, w)
			return v
		}
	}
	switch v := tree.(type) {
	case []any:
		list := make([]any, 0, n)
		for i := range max(n, len(v)) {
			if i < len(v) {
				list = append(list, number(v[i], w.of(i, n)))
			} else {
				list = append(list, number(seed.([]any)[i%len(v)], w.of(i, n)))
			}
		}
		return list
	case map[string]any:
		m := make(map[string]any, n)
		for k, e := range v {
			if !marked(k) {
				m[k] = e
				continue
			}
			for i := range n {
				if i > 0 {
					e = seed.(map[string]any)[k]
				}
				m[strings.ReplaceAll(k, "$", strconv.Itoa(w.of(i, n)))] = number(e, w.of(i, n))
			}
		}
		return m
	}
	panic("a spot is a list or a map")
}

// bounded are lists that do not grow beyond a bound, by how the names of their spots end.
var bounded = []struct {
	at   string
	most int
	why  string
}{
	{".spec.devices.constraints", 32, "an API server stores no more; times requests the library takes 1,048,576, see SECURITY.md"},
	{".matchFields[0].values", 1, "an API server stores one, and the library refuses what has more"},
	{".Placement.spreadConstraints", 2, "there is one for each field, and the library refuses a second"},
}

// mostAt is how many elements there may be at a spot.
func mostAt(at spot) int {
	for _, b := range bounded {
		if strings.HasSuffix(at.String(), b.at) {
			return b.most
		}
	}
	return math.MaxInt
}

// A growth is some spots of a seed, and how they grow.
type growth struct {
	at   []spot
	ways []way
}

func (g growth) String() string {
	var list []string
	for i, at := range g.at {
		list = append(list, at.String()+" "+g.ways[i].name)
	}
	return strings.Join(list, " x ")
}

// of is the seed with n elements at each spot. Inner lists grow first, in the first elements of outer ones, so
// the size grows with n.
func (g growth) of(seed any, n int) any {
	order := make([]int, len(g.at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(g.at[b]) - len(g.at[a]) })
	tree := seed
	for _, i := range order {
		tree = grown(tree, seed, g.at[i], min(n, mostAt(g.at[i])), g.ways[i])
	}
	return number(tree, 0)
}

// parse is the seed as a tree. Lines that begin with // are left out.
func parse(text string) any {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "//") {
			b.WriteString(line)
		}
	}
	var tree any
	if err := json.Unmarshal([]byte(b.String()), &tree); err != nil {
		panic(err)
	}
	return tree
}

func text(tree any) []byte {
	data, err := json.Marshal(tree)
	if err != nil {
		panic(err)
	}
	return data
}

// Lists of a seed grow in so many rounds. Those that grow, and how, differ from round to round. In the first
// all grow upward, so that elements with one number meet. In the others fewer and fewer do, because what is not
// valid, or too large for each node, ends early.
const growRounds = 3

// The smaller number of elements. A statement that runs for each pair of elements runs 16 times as often for
// the larger number, which is four times the smaller.
const growSize = 100

// growMost is how many times as often a statement may run, and growLeast how often at least to be reported: a
// quarter of all pairs of the larger number. Sorting and binary search take more than n steps, and have statements
// that few elements do not reach, so they may run them twice for each pair.
const (
	growMost  = 8
	growLeast = (times * growSize) * (times * growSize) / 4
	growSorts = 2 * (times * growSize) * (times * growSize)
)

// growPatience is how long the test looks for the lists that suffice, once it has failed.
const growPatience = 2 * time.Minute

// growAllowed are functions whose statements may run for each pair, and why.
var growAllowed = map[string]string{
	"resource.SatAdd":     vectors,
	"resource.Vector.At":  vectors,
	"resource.Vector.Add": vectors,
	"framework.raise":     vectors,
	// Components of a workload are 1,000 at most.
	"estimator/capacity.setPacker.kindsOfNodes": vectors,
	"framework.NewPodInfo":                      vectors,
	// These begin to be many for the larger number only.
	"filter.unknownNames.add":          "names beyond 4 KiB of names are counted, one by one",
	"framework.PodInfo.UnknownRequest": "names beyond the 64 that a schema takes from pods (resource.MaxGuests) are looked up, each in log n",
	"framework.without":                "names beyond those 64 are left out, one by one",
}

// vectors is why there may be work for each container and each name of a resource.
const vectors = "a vector has an element for each of the 1,024 names of nodes and 64 of pods, at most (resource.MaxNames)"

// growing is a seed with what is done with it.
type growing struct {
	name, seed string
	uses       []use
}

func allGrowing() (list []growing) {
	for _, name := range slices.Sorted(maps.Keys(seeds)) {
		list = append(list, growing{name, seeds[name], clusterUses})
	}
	return append(list, growing{"clusters", clusterSeed, []use{{"federate", federate}}}, growing{"configuration", configurationSeed, []use{{"configure", configure}}})
}

// rounds are what grows in each round.
func (g growing) rounds() (list []growth) {
	random := rand.New(rand.NewPCG(1, 2))
	all := spots(parse(g.seed))
	for round := range growRounds {
		var x growth
		for _, at := range all {
			w := upward
			if round > 0 {
				w = []way{upward, upward, downward, same, others, lastOnly}[random.IntN(6)]
				if random.IntN(round+1) > 0 {
					continue
				}
			}
			x.at, x.ways = append(x.at, at), append(x.ways, w)
		}
		list = append(list, x)
	}
	return list
}

// TestGrow grows the lists and maps of small objects, many at once, and counts how often each statement runs. No
// statement may run for each pair of elements of two lists, or of one. If one does, the test looks for two lists that
// suffice.
func TestGrow(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the library anew")
	}
	counter := newCounter(t)
	for _, g := range allGrowing() {
		t.Run(g.name, func(t *testing.T) {
			rounds := g.rounds()
			whole := make([][]int, len(rounds))
			for i := range rounds {
				for k := range rounds[i].at {
					whole[i] = append(whole[i], k)
				}
			}
			found := counter.tooOften(t, asked{g.name, growSize, whole})
			until := time.Now().Add(growPatience)
			for _, f := range found {
				t.Errorf("%s of %s runs %d times for %d elements, %d times for %d: %s",
					f.at, f.function, f.small, growSize, f.large, times*growSize, counter.fewest(t, g, rounds, f.function, until))
			}
		})
	}
}

// TestGrowing does what its caller, TestGrow, says in the environment.
func TestGrowing(t *testing.T) {
	var ask asked
	if err := json.Unmarshal([]byte(os.Getenv("BERTH_GROW")), &ask); err != nil {
		t.Skip("TestGrow runs it")
	}
	for _, g := range allGrowing() {
		if g.name != ask.Seed {
			continue
		}
		seed, rounds := parse(g.seed), g.rounds()
		for i, keep := range ask.Rounds {
			if len(keep) == 0 {
				continue
			}
			tree := rounds[i].part(keep).of(seed, ask.Size).(map[string]any)
			for _, u := range g.uses {
				if err := u.do(tree); err != nil && testing.Verbose() {
					t.Logf("%s: %.300v", u.name, err)
				}
			}
		}
	}
}

// part is the growth of some of its spots.
func (g growth) part(keep []int) (x growth) {
	for _, k := range keep {
		x.at, x.ways = append(x.at, g.at[k]), append(x.ways, g.ways[k])
	}
	return x
}

// asked is which spots of the rounds of a seed grow, and to which size.
type asked struct {
	Seed   string
	Size   int
	Rounds [][]int
}

// frequent is the statement of a function that runs most often of those that run too often.
type frequent struct {
	at, function string
	small, large int
}

// tooOften are the functions with statements that run too often, those that run most first.
func (c *counter) tooOften(t *testing.T, ask asked) (list []frequent) {
	t.Helper()
	run := func(size int) []block {
		ask.Size = size
		return c.blocks(t, "TestGrowing", "BERTH_GROW="+string(text(ask)))
	}
	small := map[string]int{}
	for _, b := range run(growSize) {
		small[b.at] = b.runs
	}
	worst := map[string]frequent{}
	for _, b := range run(times * growSize) {
		least := growLeast
		if strings.HasPrefix(b.at, "slices/z") || strings.HasPrefix(b.at, "slices/sort.go") {
			least = growSorts
		}
		if b.runs <= least || b.runs <= growMost*small[b.at] {
			continue
		}
		name := functionAt(t, b.at)
		if growAllowed[name] == "" && b.runs > worst[name].large {
			worst[name] = frequent{b.at, name, small[b.at], b.runs}
		}
	}
	list = slices.SortedFunc(maps.Values(worst), func(a, b frequent) int {
		return cmp.Or(cmp.Compare(b.large, a.large), cmp.Compare(a.at, b.at))
	})
	// What package slices does is named by its caller, if that runs about as often.
	most := 0
	for _, f := range list {
		if !strings.HasPrefix(f.at, "slices/") {
			most = max(most, f.large)
		}
	}
	list = slices.DeleteFunc(list, func(f frequent) bool { return strings.HasPrefix(f.at, "slices/") && f.large < 2*most })
	return list
}

// functionAt names the function with a statement, such as "filter.tolerates" or "resource.Vector.Add".
func functionAt(t *testing.T, at string) string {
	t.Helper()
	file, lines, _ := strings.Cut(at, ":")
	line, err := strconv.Atoi(lines[:strings.Index(lines, ".")])
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	from := "../../.." // the module
	if strings.HasPrefix(at, "slices/") {
		from = filepath.Join(build.Default.GOROOT, "src")
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, filepath.Join(from, file), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || files.Position(f.Pos()).Line > line || files.Position(f.End()).Line < line {
			continue
		}
		name := f.Name.Name
		if f.Recv != nil {
			of := f.Recv.List[0].Type
			if p, ok := of.(*ast.StarExpr); ok {
				of = p.X
			}
			if generic, ok := of.(*ast.IndexExpr); ok {
				of = generic.X
			}
			if id, ok := of.(*ast.Ident); ok {
				name = id.Name + "." + name
			}
		}
		return filepath.ToSlash(filepath.Dir(file)) + "." + name
	}
	return at
}

// fewest says for which two spots, or few, the function runs too often. It leaves out rounds, and then spots, as
// long as it does.
func (c *counter) fewest(t *testing.T, g growing, rounds []growth, function string, until time.Time) string {
	t.Helper()
	holds := func(round int, keep []int) bool {
		ask := asked{g.name, growSize, make([][]int, len(rounds))}
		ask.Rounds[round] = keep
		return slices.ContainsFunc(c.tooOften(t, ask), func(f frequent) bool { return f.function == function })
	}
	// Rounds with few spots are quick.
	for i, r := range slices.Backward(rounds) {
		var keep []int
		for k := range r.at {
			keep = append(keep, k)
		}
		if time.Now().After(until) {
			break
		}
		if !holds(i, keep) {
			continue
		}
		for part := (len(keep) + 1) / 2; part > 0; {
			left := false
			for from := 0; from < len(keep) && len(keep) > 1; {
				if time.Now().After(until) {
					return "these lists, or fewer, suffice: " + r.part(keep).String()
				}
				less := slices.Delete(slices.Clone(keep), from, min(from+part, len(keep)))
				if len(less) > 0 && holds(i, less) {
					keep, left = less, true
				} else {
					from += part
				}
			}
			if part == 1 && !left {
				break
			}
			part = max(1, part/2)
		}
		return "these lists suffice: " + r.part(keep).String()
	}
	return "no round by itself suffices, or there was no time to look"
}
