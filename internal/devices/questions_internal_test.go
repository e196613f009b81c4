//go:build full

package devices

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A countingCompiler compiles texts that begin with what their programs answer, "true",
// "false" or "error", and counts what it is asked.
type countingCompiler struct {
	mu    sync.Mutex
	texts map[string]int // compiled
	calls map[string]int // by text and device
}

func newCounting() *countingCompiler {
	return &countingCompiler{texts: map[string]int{}, calls: map[string]int{}}
}

func (c *countingCompiler) CompileDeviceSelector(text string) (api.CompiledDeviceSelector, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts[text]++
	return &countingProgram{c, text}, nil
}

// sum returns how many calls there were for texts with a prefix.
func (c *countingCompiler) sum(prefix string) (n int) {
	for key, calls := range c.calls {
		if strings.HasPrefix(key, prefix) {
			n += calls
		}
	}
	return n
}

type countingProgram struct {
	of   *countingCompiler
	text string
}

func (p *countingProgram) MatchesDevice(_ string, d *api.Device) (bool, error) {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.of.calls[p.text+" "+d.Name]++
	if strings.HasPrefix(p.text, "error") {
		return false, errors.New("no such key: x")
	}
	return strings.HasPrefix(p.text, "true"), nil
}

// A selectorWorld is a node "a" with devices, and a class "gpu".
type selectorWorld struct {
	t *testing.T
	s *framework.Snapshot
	o Options
}

func newSelectorWorld(t *testing.T, o Options, devices int, ofClass ...string) *selectorWorld {
	t.Helper()
	w := &selectorWorld{t, framework.NewSnapshot(framework.Arrival), o}
	slice := slice24("a")
	slice.Spec.Devices = nil
	for i := range devices {
		slice.Spec.Devices = append(slice.Spec.Devices, api.Device{Name: fmt.Sprintf("gpu-%04d", i)})
	}
	class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}
	class.Spec.Selectors = selectorsOf(ofClass...)
	w.put(w.s.AddNode(api.MakeNode("a", "4", "16Gi").Obj()), framework.Put(w.s, slice), framework.Put(w.s, class))
	return w
}

func (w *selectorWorld) put(errs ...error) {
	w.t.Helper()
	if err := errors.Join(errs...); err != nil {
		w.t.Fatal(err)
	}
}

func selectorsOf(texts ...string) (list []api.DeviceSelector) {
	for _, text := range texts {
		list = append(list, api.DeviceSelector{CEL: &api.CELDeviceSelector{Expression: text}})
	}
	return list
}

// requestFor is a request for devices that the search decides about; see mayBeDirect.
func requestFor(texts ...string) api.DeviceRequest {
	return api.DeviceRequest{Name: "r", FirstAvailable: []api.DeviceSubRequest{{
		Name: "any", DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1, Selectors: selectorsOf(texts...),
	}}}
}

// directFor is a request that needs no search.
func directFor(texts ...string) api.DeviceRequest {
	return api.DeviceRequest{Name: "r", Exactly: &api.ExactDeviceRequest{
		DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1, Selectors: selectorsOf(texts...),
	}}
}

// pod returns a pod with a claim of the same name.
func (w *selectorWorld) pod(namespace, name string, requests ...api.DeviceRequest) *framework.PodInfo {
	w.t.Helper()
	claim := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: namespace}}
	claim.Spec.Devices.Requests = requests
	pod := api.MakePod(name).Obj()
	pod.Namespace = namespace
	pod.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "x", ResourceClaimName: &name}}
	info, err := w.s.NewPodInfo(pod)
	w.put(err, framework.Put(w.s, claim))
	return info
}

// find asks about node a.
func (w *selectorWorld) find(pod *framework.PodInfo) framework.Status {
	w.t.Helper()
	f, status := FinderOf(w.s, pod, w.o)
	if !status.IsSuccess() {
		w.t.Fatal(status)
	}
	return f.Find(w.s.Node("a"), nil)
}

