package framework

import (
	"fmt"
	"strings"

	"github.com/berth-sched/berth/resource"
)

// A Detailer is a bound filter that can give the numbers behind a rejection. The
// runner asks for them only when somebody wants to read them, so Filter need not
// compute them.
//
// Details must return what makes Filter reject the node as it is now, in an order
// that does not change from run to run, and nothing for a node that Filter accepts.
// It must not change anything, and must be safe for concurrent calls on different
// nodes.
type Detailer interface {
	Details(pod *PodInfo, node *NodeInfo) []Detail
}

// A Detail is one comparison behind a rejection: Asked and Used together exceed
// Limit. A fact without numbers, such as a taint, has a Subject only. Its JSON form
// is stable.
type Detail struct {
	// Subject is what is compared: a resource, "pods", a taint, a port, a topology
	// domain, a driver.
	Subject string `json:"subject"`
	// Unit is the unit of the three numbers: one of the Unit constants.
	Unit Unit `json:"unit,omitempty"`
	// Asked is what the pod adds, Used what is taken without it, and Limit the most
	// that there may be.
	Asked int64 `json:"asked"`
	Used  int64 `json:"used"`
	Limit int64 `json:"limit"`
	// Facts are other numbers that help to understand the three, in a fixed order.
	Facts []Fact `json:"facts,omitempty"`
}

// A Fact is a named number of a [Detail].
type Fact struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
	Unit  Unit   `json:"unit,omitempty"`
}

// A Unit says how a number of a [Detail] is counted.
type Unit string

// The units of numbers. A number of anything else has the unit "".
const (
	UnitMilli   Unit = "m"       // thousandths, as of a CPU
	UnitBytes   Unit = "bytes"   // as of memory
	UnitPods    Unit = "pods"    // pods
	UnitPercent Unit = "percent" // hundredths of a whole
	UnitSeconds Unit = "seconds" // time
)

// UnitOf returns the unit in which vectors count a resource.
func UnitOf(name resource.Name) Unit {
	switch name {
	case resource.CPU:
		return UnitMilli
	case resource.Memory, resource.EphemeralStorage:
		return UnitBytes
	case resource.Pods:
		return UnitPods
	}
	if strings.HasPrefix(string(name), "hugepages-") {
		return UnitBytes
	}
	return ""
}

// Text writes a number of the unit for people: 1500 of UnitMilli is "1500m", 2000
// is "2".
func (u Unit) Text(n int64) string {
	switch u {
	case UnitMilli:
		return resource.Milli(n).String()
	case UnitBytes:
		return bytesText(n)
	case UnitPercent:
		return fmt.Sprintf("%d %%", n)
	case UnitSeconds:
		return fmt.Sprintf("%d s", n)
	}
	return fmt.Sprint(n)
}

// bytesText writes bytes in the largest unit that divides them, or else in Mi, so that
// numbers side by side compare: 32386664Ki is "31627.601Mi". What is below a thousandth of a
// Mi is cut off.
func bytesText(n int64) string {
	const mebi = 1 << 20
	if n%mebi == 0 || -mebi < n && n < mebi {
		return resource.New(n, resource.BinarySI).String()
	}
	thousandths := n % mebi * 1000 / mebi
	text := fmt.Sprintf("%d.%03d", n/mebi, max(thousandths, -thousandths))
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + "Mi"
}

// Free is what is left below the limit: negative if more than the limit is used.
func (d Detail) Free() int64 { return resource.SatSub(d.Limit, d.Used) }

// String writes the detail for people, such as
//
//	cpu: asked 30, free 11 of 32
//	pods of the anti-affinity in zone=z1: 1 there, none allowed
//	cpu: 60 % in use and 13 % asked, at most 65 %
func (d Detail) String() string {
	var b strings.Builder
	b.WriteString(d.Subject)
	switch {
	case d.Unit == UnitPods && d.Limit == 0 && d.Used > 0:
		fmt.Fprintf(&b, ": %d there, none allowed", d.Used)
	case d.Unit == UnitPercent:
		fmt.Fprintf(&b, ": %s in use and %s asked, at most %s", d.Unit.Text(d.Used), d.Unit.Text(d.Asked), d.Unit.Text(d.Limit))
	case d.Asked != 0 || d.Used != 0 || d.Limit != 0:
		fmt.Fprintf(&b, ": asked %s, free %s of %s", d.Unit.Text(d.Asked), d.Unit.Text(d.Free()), d.Unit.Text(d.Limit))
	}
	for _, f := range d.Facts {
		fmt.Fprintf(&b, ", %s %s", f.Name, f.Unit.Text(f.Value))
	}
	return b.String()
}
