package devices

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices/expr"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/workload"
	"github.com/berth-sched/berth/resource"
)

// Selectors compares the compilers on random expressions.
func Selectors(seed uint64, cases int) (Count, error) {
	var n Count
	compiler := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true})
	for i := range cases {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		g := &grammar{Rand: r}
		text := g.boolean(1 + r.IntN(4))
		if chance(r, 6) {
			text = mutate(r, text)
		}
		n.Cases++
		program, err := expr.Compile(text)
		if isRefused(err) {
			n.Refused++
			continue
		}
		real := compiler.CompileCELExpression(text, cel.Options{DisableCostEstimation: true})
		if (real.Error != nil) != (err != nil) {
			n.Differences = append(n.Differences, fmt.Sprintf("selectors-%d-%d: %s\n  got  %v\n  want %v", seed, i, text, err, real.Error))
			continue
		}
		if err != nil {
			n.Errors++
			continue
		}
		for range 3 {
			d := g.device()
			driver := pick(r, "gpu.example.com", "nic.example.com")
			n.Questions++
			got, _, err := program.Match(expr.NewDevice(driver, &d))
			if isRefused(err) {
				n.Refused++
				continue
			}
			input, convertErr := workload.Convert[resourceapi.Device](&d)
			if convertErr != nil {
				return n, convertErr
			}
			want, _, wantErr := real.DeviceMatches(context.Background(), cel.Device{
				Driver: driver, AllowMultipleAllocations: input.AllowMultipleAllocations, Attributes: input.Attributes, Capacity: input.Capacity,
			})
			if got != want || (err != nil) != (wantErr != nil) {
				n.Differences = append(n.Differences, fmt.Sprintf("selectors-%d-%d: %s\n  got  %v, %v\n  want %v, %v", seed, i, text, got, err, want, wantErr))
			}
			if want {
				n.Granted++
			}
		}
	}
	return n, nil
}

func isRefused(err error) bool {
	var r *expr.RefusedError
	return errors.As(err, &r)
}

// A grammar writes random expressions. Most of them have the right types.
type grammar struct {
	*rand.Rand
	vars []string // variables of macros in scope
}

func (g *grammar) one(list ...string) string { return list[g.IntN(len(list))] }

// wrong returns now and then an expression of any type.
func (g *grammar) wrong(depth int) (string, bool) {
	if g.IntN(25) != 0 {
		return "", false
	}
	switch g.IntN(5) {
	case 0:
		return g.integer(depth - 1), true
	case 1:
		return g.text(depth - 1), true
	case 2:
		return g.quantity(depth - 1), true
	case 3:
		return g.version(depth - 1), true
	}
	return g.boolean(depth - 1), true
}

func (g *grammar) boolean(depth int) string {
	if depth <= 0 {
		return g.one("true", "false", "device.allowMultipleAllocations", g.attribute("healthy"), `device.driver == "gpu.example.com"`, g.attribute("index")+" == 3")
	}
	if x, ok := g.wrong(depth); ok {
		return x
	}
	d := depth - 1
	switch g.IntN(21) {
	case 0, 1:
		return g.boolean(d) + " && " + g.boolean(d)
	case 2, 3:
		return "(" + g.boolean(d) + " || " + g.boolean(d) + ")"
	case 4:
		return "!(" + g.boolean(d) + ")"
	case 5:
		return g.boolean(d) + " ? " + g.boolean(d) + " : " + g.boolean(d)
	case 6:
		return g.integer(d) + g.one(" == ", " != ", " < ", " <= ", " > ", " >= ") + g.integer(d)
	case 7:
		return g.text(d) + g.one(" == ", " != ", " < ", " >= ") + g.text(d)
	case 8:
		return g.text(d) + g.one(".startsWith(", ".endsWith(", ".contains(") + g.text(d) + ")"
	case 9:
		return g.text(d) + ".matches(" + g.one(`"^a.*0$"`, `'[0-9]+'`, `"("`, `r"\d"`, g.text(0)) + ")"
	case 10:
		return g.quantity(d) + g.one(".isLessThan(", ".isGreaterThan(") + g.quantity(d) + ")"
	case 11:
		return g.version(d) + g.one(".isLessThan(", ".isGreaterThan(") + g.version(d) + ")"
	case 12:
		return g.one(g.quantity(d)+" == "+g.quantity(d), g.version(d)+" == "+g.version(d), g.version(d)+" != "+g.attribute("model"), g.attribute("model")+" == "+g.version(d))
	case 13:
		return g.text(0) + " in device." + g.one("attributes", "capacity", `attributes["gpu.example.com"]`, `capacity["x.io"]`)
	case 14:
		return g.integer(d) + " in [" + g.integer(d) + ", " + g.integer(0) + "]"
	case 15:
		list := "[" + g.text(0) + ", " + g.text(0) + "]"
		return g.text(d) + " in " + g.one(list, list, "dyn("+list+")")
	case 16:
		return "has(" + g.attribute(g.one("index", "model", "absent")) + ")"
	case 17:
		name := fmt.Sprint("v", len(g.vars))
		g.vars = append(g.vars, name)
		x := g.list(d) + g.one(".all(", ".exists(", ".exists_one(") + name + ", " + g.boolean(d) + ")"
		g.vars = g.vars[:len(g.vars)-1]
		return x
	case 18:
		init := g.one(g.attribute("index"), g.integer(d), `device.attributes["gpu.example.com"]`, g.text(d), g.boolean(d), g.boolean(d))
		name := fmt.Sprint("v", len(g.vars))
		g.vars = append(g.vars, name)
		x := "cel.bind(" + name + ", " + init + ", " + g.boolean(d) + ")"
		g.vars = g.vars[:len(g.vars)-1]
		return x
	case 19:
		return g.one("isQuantity(", "isSemver(") + g.text(d) + ")"
	}
	return g.optional() + g.one(".orValue("+g.boolean(0)+")", ".hasValue()", ".value()", ".orValue("+g.integer(0)+") == 3")
}

