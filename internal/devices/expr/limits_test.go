package expr_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices/expr"
)

// bind binds so many variables in each other.
func bind(n int) string {
	text := ""
	for i := range n {
		text += fmt.Sprintf("cel.bind(v%d, 1, ", i+1)
	}
	return text
}

// matchesEach matches n patterns with each other. Only the text of the last of each differs.
func matchesEach(pattern string, n int) string {
	var parts []string
	for i := range n {
		parts = append(parts, fmt.Sprintf(`!"?".matches("%s%d")`, pattern, i))
	}
	return "[" + strings.Join(parts, ",") + "].all(x, x)"
}

// nestedIn looks for a constant in a list, for the answer in a list, and so on.
func nestedIn(n int) string {
	text := "true"
	for range n {
		text = "(" + text + " in [true])"
	}
	return text
}

// TestSteps compares the steps of expressions of two sizes: the larger is four times the
// smaller, and may take no more than five times the steps.
func TestSteps(t *testing.T) {
	numbers := func(n int) string { return "[1" + strings.Repeat(",1", n-1) + "]" }
	d := gpu()
	for name, tt := range map[string]struct {
		n    int
		text func(n int) string
	}{
		"nested in":  {12, nestedIn},
		"elements":   {100, func(n int) string { return numbers(n) + ".all(x, x == 1)" }},
		"in a list":  {100, func(n int) string { return "2 in " + numbers(n) }},
		"a text":     {1000, func(n int) string { return `"` + strings.Repeat("a", n) + `".matches("b")` }},
		"conditions": {12, func(n int) string { return "true" + strings.Repeat(" && device.driver != \"\"", n) }},
	} {
		steps := func(n int) int {
			p, err := expr.Compile(tt.text(n))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_, steps, err := p.Match(d)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return steps
		}
		if a, b := steps(tt.n), steps(4*tt.n); a < tt.n/10 || b < 2*a || b > 5*a {
			t.Errorf("%s: %d steps, and %d for four times the size", name, a, b)
		}
	}
	p, err := expr.Compile(`[1].all(x, 1 in ` + numbers(1500) + `) && [1` + strings.Repeat(",1", 999) + `].all(x, !(2 in ` + numbers(1000) + `))`)
	if err != nil {
		t.Fatal(err)
	}
	if _, steps, err := p.Match(d); err == nil || steps > 200_000 {
		t.Errorf("%d steps of an evaluation without end (%v)", steps, err)
	}
}