// However many selectors a claim and its class have, each is asked once about each device.
func TestEachSelectorIsAskedOnce(t *testing.T) {
	const selectors = 40
	var ofClass, ofClaim []string
	for i := range selectors {
		ofClass, ofClaim = append(ofClass, fmt.Sprint("true class ", i)), append(ofClaim, fmt.Sprint("true claim ", i))
	}
	ofClaim = append(ofClaim, "false")
	for devices, request := range map[int]api.DeviceRequest{64: requestFor(ofClaim...), 8: directFor(ofClaim...)} {
		c := newCounting()
		w := newSelectorWorld(t, Options{Compiler: c}, devices, ofClass...)
		for i := range 3 {
			if status := w.find(w.pod("good", fmt.Sprint("p", i), request)); status.Code() != framework.UnschedulableAndUnresolvable {
				t.Fatalf("%d devices: %v", devices, status)
			}
		}
		if want := devices * (2*selectors + 1); len(c.calls) != want || c.sum("") != want {
			t.Errorf("%d devices: %d calls about %d selectors and devices, want %d of each", devices, c.sum(""), len(c.calls), want)
		}
	}
}

// A search asks about no device that it does not come to.
func TestSelectorsAreAskedLazily(t *testing.T) {
	c := newCounting()
	w := newSelectorWorld(t, Options{Compiler: c}, 64, "true")
	if status := w.find(w.pod("good", "p", requestFor("true claim"))); !status.IsSuccess() || c.sum("") != 2 {
		t.Errorf("%v after %d calls, want a success after 2", status, c.sum(""))
	}
}

// What selectors cost counts in the bound of the search, on every path that asks them.
func TestSelectorsCount(t *testing.T) {
	const devices, calls = 400, 100
	many := func(answer string) (texts []string) {
		for i := range 7 {
			texts = append(texts, fmt.Sprint(answer, " ", i))
		}
		return texts
	}
	every := directFor(many("true")...)
	every.Exactly.AllocationMode = api.DeviceAllocationModeAll
	two := directFor(append(many("true"), "false")...)
	two.Exactly.Count = 2
	for name, requests := range map[string][]api.DeviceRequest{
		"one":            {directFor(append(many("true"), "false")...)},
		"an alternative": {requestFor(append(many("true"), "false")...)},
		"two":            {two},
		"all":            {every},
		"two requests":   {requestFor(append(many("true"), "false")...), requestFor("false")},
	} {
		c := newCounting()
		w := newSelectorWorld(t, Options{Compiler: c, Steps: stepsOfCall * calls}, devices)
		pod := w.pod("good", "p", requests...)
		var steps *StepsError
		if status := w.find(pod); !errors.As(status.Err(), &steps) || steps.Steps != w.o.Steps || steps.Node != "a" {
			t.Errorf("%s: %v, want an error of %d steps", name, status, w.o.Steps)
		}
		// newDirect and isClean have bounds of their own.
		if n := c.sum(""); n > calls+maxDirect/stepsOfCall+1 || n < calls/2 {
			t.Errorf("%s: %d calls for %d steps", name, n, w.o.Steps)
		}
		before := c.sum("")
		for range 5 {
			w.find(pod)
		}
		if again := c.sum("") - before; again > 5*8 && steps.Steps >= costlySteps {
			t.Errorf("%s: %d more calls for five more attempts", name, again)
		}
	}
}

// meteredCompiler is a countingCompiler whose programs say what they have cost.
type meteredCompiler struct{ *countingCompiler }

type meteredProgram struct{ api.CompiledDeviceSelector }

func (c meteredCompiler) CompileDeviceSelector(text string) (api.CompiledDeviceSelector, error) {
	p, err := c.countingCompiler.CompileDeviceSelector(text)
	return meteredProgram{p}, err
}

func (p meteredProgram) MeterDevice(driver string, d *api.Device) (matches bool, steps int, err error) {
	matches, err = p.MatchesDevice(driver, d)
	return matches, 9 * stepsOfCall, err
}

// What a selector says that it has cost counts too.
func TestMeteredSelectorsCount(t *testing.T) {
	const calls = 100
	c := meteredCompiler{newCounting()}
	w := newSelectorWorld(t, Options{Compiler: c, Steps: 10 * stepsOfCall * calls}, 400)
	var steps *StepsError
	if status := w.find(w.pod("good", "p", directFor("false"))); !errors.As(status.Err(), &steps) {
		t.Errorf("%v, want an error of the steps", status)
	}
	if n := c.sum(""); n > calls+maxDirect/(10*stepsOfCall)+1 || n < calls/2 {
		t.Errorf("%d calls, want about %d", n, calls)
	}
}