// attribute returns an attribute, which may have another type or not be there.
func (g *grammar) attribute(id string) string {
	if len(g.vars) > 0 && g.IntN(4) == 0 {
		return g.one(g.vars[g.IntN(len(g.vars))], g.vars[g.IntN(len(g.vars))]+"."+id)
	}
	if g.IntN(12) == 0 {
		id = g.one("index", "model", "healthy", "version", "absent", "list")
	}
	domain := g.one(`["gpu.example.com"]`, `["gpu.example.com"]`, `['nic.example.com']`, `["absent.io"]`, "[device.driver]")
	if g.IntN(8) == 0 {
		return `device.attributes` + domain + `["` + id + `"]`
	}
	return "device.attributes" + domain + "." + id
}

func (g *grammar) optional() string {
	return g.one("device.attributes", "device.attributes", "device.capacity") + g.one(`["gpu.example.com"]`, `[?"gpu.example.com"]`, `[?"x.io"]`, `["x.io"]`) +
		g.one(".?index", ".?healthy", ".?absent", `[?"model"]`)
}

func (g *grammar) integer(depth int) string {
	if depth <= 0 {
		return g.one("0", "3", "-2", "7", "9223372036854775807", g.attribute("index"), "2.5", g.attribute("index"), "(1e300*1e300)", "(1e300*1e300*0.0)")
	}
	if x, ok := g.wrong(depth); ok {
		return x
	}
	d := depth - 1
	switch g.IntN(11) {
	case 0, 1:
		return "(" + g.integer(d) + g.one(" + ", " - ", " * ", " / ", " % ") + g.integer(d) + ")"
	case 2:
		return "-(" + g.integer(d) + ")"
	case 3:
		return g.one("size("+g.text(d)+")", g.text(d)+".size()", g.list(d)+".size()", "device.attributes.size()", `device.capacity["gpu.example.com"].size()`)
	case 4:
		return g.text(d) + ".indexOf(" + g.text(0) + ")"
	case 5:
		return g.one(g.quantity(d)+".compareTo("+g.quantity(d)+")", g.version(d)+".compareTo("+g.version(d)+")")
	case 6:
		return g.version(d) + g.one(".major()", ".minor()", ".patch()")
	case 7:
		return g.one("sign("+g.quantity(d)+")", g.quantity(d)+".asInteger()", "("+g.quantity(d)+".isInteger() ? 1 : 2)")
	case 8:
		return "int(" + g.one(g.text(d), g.integer(d)) + ")"
	case 9:
		return "(" + g.boolean(d) + " ? " + g.integer(d) + " : " + g.integer(d) + ")"
	}
	return g.list(d) + "[" + g.one("0", "1", "5", g.integer(0)) + "]"
}

