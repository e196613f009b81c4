package filter

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/resource"
)

// Pods choose the names of resources, and each node has its own reasons. So a name of more
// than longName bytes is cut, and reasons of more than longReasons are counted.
const (
	longName    = 512
	longReasons = 4 << 10
)

// shortages is the set of resources that a node lacks: bit 0 stands for pod slots
// and bit 1+i for dimension i of the schema. Dimensions without a bit are rare, so
// they are written out.
type shortages struct {
	bits uint64
	more []byte // as uvarints, ascending
}

func (s *shortages) addPods() { s.bits |= 1 }

// none reports whether nothing is short.
func (s *shortages) none() bool { return s.bits == 0 && len(s.more) == 0 }

// add adds a dimension. Callers add dimensions in ascending order.
func (s *shortages) add(index int) {
	if index < 63 {
		s.bits |= 2 << index
		return
	}
	s.more = binary.AppendUvarint(s.more, uint64(index))
}

// status returns the rejection. If the bits hold every shortage, making it allocates
// nothing, and nodes with the same shortages have the same status.
func (s *shortages) status(code framework.Code, schema *resource.Schema) framework.Status {
	if len(s.more) == 0 {
		return framework.DetailedStatus(code, fewShortages{schema}, s.bits)
	}
	return framework.DetailedStatus(code, manyShortages{schema, string(s.more)}, s.bits)
}

// statusWith is status for a node that also lacks resources that no node has. All nodes
// share the names, so that statuses are compared without reading them.
func (s *shortages) statusWith(names *unknownNames) framework.Status {
	why := unknownShortages{names, ""}
	if len(s.more) > 0 {
		why.more = string(s.more)
	}
	return framework.DetailedStatus(framework.UnschedulableAndUnresolvable, why, s.bits)
}

// unknownNames are resources that a pod requests and no node has.
type unknownNames struct {
	schema *resource.Schema
	texts  []string // reasons of the first, sorted
	size   int      // their bytes
	others int      // resources without a reason
}

// add adds a resource. Callers add resources in the order of their names.
func (u *unknownNames) add(name resource.Name) {
	if u.size > longReasons { // no more can be reported
		u.others++
		return
	}
	text := insufficient(name)
	u.texts, u.size = append(u.texts, text), u.size+len(text)
}

func insufficient(name resource.Name) string {
	return "Insufficient " + errtext.Cut(string(name), longName)
}

// some returns the first reasons, and one for the number of all others.
func some(reasons []string, others int) []string {
	size := 0
	for i, text := range reasons {
		if size += len(text); size > longReasons {
			reasons, others = reasons[:i], others+len(reasons)-i
			break
		}
	}
	if others > 0 {
		reasons = append(reasons, fmt.Sprintf("Insufficient %d other resources", others))
	}
	return reasons
}

// unknownShortages is the Reasoner for shortages if some resources have no dimension.
type unknownShortages struct {
	*unknownNames
	more string
}

// Reasons returns the texts of the shortages in detail and of the others.
func (r unknownShortages) Reasons(detail uint64) []string {
	texts := allReasons(r.schema, detail, r.more)
	fixed := 0
	for fixed < len(texts) && isFixed(texts[fixed]) {
		fixed++
	}
	texts = append(texts, r.texts...)
	slices.Sort(texts[fixed:])
	return some(texts, r.others)
}

// isFixed reports whether a text is about pod slots or a fixed dimension.
func isFixed(text string) bool {
	name, found := strings.CutPrefix(text, "Insufficient ")
	switch resource.Name(name) {
	case resource.CPU, resource.Memory, resource.EphemeralStorage:
		return true
	}
	return !found
}

// fewShortages is the Reasoner for shortages that all fit in the bits. Its layout is
// one pointer, so an interface holds it without allocating.
type fewShortages struct{ schema *resource.Schema }

// Reasons returns the texts of the shortages in detail.
func (r fewShortages) Reasons(detail uint64) []string { return reasons(r.schema, detail, "") }

// manyShortages is the Reasoner for shortages beyond the bits.
type manyShortages struct {
	schema *resource.Schema
	more   string
}

// Reasons returns the texts of the shortages in detail and of the others.
func (r manyShortages) Reasons(detail uint64) []string { return reasons(r.schema, detail, r.more) }

func reasons(schema *resource.Schema, detail uint64, more string) []string {
	return some(allReasons(schema, detail, more), 0)
}

// allReasons lists pod slots first, then cpu, memory and ephemeral storage, then the
// other resources by name.
func allReasons(schema *resource.Schema, detail uint64, more string) []string {
	var fixed, others []string
	add := func(index int) {
		text := insufficient(schema.Name(index))
		if index <= resource.IndexEphemeralStorage {
			fixed = append(fixed, text)
		} else {
			others = append(others, text)
		}
	}
	if detail&1 != 0 {
		fixed = append(fixed, "Too many pods")
	}
	for rest := detail &^ 1; rest != 0; rest &= rest - 1 {
		add(bits.TrailingZeros64(rest) - 1)
	}
	for b := []byte(more); len(b) > 0; {
		index, n := binary.Uvarint(b)
		add(int(index))
		b = b[n:]
	}
	slices.Sort(others)
	return append(fixed, others...)
}