// A short pattern may stand for a program of many megabytes, and a short text for a long
// list. Neither is made.
func TestHostileExpressions(t *testing.T) {
	d := expr.NewDevice("d", &api.Device{Name: "x", Attributes: map[string]api.DeviceAttribute{"a": {StringValue: new(strings.Repeat("a", 64))}}})
	for name, tt := range map[string]struct{ text, want string }{
		"repetitions":              {`device.driver.matches("` + strings.Repeat("a{1000}", 1000) + `")`, "refused"},
		"optional parts":           {`device.attributes["d"].a.matches("` + strings.Repeat("[ab]{0,1000}", 300) + `c")`, "refused"},
		"nested repetitions":       {`device.driver.matches("((abcdefgh){30}){30}")`, "refused"},
		"classes":                  {`device.driver.matches("` + strings.Repeat(`\\pL`, 2000) + `")`, "refused"},
		"found":                    {`device.driver.find("` + strings.Repeat("a{1000}", 10) + `") == ""`, "refused"},
		"a long text":              {`cel.bind(a, "` + strings.Repeat("a", 8000) + `", a.matches("[ab]{0,900}[ab]{0,900}c"))`, "refused"},
		"patterns together":        {matchesEach("a{600}", 7), "refused"},
		"as large ones":            {matchesEach("a{600}", 6), "true"},
		"equal patterns":           {`[` + strings.Repeat(`!"x".matches("(.*a){100}"),`, 300) + `true].all(x, x)`, "true"},
		"tables":                   {matchesEach(`[\\pL]`, 9), "refused"},
		"many tables":              {`"x".matches("` + strings.Repeat(`\\p{Greek}`, 9) + `")`, "refused"},
		"folded ranges":            {matchesEach(`(?i)[\\x{42}-\\x{1e942}]`, 3), "refused"},
		"folded in a group":        {`"x".matches("(?s:a)(?m:b)(?mi:` + strings.Repeat("[!-\U0001E900]", 3) + `)")`, "refused"},
		"folded letters":           {`"X".matches("^(?i)[a-z0-9-]$")`, "true"},
		"long quantities":          {`cel.bind(q, quantity("1e900"), [1` + strings.Repeat(",1", 999) + `].all(x, [1,2].all(y, q.isLessThan(q.add(q)))))`, "refused"},
		"parsing long quantities":  {`[1` + strings.Repeat(",1", 1999) + `].all(x, isQuantity("1e900"))`, "refused"},
		"honest quantities":        {`[1` + strings.Repeat(",1", 1999) + `].all(x, isQuantity("40Gi") && quantity("1Gi").isLessThan(quantity("2Gi")))`, "true"},
		"parsing versions":         {`[1` + strings.Repeat(",1", 199) + `].all(x, isSemver("1.2.3-a` + strings.Repeat(".a", 500) + `"))`, "refused"},
		"nested in":                {nestedIn(50), "true"},
		"an honest pattern":        {`device.driver.matches("^(gpu|nic)[.-][a-z0-9]{1,63}([.][a-z]{2,20}){0,20}$")`, "false"},
		"split":                    {`cel.bind(a, "` + strings.Repeat("x", 8000) + `", cel.bind(b, a+a+a+a+a, cel.bind(c, b+b, cel.bind(e, c+c+c, e.split("").exists(x, x == "y")))))`, "refused"},
		"replace":                  {`cel.bind(a, "` + strings.Repeat("x", 400) + `", a.replace("x", a) == "")`, "refused"},
		"an honest replacement":    {`"a-b".replace("-", "+") == "a+b"`, "true"},
		"nine variables":           {bind(9) + `v9 == 1` + strings.Repeat(")", 9), "refused"},
		"eight variables":          {bind(8) + `v8 == 1` + strings.Repeat(")", 8), "true"},
		"indexOf":                  {`cel.bind(a, "` + strings.Repeat("x", 8000) + `", a.indexOf(a) == 0)`, "refused"},
		"in a list of long texts":  {`cel.bind(a, "` + strings.Repeat("x", 1000) + `", cel.bind(b, a+a+a+a+a+a+a+a, cel.bind(c, b+b+b+b+b+b, cel.bind(g, c+"y", cel.bind(h, c+"z", cel.bind(l, [h` + strings.Repeat(",h", 3000) + `], g in l))))))`, "refused"},
		"in a list of versions":    {`cel.bind(v, semver("1.2.3-a` + strings.Repeat(".1", 1000) + `"), cel.bind(w, semver("1.2.3-a` + strings.Repeat(".1", 999) + `.2"), v in [w` + strings.Repeat(",w", 1000) + `]))`, "refused"},
		"comparisons of a version": {`cel.bind(v, semver("1.2.3-a` + strings.Repeat(".1", 2000) + `"), [1` + strings.Repeat(",1", 999) + `].all(x, v.compareTo(v) == 0))`, "refused"},
		"equal versions":           {`cel.bind(v, semver("1.2.3-a` + strings.Repeat(".1", 2000) + `"), [1` + strings.Repeat(",1", 999) + `].all(x, v == v))`, "refused"},
		"honest versions":          {`semver("1.2.3-rc.1").isLessThan(semver("1.2.3"))`, "true"},
		"in an honest list":        {`"b" in ["a", "b"] && semver("1.2.3") != semver("1.2.4")`, "true"},
		"honest split":             {`"a,b,c".split(",").exists(x, x == "b")`, "true"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := answer(tt.text, d)
		runtime.ReadMemStats(&after)
		if got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		// \pL has 1,300 ends of ranges, which parsing repeats.
		if b := after.TotalAlloc - before.TotalAlloc; b > 4<<20 && name != "classes" || b > 64<<20 {
			t.Errorf("%s: %d bytes of memory for %d bytes of text", name, b, len(tt.text))
		}
	}
}

// Bytes is no less than what programs take.
func TestBytes(t *testing.T) {
	for _, text := range []string{
		`1 in [` + strings.Repeat("1, ", 3000) + `1]`,
		`[` + strings.Repeat("[true], ", 1000) + `[true]].all(x, x[0])`,
		`cel.bind(a, 1, a` + strings.Repeat(" + a", 200) + ` == 5)`,
		`device.driver.matches("a{1000}b{1000}[d-x]{600}")`,
		`device.driver == "x"`,
	} {
		const times = 20
		programs := make([]*expr.Program, times)
		before := inUse()
		for i := range programs {
			var err error
			if programs[i], err = expr.Compile(text); err != nil {
				t.Fatal(err)
			}
		}
		if got := int(inUse()-before) / times; got > programs[0].Bytes()+1<<10 {
			t.Errorf("%.40s takes %d bytes, want at most %d", text, got, programs[0].Bytes())
		}
	}
}

func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