func (g *grammar) text(depth int) string {
	if depth <= 0 {
		return g.one(`"a100"`, `'gpu.example.com'`, `""`, `"1.2.3"`, `"40Gi"`, `"é-x"`, "device.driver", g.attribute("model"), `r"\d"`, `"a\tb"`, `"index"`, `"12"`)
	}
	if x, ok := g.wrong(depth); ok {
		return x
	}
	d := depth - 1
	switch g.IntN(9) {
	case 0:
		return "(" + g.text(d) + " + " + g.text(d) + ")"
	case 1:
		return g.text(d) + g.one(".lowerAscii()", ".upperAscii()", ".trim()")
	case 2:
		return g.text(d) + ".replace(" + g.text(0) + ", " + g.text(0) + ")"
	case 3:
		return g.text(d) + ".split(" + g.text(0) + ")[" + g.one("0", "1") + "]"
	case 4:
		return g.text(d) + g.one(".substring("+g.integer(0)+")", ".substring("+g.one("0", "1")+", "+g.integer(0)+")")
	case 5:
		return "string(" + g.one(g.integer(d), g.text(d), g.boolean(d)) + ")"
	case 6:
		return g.text(d) + ".find(" + g.one(`"[0-9]+"`, `"x"`, `"a.*"`) + ")"
	case 7:
		return "(" + g.boolean(d) + " ? " + g.text(d) + " : " + g.text(d) + ")"
	}
	return "dyn(" + g.text(d) + ")"
}

func (g *grammar) quantity(depth int) string {
	if depth <= 0 || g.IntN(2) == 0 {
		return g.one(`quantity("40Gi")`, `quantity("1500m")`, `quantity("x")`, "quantity(\""+g.one("1.0", "1000m", "0.5Ki", "1.5k", "8Gi", "100Ti", "1Pi", "4E", "1e3", "15e-1", "+07", "-2k", "123456789012345678", "1234567890123456789")+"\")", `device.capacity["gpu.example.com"].memory`, `device.capacity["gpu.example.com"].frac`,
			`device.capacity["x.io"].y`, "quantity("+g.text(0)+")")
	}
	return g.quantity(depth-1) + g.one(".add(", ".sub(") + g.one(g.quantity(depth-1), g.integer(depth-1)) + ")"
}

func (g *grammar) version(depth int) string {
	return g.one(`semver("1.2.3")`, `semver("2.0.0-rc.1")`, `semver("v1", true)`, `semver("1.2")`, `semver("01.2.3")`, g.attribute("version"), "semver("+g.text(depth-1)+")",
		"semver("+g.text(0)+", "+g.boolean(0)+")")
}

func (g *grammar) list(depth int) string {
	return g.one("["+g.integer(depth-1)+", "+g.integer(0)+"]", "["+g.text(depth-1)+"]", `"a-b-c".split("-")`, g.attribute("list"),
		`device.attributes["gpu.example.com"]`, "device.attributes", "[true, "+g.boolean(0)+"]")
}

// device makes a random device.
func (g *grammar) device() api.Device {
	d := api.Device{Name: "d", Attributes: map[string]api.DeviceAttribute{}, Capacity: map[string]api.DeviceCapacity{}}
	for _, id := range []string{"index", "model", "healthy", "version", "list"} {
		if g.IntN(4) == 0 {
			continue
		}
		of := id
		if g.IntN(10) == 0 {
			of = g.one("index", "model", "healthy", "version", "list")
		}
		var a api.DeviceAttribute
		switch of {
		case "index":
			a.IntValue = new(int64(g.IntN(6)))
		case "model":
			a.StringValue = new(g.one("a100", "", "é-x", "A100", "12"))
		case "healthy":
			a.BoolValue = new(g.IntN(2) == 0)
		case "version":
			a.VersionValue = new(g.one("1.2.3", "2.0.0", "2.0.0-rc.1", "1.2.3+b", "2.0.0-rc.1.x"))
			if g.IntN(30) == 0 {
				a.VersionValue = new("1.2")
			}
		case "list":
			if g.IntN(2) == 0 {
				a.IntValues = []int64{1, 3}
			} else {
				a.StringValues = []string{"a100", "b"}
			}
		}
		d.Attributes[g.one("", "", "gpu.example.com/", "nic.example.com/")+id] = a
	}
	for _, id := range []string{"memory", "frac"} {
		if g.IntN(3) > 0 {
			d.Capacity[g.one("", "gpu.example.com/")+id] = api.DeviceCapacity{Value: resource.MustParse(g.one("40Gi", "1500m", "3", "0", "12", "1Pi", "200Ti", "1.5Gi", "9E"))}
		}
	}
	if g.IntN(2) == 0 {
		d.AllowMultipleAllocations = new(g.IntN(2) == 0)
	}
	return d
}

// mutate changes a character or two of a text.
func mutate(r *rand.Rand, text string) string {
	for range 1 + r.IntN(2) {
		at := r.IntN(len(text))
		switch r.IntN(3) {
		case 0:
			text = text[:at] + text[at+1:]
		case 1:
			text = text[:at] + pick(r, "(", ")", ".", "\"", "!", "-", " ", "?", "[", "]", "1", "x", "=", "&") + text[at:]
		default:
			end := min(len(text), at+1+r.IntN(6))
			text = text[:at] + text[end:]
		}
		if text == "" {
			return "true"
		}
	}
	return strings.ToValidUTF8(text, "")
}
