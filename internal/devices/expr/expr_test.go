package expr_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices/expr"
	"github.com/berth-sched/berth/resource"
)

func gpu() *expr.Device {
	return expr.NewDevice("gpu.example.com", &api.Device{
		Attributes: map[string]api.DeviceAttribute{
			"index": {IntValue: new(int64(3))}, "model": {StringValue: new("a100")}, "healthy": {BoolValue: new(true)},
			"version": {VersionValue: new("2.0.0-rc.1")}, "list": {IntValues: []int64{1, 2}},
		},
		Capacity: map[string]api.DeviceCapacity{"memory": {Value: resource.MustParse("40Gi")}},
	})
}

// answer evaluates an expression: "true", "false", "compile error", "runtime error" or
// "refused".
func answer(text string, d *expr.Device) string {
	var refused *expr.RefusedError
	p, err := expr.Compile(text)
	switch {
	case errors.As(err, &refused):
		return "refused"
	case err != nil:
		return "compile error"
	}
	got, _, err := p.Match(d)
	switch {
	case errors.As(err, &refused):
		return "refused"
	case err != nil:
		return "runtime error"
	}
	return fmt.Sprint(got)
}

// The recorded answers and the live comparison have thousands of expressions; these show
// each rule once.
func TestAnswers(t *testing.T) {
	d := gpu()
	for _, tt := range []struct{ text, want string }{
		{`device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].index < 4`, "true"},
		{`device.attributes["absent.io"].x == 1`, "runtime error"},
		{`device.attributes["absent.io"].x == 1 || true`, "true"},
		{`device.attributes["absent.io"].x == 1 && false`, "false"},
		{`has(device.attributes["absent.io"].x)`, "false"},
		{`device.attributes["gpu.example.com"].?x.orValue(true)`, "true"},
		{`device.attributes[ ? "gpu.example.com"]. ? healthy.orValue(false)`, "true"},
		{`device.attributes["gpu.example.com"].model == 3`, "false"},
		{`device.attributes["gpu.example.com"].model > 3`, "runtime error"},
		{`device.driver == 3`, "compile error"},
		{`device.name == "x"`, "compile error"},
		{`device.attributes["gpu.example.com"].index`, "runtime error"},
		{`device.driver`, "compile error"},
		{`device.attributes["gpu.example.com"].version.isLessThan(semver("2.0.0"))`, "true"},
		{`device.attributes["gpu.example.com"].version == "2"`, "runtime error"},
		{`device.attributes["gpu.example.com"].version != "2"`, "true"},
		{`device.capacity["gpu.example.com"].memory.compareTo(quantity("4Gi")) >= 0`, "true"},
		{`device.capacity["gpu.example.com"].memory > quantity("4Gi")`, "compile error"},
		{`quantity("4") == quantity("2").add(2)`, "runtime error"},
		{`quantity("2").add(2) == quantity("4")`, "true"},
		{`9223372036854775807 + 1 > 0`, "runtime error"},
		{`-9223372036854775808 / -1 == 0`, "runtime error"},
		{`3 % 0 == 1`, "runtime error"},
		{`device.attributes["gpu.example.com"].version in ["a"] || true`, "runtime error"},
		{`2 == 2.0`, "compile error"},
		{`dyn(2) == 2.0 && 1 < 2.5`, "true"},
		{`device.attributes["gpu.example.com"].list == 3`, "false"},
		{`[1, 2, 3].exists(x, x == 2)`, "true"},
		{`[1, 0].exists(x, 1 / x == 1)`, "true"},
		{`[0, 1].all(x, 1 / x == 2)`, "false"},
		{`[0, 1].exists_one(x, 1 / x == 1)`, "runtime error"},
		{`cel.bind(a, 1 / 0, true)`, "true"},
		{`cel.bind(a, device.attributes["gpu.example.com"], a.index == 3 && a.model.matches("^a[0-9]+$"))`, "true"},
		// The value is evaluated within the expression, whose variables stay as they are.
		{`cel.bind(v, ["a"].exists(x, x == "a"), [2].exists(z, v && z == 2))`, "true"},
		{`cel.bind(v, ["a"].exists(x, ["c"].exists(y, y == "c")), [2].exists(z, v && z == 2))`, "true"},
		{`cel.bind(v, [1].exists(x, [3].exists(y, y == 3)), ["a"].all(z, v && z == "a"))`, "true"},
		{`cel.bind(v, ["a"].exists(x, ["c"].exists(y, true)), cel.bind(w, "b", w == "b" && v && w == "b"))`, "true"},
		{`cel.bind(v, ["a"].exists(x, ["c"].exists(y, true)), cel.bind(o, device.attributes["d"].?a, !o.hasValue() && v && !o.hasValue()))`, "true"},
		{`cel.bind(v, cel.bind(w, [1].exists(x, x == 1), [2].exists(y, w && y == 2)), [3].exists(z, v && z == 3))`, "true"},
		{`(1e300 * 1e300) * 0.0 < 1.0`, "runtime error"},
		{`(1e300 * 1e300) * 0.0 == (1e300 * 1e300) * 0.0`, "false"},
		{`dyn(1) >= (1e300 * 1e300) * 0.0`, "runtime error"},
		{`device.attributes["gpu.example.com"].version in dyn(["a"])`, "false"},
		{`1 in dyn(1) || true`, "true"},
		{`dyn(device.attributes["gpu.example.com"])[?"index"].hasValue()`, "refused"},
		{`"x".matches("(")`, "compile error"},
		{`"äb".size() == 2 && "äbc".indexOf("c") == 2 && "äb".substring(1) == "b"`, "true"},
		{`[1, "a"].size() == 2`, "compile error"},
		{`int("x") == 1`, "compile error"},
		{`(true ? device.attributes["gpu.example.com"] : device.attributes["gpu.example.com"].index).index == 3`, "true"},
		{`(false ? device.attributes["gpu.example.com"] : device.attributes["gpu.example.com"].index) == 3`, "true"},
		{`(true ? device.attributes : device.attributes["gpu.example.com"].index).size() == 1`, "true"},
		{`has((true ? device.attributes : device.attributes["x"]).foo)`, "refused"},
		{`has((false ? device.attributes : device.attributes["gpu.example.com"]).index)`, "true"},
		{`has((device.driver == "" ? device.attributes["x"] : device.attributes["gpu.example.com"]).model)`, "true"},
		{`device.attributes["gpu.example.com"].version in [[1]]`, "false"},
		{`device.attributes["gpu.example.com"].version in [1]`, "runtime error"},
		{`dyn(device.attributes[?"absent.io"])["x"] == device.capacity["absent.io"]`, "refused"},
		{`dyn(device.attributes[?"gpu.example.com"])["x"] != 1`, "refused"},
		{`dyn(device.attributes[?"gpu.example.com"])["index"] == 3`, "refused"},
		{`dyn(device.attributes[?"gpu.example.com"])["index"].orValue(4) == 3`, "refused"},
		{`quantity("5").sub(-9223372036854775808).isLessThan(quantity("6"))`, "refused"},
		{`quantity("5").sub(-9223372036854775807).isLessThan(quantity("6"))`, "false"},
		{`{"a": 1}.a == 1`, "refused"},
		{`[1].map(x, x) == [1]`, "refused"},
		{`1u == 1u`, "refused"},
		{strings.Repeat("(", 200) + "true" + strings.Repeat(")", 200), "refused"},
		{`"` + strings.Repeat("x", 11<<10) + `" == ""`, "refused"},
		{`[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, a+b+c+d+e > 0)))))`, "refused"},
	} {
		if got := answer(tt.text, d); got != tt.want {
			t.Errorf("%.80s = %s, want %s", tt.text, got, tt.want)
		}
	}
	bad := expr.NewDevice("d", &api.Device{Attributes: map[string]api.DeviceAttribute{"v": {VersionValue: new("1.2")}}})
	if got := answer("true", bad); got != "runtime error" {
		t.Errorf("a device with a bad version: %s, want a runtime error", got)
	}
}