// A list of devices is not used if a search could take more steps than it may.
func TestDirectIsBounded(t *testing.T) {
	for _, tt := range []struct {
		steps int
		want  bool
	}{{0, true}, {61 * stepsOfCall, true}, {59 * stepsOfCall, false}} {
		w := newSelectorWorld(t, Options{Compiler: newCounting(), Steps: tt.steps}, 60)
		f, status := FinderOf(w.s, w.pod("good", "p", directFor("false")), w.o)
		if !status.IsSuccess() {
			t.Fatal(status)
		}
		var steps *StepsError
		gaveUp := errors.As(f.Find(w.s.Node("a"), nil).Err(), &steps)
		if got := IsDirect(f, w.s.Node("a")); got != tt.want || gaveUp == tt.want {
			t.Errorf("with %d steps: %t, and the search is given up: %t", tt.steps, got, gaveUp)
		}
	}
}

// The words about a node that is rejected cost no more than the search.
func TestDetailsAreBounded(t *testing.T) {
	const devices = 400
	c := newCounting()
	w := newSelectorWorld(t, Options{Compiler: c, Steps: stepsOfCall * 3 * devices / 2}, devices)
	// The node has nothing for the first request, so the second is asked for the words only.
	f, status := FinderOf(w.s, w.pod("good", "p", requestFor("false"), requestFor("true 2", "false 2")), w.o)
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	list := f.Details(w.s.Node("a"))
	if len(list) != 1 || !strings.Contains(list[0].Subject, fmt.Sprint(w.o.Steps, " steps")) {
		t.Errorf("details are %v, want that it takes too many steps", list)
	}
	if n := c.sum(""); n > 3*devices/2+2 {
		t.Errorf("%d calls, want at most %d", n, 3*devices/2+2)
	}
}

// Counting the devices behind an extended resource is bounded, and asks once.
func TestOfferIsBounded(t *testing.T) {
	const devices = 2*DefaultSteps/stepsOfCall - 1
	for _, tt := range []struct {
		devices int
		want    int64
		calls   int
	}{{1000, 1000, 1000}, {devices, 0, DefaultSteps/stepsOfCall + 1}} {
		c := newCounting()
		w := newSelectorWorld(t, Options{}, tt.devices, "true")
		class := *framework.Lookup[api.DeviceClass](w.s, "gpu")
		class.Spec.ExtendedResourceName = new("example.com/gpu")
		w.put(framework.Put(w.s, &class))
		o := OfferOf(w.s, "example.com/gpu", c)
		for range 3 {
			if got, _ := o.On(w.s.Node("a")); got != tt.want {
				t.Errorf("%d devices of %d, want %d", got, tt.devices, tt.want)
			}
		}
		if n := c.sum(""); n > tt.calls+3 {
			t.Errorf("%d calls for %d devices, want %d", n, tt.devices, tt.calls)
		}
	}
}

// An answer that is kept counts as one that is found out. So a search ends in the same way
// after the same steps, also if others have asked before.
func TestKeptAnswersCountAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[outcome]int{}
	for i := range 300 {
		texts := func() (list []string) {
			for range r.IntN(4) {
				text := fmt.Sprint([]string{"true", "true", "true", "false", "error"}[r.IntN(5)], " ", r.IntN(3))
				list = append(list, text)
			}
			return list
		}
		o := Options{Compiler: newCounting(), Steps: 1 + r.IntN(4000)}
		w := newSelectorWorld(t, o, 1+r.IntN(8), texts()...)
		var requests []api.DeviceRequest
		for range 1 + r.IntN(3) {
			requests = append(requests, requestFor(texts()...))
		}
		pod := w.pod("good", "p", requests...)
		first, a := searchOnA(t, w.s, pod, o)
		wide := o
		wide.Steps = 0
		searchOnA(t, w.s, pod, wide) // keeps more answers
		w.s.Fork()
		again, b := searchOnA(t, w.s, pod, o)
		if first != again || a.steps != b.steps || fmt.Sprint(a.err) != fmt.Sprint(b.err) {
			t.Fatalf("case %d: %d after %d steps (%v), then %d after %d (%v)", i, first, a.steps, a.err, again, b.steps, b.err)
		}
		seen[first]++
		if _, gaveUp := a.err.(*StepsError); gaveUp {
			seen[limited]++
		}
	}
	for _, o := range []outcome{failed, solved, fatal, limited} {
		if seen[o] < 10 {
			t.Errorf("outcome %d came %d times", o, seen[o])
		}
	}
}

