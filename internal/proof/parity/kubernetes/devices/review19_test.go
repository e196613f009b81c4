package devices

import (
	"context"
	"testing"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices/expr"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/workload"
	"github.com/berth-sched/berth/resource"
)

// review19Expressions are written by hand: forms that the grammar of selectors.go does not make.
var review19Expressions = []string{
	`device.driver == "gpu.example.com" // comment`, "device.driver\n==\n'gpu.example.com'", `device.attributes["gpu.example.com"]["index"] == 1`,
	`0x10 == 16`, `0XfF == 255`, `1u == 1u`, `1 == 1u`, `1u < 2`, `-9223372036854775808 < 0`, `9223372036854775808 > 0`, `1e3 == 1000.0`, `.5 == 0.5`, `1. == 1.0`, `5 % 0 == 0`, `-5 % 3 == -2`, `-5 / 2 == -2`,
	`9223372036854775807 + 1 > 0`, `-9223372036854775808 - 1 < 0`, `-(-9223372036854775808) > 0`, `9223372036854775807 * 2 > 0`, `-9223372036854775808 / -1 > 0`, `--1 == 1`, `!!true`, `! !true`, `- 1 == -1`,
	`"\u00e9" == "é"`, `"\x41" == "A"`, `"\101" == "A"`, `"\U0001F600".size() == 1`, `"\q" == "q"`, `'\'' == "'"`, `"""a"b""" == 'a"b'`, `'''x''' == "x"`, `r"""\n""" == "\\n"`, `b"abc" == b"abc"`, `"a" "b" == "ab"`, `"\u00"=="x"`, `"\ud800" == ""`, `R'\d' == "\\d"`, "\"a\nb\" == 'x'", "'''a\nb''' == 'a\\nb'",
	`matches(device.driver, "gpu")`, `device.driver.matches("(?i)GPU")`, `device.driver.matches("^gpu\\.example\\.com$")`, `device.driver.matches("[[:alpha:]]+")`, `device.driver.matches("\\pL")`, `device.driver.matches("a{1001}")`, `device.driver.matches("(?P<x>g)")`, `device.driver.matches("(?=g)")`, `device.driver.matches("g*?")`, `"a\nb".matches("a.b")`, `"a\nb".matches("(?s)a.b")`, `"ab".matches("^b")`, `"".matches("")`, `"x".matches("\\z")`, `"x".matches("\\Q.\\E")`,
	`size("é") == 1`, `"é".size() == 1`, `"a😀b".indexOf("b") == 2`, `"a😀b".charAt(1) == "😀"`, `"a😀b".substring(1,2) == "😀"`, `"abc".substring(3) == ""`, `"abc".substring(4) == ""`, `"abc".substring(2,1) == ""`, `"abc".indexOf("") == 0`, `"abc".indexOf("c", 5) == -1`, `"abc".indexOf("c", 3) == -1`, `"abc".lastIndexOf("") == 3`, `"abcabc".lastIndexOf("b", 2) == 1`, `"ÀB".lowerAscii() == "Àb"`, `" \u2003x\t".trim() == "x"`, `"aaa".replace("a","b",2) == "bba"`, `"aaa".replace("","-") == "-a-a-a-"`, `"a,b,c".split(",", 2).size() == 2`, `"a,b".split(",", 0).size() == 0`, `"ab".split("").size() == 2`, `["a","b"].join("-") == "a-b"`, `["a","b"].join() == "ab"`, `"abc".charAt(3) == ""`, `"abc".charAt(4) == ""`, `"x".format([]) == "x"`, `"%s" .format(["x"]) == "x"`, `"abc".reverse() == "cba"`, `strings.quote("a") == "\"a\""`,
	`device.attributes["gpu.example.com"].index in [1, 2, 3]`, `1 in [1.0]`, `1.0 in [1, 2]`, `"a" in {"a": 1}`, `device.driver in {"gpu.example.com": true}`, `1 in {1: 2}`, `[1, "a"].size() == 2`, `[] == []`, `{} == {}`, `[1] == [1.0]`, `[1, 2] + [3] == [1,2,3]`, `{"a": 1}.a == 1`, `{"a": 1}["b"] == 1`, `{"a":1, "a":2}.size() == 1`, `[1,2][1] == 2`, `[1,2][2] == 2`, `[1,2][-1] == 2`, `[1,2][1.0] == 2`, `[1,2][dyn(1.0)] == 2`, `null == null`, `device.attributes["gpu.example.com"].index == null`, `device == device`, `device.attributes == device.attributes`, `device.capacity == device.capacity`,
	`has(device.driver)`, `has(device.attributes)`, `has(device.attributes["gpu.example.com"])`, `has(device)`, `has(device.attributes.x)`, `has(device.capacity["gpu.example.com"].memory)`, `has(device.attributes["none"].x)`, `has({"a":1}.a)`, `has({"a":1}.b)`, `"none" in device.attributes`, `"gpu.example.com" in device.attributes`, `"memory" in device.capacity["gpu.example.com"]`, `device.attributes.none.x == 1`, `device.attributes.size() == 1`, `device.attributes["none"].size() == 0`, `device.capacity["none"].size() == 0`,
	`device.attributes["gpu.example.com"].exists(k, k == "index")`, `device.attributes["gpu.example.com"].all(k, k != "")`, `device.attributes.map(k, k).size() > 0`, `[1,2,3].filter(x, x > 1).size() == 2`, `[1,2,3].map(x, x * 2) == [2,4,6]`, `[1,2,3].map(x, x > 1, x * 2) == [4,6]`, `[1,2].exists_one(x, x == 1)`, `[1,2].existsOne(x, x == 1)`, `[1,2].all(x, y, x > 0)`, `[1,2].exists(x, 1/0 == x)`, `[1,2].exists(x, x == 1 || 1/0 == x)`, `[2,1].exists(x, x == 1 || 1/0 == x)`, `[1,2].all(x, x == 2 && 1/0 == x)`, `[[1],[2]].exists(x, x.exists(y, y == 2))`, `[1].exists(x, [2].exists(x, x == 2))`, `[1].exists(device, device == 1)`, `[].all(x, false)`, `[].exists(x, true)`, `[].exists_one(x, true)`, `[1,1].exists_one(x, x == 1)`, `"abc".exists(x, true)`,
	`cel.bind(x, 1, x + x == 2)`, `cel.bind(x, 1, cel.bind(x, 2, x == 2))`, `cel.bind(x, 1, cel.bind(y, x, y == 1))`, `cel.bind(x, 1/0, true)`, `cel.bind(x, 1/0, x == 1 || true)`, `cel.bind(device, 1, device == 1)`, `cel.bind(a.b, 1, true)`, `cel.bind(x, device.attributes["gpu.example.com"], x.index == 1 && x.model == "a100")`, `cel.block([1], true)`,
	`true ? true : 1/0 == 1`, `false ? 1/0 == 1 : true`, `(1/0 == 1) || true`, `true || (1/0 == 1)`, `(1/0 == 1) && false`, `(1/0 == 1) && true`, `(1/0 == 1) || false`, `true ? 1 : "a"`, `(true ? 1 : 2) == 1`, `true || false && false`, `true == true == true`, `1 < 2 == true`, `1 < 2 < 3`, `1 + 2 * 3 == 7`, `10 - 3 - 2 == 5`, `16 / 4 / 2 == 2`, `true ? false : true ? true : false`, `1 == 1 ? true : false`, `!false && false || true`, `-1 - -1 == 0`, `2 - 1 == 1`, `2 -1 == 1`, `(true)`, `((true))`, ` true `, ``, ` `, `true true`, `true &`, `true & true`, `true and true`, `not true`, `1 = 1`, `a`, `device`, `device.`, `device.attributes[`, `device.foo == 1`, `Device.driver == ""`, `.device.driver == "gpu.example.com"`, `in == 1`, `device.in == 1`, `device.attributes["gpu.example.com"].in == 1`, `device.attributes["gpu.example.com"].namespace == 1`, `device.attributes["gpu.example.com"].if == 1`, `has(device.attributes["gpu.example.com"].for)`, `for == 1`, "device.attributes[\"gpu.example.com\"].`index` == 1", "device.attributes.`gpu.example.com`.index == 1", "has(device.attributes.`gpu.example.com`)",
	`device.attributes["gpu.example.com"].?index.orValue(0) == 1`, `device.attributes[?"gpu.example.com"].?index.orValue(0) == 1`, `device.attributes[?"none"].hasValue()`, `device.attributes.?none.hasValue()`, `device.?driver.hasValue()`, `optional.of(1).value() == 1`, `optional.none().hasValue()`, `optional.of(1) == optional.of(1)`, `optional.ofNonZeroValue(0).hasValue()`, `device.attributes["gpu.example.com"].?none.or(optional.of(true)).value()`, `device.attributes["gpu.example.com"].?none.value()`, `device.attributes["gpu.example.com"].?index.optMap(x, x + 1).orValue(0) == 2`, `[?optional.of(1)].size() == 1`,
	`quantity("1Gi") == quantity("1024Mi")`, `quantity("1") == quantity("1000m")`, `quantity("1") != quantity("2")`, `quantity("1") < quantity("2")`, `quantity("1.5").isInteger()`, `quantity("1.5").asInteger() == 1`, `quantity("1500m").asApproximateFloat() == 1.5`, `quantity("1e3").asInteger() == 1000`, `quantity("9223372036854775808").asInteger() == 1`, `quantity("1").add(1) == quantity("2")`, `quantity("1").sub(2).isLessThan(quantity("0"))`, `sign(quantity("-1")) == -1`, `quantity("-1").sign() == -1`, `isQuantity("1.2.3")`, `isQuantity("1 Gi")`, `isQuantity("")`, `quantity("+1") == quantity("1")`, `quantity("0x1") == quantity("1")`, `quantity(1) == quantity("1")`, `device.capacity["gpu.example.com"].memory == quantity("40Gi")`, `device.capacity["gpu.example.com"].memory > quantity("4Gi")`, `device.capacity["gpu.example.com"].memory.isGreaterThan("4Gi")`, `device.capacity["gpu.example.com"].memory == "40Gi"`, `quantity("1n").isLessThan(quantity("1u"))`, `quantity("1E").isGreaterThan(quantity("1P"))`, `quantity("100000000000000000000").isGreaterThan(quantity("1E"))`,
	`semver("1.2.3") == semver("1.2.3+a")`, `semver("1.0.0-alpha").isLessThan(semver("1.0.0-alpha.1"))`, `semver("1.0.0-1").isLessThan(semver("1.0.0-a"))`, `semver("1.0.0-beta.11").isGreaterThan(semver("1.0.0-beta.2"))`, `isSemver("v1.0.0")`, `isSemver("v1.0", true)`, `semver("v1.0", true) == semver("1.0.0")`, `semver("1", true).major() == 1`, `semver("1.02.3", true).minor() == 2`, `isSemver("1.0.0-01")`, `isSemver("18446744073709551615.0.0")`, `semver("9223372036854775808.0.0").major() > 0`, `semver("1.0.0") < semver("2.0.0")`, `device.attributes["gpu.example.com"].version == semver("1.2.3")`, `device.attributes["gpu.example.com"].version.isGreaterThan(semver("1.0.0"))`, `device.attributes["gpu.example.com"].version == "1.2.3"`, `device.attributes["gpu.example.com"].version >= semver("1.0.0")`, `semver("1.2.3").compareTo(semver("1.2.4")) == -1`, `semver("1.0.0-rc.1", true).patch() == 0`, `semver("1.0.0-rc.01", true).patch() == 0`,
	`int("12") == 12`, `int("1.5") == 1`, `int(1.9) == 1`, `int(-1.9) == -1`, `int(true) == 1`, `int("0x1") == 1`, `int(" 1") == 1`, `int("+1") == 1`, `int(1e19) == 1`, `string(1.5) == "1.5"`, `string(1e21) == "1e+21"`, `string(true) == "true"`, `double("1.5") == 1.5`, `double(1) == 1.0`, `uint(1) == 1u`, `uint(-1) == 1u`, `bool("true")`, `bool("True")`, `bool("1")`, `bool("yes")`, `type(1) == int`, `type(device.driver) == string`, `dyn(1) == 1.0`, `dyn(1) == "1"`, `1 == "1"`, `1 == 1.0`, `1 < 1.5`, `9007199254740993 == 9007199254740992.0`, `0.0 / 0.0 == 0.0`, `1.0 / 0.0 > 1.0`, `"a" < "b"`, `"a" + 1 == "a1"`, `"Z" < "a"`, `true < false`, `false < true`, `duration("1s") < duration("2s")`, `timestamp("2020-01-01T00:00:00Z").getFullYear() == 2020`, `[1,2].sum() == 3`, `[3,1].min() == 1`, `[1,2].isSorted()`, `[1,2].indexOf(2) == 1`, `[1,1].distinct().size() == 1`, `sets.contains([1,2],[1])`, `math.greatest(1,2) == 2`, `url("http://x/").getHost() == "x"`, `"a1b2".findAll("[0-9]").size() == 2`, `"abc".find("z") == ""`, `device.attributes["gpu.example.com"].healthy`, `device.attributes["gpu.example.com"].index`, `device.driver`, `!device.attributes["gpu.example.com"].healthy`, `device.attributes["gpu.example.com"].healthy && device.attributes["gpu.example.com"].index`, `device.attributes["gpu.example.com"].index || true`, `true || device.attributes["gpu.example.com"].index`, `device.attributes["gpu.example.com"].index && false`, `device.attributes["gpu.example.com"].healthy ? true : false`, `device.attributes["gpu.example.com"].index ? true : false`, `device.attributes["gpu.example.com"].list.includes(1)`, `device.attributes["gpu.example.com"].index.includes(1)`, `device.attributes["gpu.example.com"].list.exists(x, x == 1)`, `1 in device.attributes["gpu.example.com"].list`, `1 in device.attributes["gpu.example.com"].index`, `device.attributes["gpu.example.com"].list == [1, 3]`, `device.attributes["gpu.example.com"].list[0] == 1`, `size(device.attributes["gpu.example.com"].list) == 2`, `device.attributes["gpu.example.com"].model < 5`, `device.attributes["gpu.example.com"].index < "a"`, `device.attributes["gpu.example.com"].index + "a" == "1a"`, `device.attributes["gpu.example.com"].model + "x" == "a100x"`, `device.attributes["gpu.example.com"].index == 1.0`, `device.attributes["gpu.example.com"].index == 1u`, `device.attributes["gpu.example.com"].index < 1.5`, `device.attributes["gpu.example.com"].index.foo == 1`, `device.attributes["gpu.example.com"].model.foo == 1`, `device.attributes["gpu.example.com"].model[0] == "a"`, `device.attributes[1] == 1`, `device.attributes[device.driver].index == 1`, `device.attributes[device.attributes["gpu.example.com"].model].x == 1`, `device.attributes["gpu.example.com"][device.driver] == 1`,
}