// TestIntegers: which quantities are integers depends on their text.
func TestIntegers(t *testing.T) {
	for _, tt := range []struct {
		is   bool
		list []string
	}{
		{true, []string{
			"0", "1", "007", "+5", "-2k", "1k", "1.5k", "1e3", "15E1", "1.", "4E", "1Gi", "99999Mi", "99Ti", "12345678901Ki", "100000000000000000", "0e900",
		}},
		{false, []string{
			"1.0", "1000m", "0m", "0n", "1000e-3", "0.5Ki", "1.5Gi", "1000000000000000000", "10E", "100Ti", "1Pi", "1Ei", "123456789012Ki", "1e19", "9e900", "1.5e0",
		}},
	} {
		for _, text := range tt.list {
			want := map[bool]string{true: "true", false: "false"}[tt.is]
			if got := answer(`quantity("`+text+`").isInteger()`, gpu()); got != want {
				t.Errorf("%s is an integer: %s, want %s", text, got, want)
			}
			if got := answer(`quantity("`+text+`").asInteger() == 5 || true`, gpu()); got != "true" {
				t.Errorf("%s as an integer: %s", text, got)
			}
		}
	}
	for text, want := range map[string]string{"1.5k": "1500", "99Ti": "108851651149824", "-2k": "-2000", "+5": "5", "15E1": "150"} {
		if got := answer(`quantity("`+text+`").asInteger() == `+want, gpu()); got != "true" {
			t.Errorf("%s as an integer is not %s: %s", text, want, got)
		}
	}
	d := expr.NewDevice("d", &api.Device{Capacity: map[string]api.DeviceCapacity{"a": {Value: resource.MustParse("1Pi")}, "b": {Value: resource.MustParse("40Gi")}}})
	if got := answer(`!device.capacity["d"].a.isInteger() && device.capacity["d"].b.isInteger()`, d); got != "true" {
		t.Errorf("capacities: %s, want true", got)
	}
}

// FuzzCompile compiles anything and evaluates it. Whatever the text, there is an answer or
// an error, and it is the same again.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		`device.driver == "x"`, `device.attributes["a"].b.c[1].?d.orValue(1) in [1, 2]`, `cel.bind(a, 1, [a].all(x, x > 0))`, `"\u00e9" + r'\' == ""`,
		`quantity("1").sub(1).compareTo(quantity("x")) < -1.5e3`, `!(1 ? 2 : 3)`, `a(`, `has(`, `[?`, `.?`, `1..2`, `"`, `//`,
	} {
		f.Add(seed)
	}
	d := gpu()
	f.Fuzz(func(t *testing.T, text string) {
		if first, again := answer(text, d), answer(text, d); first != again {
			t.Errorf("%q = %s, then %s", text, first, again)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	d := gpu()
	p, err := expr.Compile(`device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].index < 4`)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if ok, _, err := p.Match(d); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