// A user who creates thousands of claims with selectors of their own does not make the
// selectors of others be asked or compiled again, and what is kept stays within its bound.
func TestManyClaimsOfOneUser(t *testing.T) {
	c := newCounting()
	w := newSelectorWorld(t, Options{Compiler: c}, 8, "true of the class")
	innocent := func(i int) {
		t.Helper()
		if status := w.find(w.pod("good", fmt.Sprint("p", i), requestFor("true of the innocent"))); !status.IsSuccess() {
			t.Fatal(status)
		}
	}
	innocent(0)
	w.find(w.pod("bad", "first", requestFor("false"))) // asks about all devices
	asked, kept := c.sum("true of the"), 0
	for i := range 3 * maxDemands {
		w.find(w.pod("bad", fmt.Sprint("p", i), requestFor(fmt.Sprint("false ", i))))
		if i%100 == 0 {
			innocent(i + 1)
		}
		kept = max(kept, w.kept())
	}
	if n := c.sum("true of the"); n != asked || c.texts["true of the innocent"] != 1 || c.texts["true of the class"] != 1 {
		t.Errorf("the selectors of the innocent and the class are asked %d times, then %d; they are compiled %d and %d times",
			asked, n, c.texts["true of the innocent"], c.texts["true of the class"])
	}
	if most := maxDemandBytes + maxDemandBytes/100; kept > most || kept < maxDemandBytes/2 {
		t.Errorf("demands of %d bytes are kept, want at most %d", kept, most)
	}
}

// kept is how many bytes the demands of the snapshot take.
func (w *selectorWorld) kept() (sum int) {
	for _, d := range StateOf(w.s).demands.known {
		sum += d.bytes + d.answers.size()
	}
	return sum
}

// The answers of one claim are bounded, and so are those of claims together.
func TestAnswersAreBounded(t *testing.T) {
	d := &demand{answers: new(account)}
	q := [2]questions{{account: d.answers}, {account: d.answers}}
	s := &slice{devices: make([]Device, 1<<16)}
	for i := range 200 {
		s.tag = new(tag)
		if got := q[i%2].answersFor(s); len(got) != len(s.devices) {
			t.Fatalf("%d answers, want %d", len(got), len(s.devices))
		}
		sum := 0
		for k := range q {
			n := 0
			for _, list := range q[k].kept {
				n += 128 + 4*len(list)
			}
			if n != q[k].bytes {
				t.Fatalf("%d bytes are kept, %d are counted", n, q[k].bytes)
			}
			sum += n
		}
		if sum != d.answers.size() || sum > maxAnswerBytes {
			t.Fatalf("%d bytes are kept, %d are counted, want at most %d", sum, d.answers.size(), maxAnswerBytes)
		}
	}
	// When it is full, a list of questions begins anew.
	q[1].forget()
	for range 200 {
		s.tag = new(tag)
		q[0].answersFor(s)
		if q[0].kept[s.tag] == nil {
			t.Fatal("the answers for the last slice are not kept")
		}
	}
	w := newSelectorWorld(t, Options{Compiler: newCounting()}, 8)
	x := StateOf(w.s)
	for i := range 100 {
		w.find(w.pod("bad", fmt.Sprint("p", i), requestFor(fmt.Sprint("false ", i))))
		// As if the claim had been asked about many nodes.
		x.demands.last.answers.bytes.Add(maxAnswerBytes / 2)
		if most := maxDemandBytes + maxAnswerBytes; w.kept() > most {
			t.Fatalf("%d bytes after %d claims, want at most %d", w.kept(), i, most)
		}
	}
	if n := len(x.demands.known); n > 20 || n < 4 {
		t.Errorf("%d demands are kept", n)
	}
}

// Errors are kept, too: an attempt that fails does not ask again.
func TestFaultsAreKept(t *testing.T) {
	c := newCounting()
	w := newSelectorWorld(t, Options{Compiler: c}, 3)
	pod := w.pod("good", "p", requestFor("true", "error"))
	want := ""
	for range 5 {
		status := w.find(pod)
		if want == "" {
			want = fmt.Sprint(status.Err())
		}
		if got := fmt.Sprint(status.Err()); got != want || !strings.Contains(got, "claim good/p: selector #1 on device d/a/gpu-0000: CEL runtime error: no such key: x") {
			t.Fatalf("%s, want %s", got, want)
		}
	}
	if c.sum("") != 2 {
		t.Errorf("%d calls, want 2", c.sum(""))
	}
	var q questions
	d := &Device{slice: &slice{tag: new(tag)}}
	for i := range 100 {
		d.index = i
		if q.keep(d, answer{err: errSteps}); len(q.fault) > maxFaults {
			t.Fatalf("%d errors are kept, want at most %d", len(q.fault), maxFaults)
		}
	}
}