func TestReview19Selectors(t *testing.T) {
	compiler := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true})
	q := resource.MustParse
	devices := []api.Device{
		{Name: "a", Attributes: map[string]api.DeviceAttribute{"index": {IntValue: new(int64(1))}, "model": {StringValue: new("a100")}, "healthy": {BoolValue: new(true)}, "version": {VersionValue: new("1.2.3")}, "list": {IntValues: []int64{1, 3}}}, Capacity: map[string]api.DeviceCapacity{"memory": {Value: q("40Gi")}}},
		{Name: "b", Attributes: map[string]api.DeviceAttribute{"index": {StringValue: new("1")}, "model": {IntValue: new(int64(3))}, "healthy": {IntValue: new(int64(1))}, "version": {StringValue: new("1.2.3")}, "list": {StringValues: []string{"x"}}, "namespace": {IntValue: new(int64(1))}}},
		{Name: "c", AllowMultipleAllocations: new(true)},
		{Name: "d", Attributes: map[string]api.DeviceAttribute{"gpu.example.com/index": {IntValue: new(int64(1))}, "index": {IntValue: new(int64(2))}, "nic.example.com/x": {BoolValue: new(false)}}},
		{Name: "e", Attributes: map[string]api.DeviceAttribute{"index": {BoolValue: new(true)}, "model": {VersionValue: new("1.2.3")}, "healthy": {BoolValue: new(false)}, "version": {VersionValue: new("2.0.0-rc.1")}}},
	}
	refused, asked := 0, 0
	for _, text := range review19Expressions {
		program, err := expr.Compile(text)
		if isRefused(err) {
			refused++
			continue
		}
		real := compiler.CompileCELExpression(text, cel.Options{DisableCostEstimation: true})
		if (real.Error != nil) != (err != nil) {
			t.Errorf("%s\n  got  %v\n  want %v", text, err, real.Error)
			continue
		}
		if err != nil {
			continue
		}
		for i := range devices {
			d := &devices[i]
			asked++
			got, _, err := program.Match(expr.NewDevice("gpu.example.com", d))
			if isRefused(err) {
				refused++
				continue
			}
			input, convertErr := workload.Convert[resourceapi.Device](d)
			if convertErr != nil {
				t.Fatal(convertErr)
			}
			want, _, wantErr := real.DeviceMatches(context.Background(), cel.Device{Driver: "gpu.example.com", AllowMultipleAllocations: input.AllowMultipleAllocations, Attributes: input.Attributes, Capacity: input.Capacity})
			if got != want || (err != nil) != (wantErr != nil) {
				t.Errorf("%s on %s\n  got  %v, %v\n  want %v, %v", text, d.Name, got, err, want, wantErr)
			}
		}
	}
	t.Logf("%d expressions, %d refused, %d asked", len(review19Expressions), refused, asked)
}