// All selectors of a claim, or of a class, have bounds together. The error names the first
// beyond them; those before are not touched by it.
func TestSelectorsAreBounded(t *testing.T) {
	pattern := func(i, parts int) string { return fmt.Sprintf(`!device.driver.matches("x%d(a{%d})")`, i, parts) }
	var patterns, equal, long []string
	for i := range 20 {
		patterns, equal = append(patterns, pattern(i, 990)), append(equal, pattern(0, 990))
	}
	for i := range 55 {
		long = append(long, fmt.Sprintf("%q != %q", strings.Repeat("x", 9990), fmt.Sprint(i)))
	}
	for name, tt := range map[string]struct {
		texts []string
		want  string
	}{
		"patterns": {patterns, "selector #16: the built-in selectors do not have patterns of more than 16384 parts in all selectors of a class or claim; set DeviceSelectors"},
		"equal":    {equal, ""},
		"texts":    {long, "selector #52: CEL compile error: the selectors of a class or claim are longer than 524288 bytes in all"},
	} {
		check := func(whose string, status framework.Status) {
			t.Helper()
			if got := fmt.Sprint(status.Err()); tt.want == "" && !status.IsSuccess() || tt.want != "" && !strings.Contains(got, whose+": "+tt.want) {
				t.Errorf("%s of %s: %v, want %q", name, whose, status, tt.want)
			}
		}
		w := newSelectorWorld(t, Options{}, 2)
		check("claim good/p", w.find(w.pod("good", "p", requestFor(tt.texts...))))
		// The requests of a claim share the bound.
		half := len(tt.texts) / 2
		status := w.find(w.pod("good", "two", requestFor(tt.texts[:half]...), requestFor(tt.texts[half:]...)))
		if status.IsSuccess() != (tt.want == "") {
			t.Errorf("%s in two requests: %v", name, status)
		}
		w = newSelectorWorld(t, Options{}, 2, tt.texts...)
		check("class gpu", w.find(w.pod("good", "p", requestFor())))
	}
}

// What is dropped when programs take too much memory are the oldest of those who have most.
func TestProgramsAreSharedFairly(t *testing.T) {
	var p programs
	c := newCounting()
	p.get(programKey{c, "innocent"}, "good")
	long := strings.Repeat("x", 9000)
	for i := range 300 {
		p.get(programKey{c, fmt.Sprint(long, i)}, "bad")
	}
	p.get(programKey{c, "innocent"}, "good")
	p.get(programKey{c, fmt.Sprint(long, 299)}, "bad")
	p.get(programKey{c, fmt.Sprint(long, 0)}, "bad")
	if c.texts["innocent"] != 1 || c.texts[fmt.Sprint(long, 299)] != 1 || c.texts[fmt.Sprint(long, 0)] != 2 {
		t.Errorf("the innocent program is compiled %d times, the last %d times, the oldest %d times, want 1, 1 and 2",
			c.texts["innocent"], c.texts[fmt.Sprint(long, 299)], c.texts[fmt.Sprint(long, 0)])
	}
}

// TestOverspent compares with what the words say.
func TestOverspent(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		list := make([]expense, r.IntN(12))
		spent, sum := map[string]int{}, 0
		for i := range list {
			list[i] = expense{string(rune('a' + r.IntN(4))), uint64(i), 1 + r.IntN(20)}
			spent[list[i].owner] += list[i].bytes
			sum += list[i].bytes
		}
		r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
		most := r.IntN(120)
		left := map[string]int{}
		ended := overspent(list, most)
		for i, e := range list {
			if slices.Contains(ended, i) {
				sum -= e.bytes
				continue
			}
			left[e.owner] += e.bytes
			for _, k := range ended {
				if list[k].owner == e.owner && list[k].born > e.born {
					t.Fatalf("%v: %v is dropped before %v", list, list[k], e)
				}
			}
		}
		if sum > most {
			t.Fatalf("%v: %d are left of %d", list, sum, most)
		}
		for owner, n := range spent {
			if n*len(spent) <= most && left[owner] != n {
				t.Fatalf("%v: %s has less than its share of %d, and loses some", list, owner, most)
			}
		}
	}
}
