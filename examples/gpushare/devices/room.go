package devices

import (
	"math/bits"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A room is what is left of the GPUs of a node, in the forms that plugins read. It is
// found once when a pod comes or goes, and then read by each class of pods.
type room struct {
	lanes lanes // of the first GPUs
	most  int32 // that one GPU has left
	gpus  int
	model string
	left  [MaxGPUs]int32
	tags  Tags
}

// sum brings lanes and most up to date with left.
func (r *room) sum() {
	r.most, r.lanes = 0, lanes{}
	for i, left := range r.left[:r.gpus] {
		r.most = max(r.most, left)
		if i < lanesMost {
			r.lanes.add(i, left)
		}
	}
}

// with returns the room as formulas know it.
func (r *room) with(cpu int64) Free {
	return Free{CPU: cpu, Model: r.model, GPUs: r.gpus, Left: r.left, Tags: r.tags}
}

// fits reports whether so many GPUs have enough left.
func (r *room) fits(want *Request) bool {
	return int64(r.most) >= want.Milli && (want.Count == 1 || r.fitting(want.Milli) >= want.Count)
}

// fitting is how many GPUs have enough left.
func (r *room) fitting(milli int64) (n int64) {
	for _, left := range r.left[:r.gpus] {
		if int64(left) >= milli {
			n++
		}
	}
	return n
}

// spares reports whether all GPUs of the set have so much left. A GPU that the node does not
// have has nothing left.
func (r *room) spares(s Set, milli int64) bool {
	for i, left := range r.left {
		if s.Has(i) && int64(left) < milli {
			return false
		}
	}
	return true
}

// freeCPU is what is free of the node's CPU.
func freeCPU(n *framework.NodeInfo) int64 { return n.Allocatable.At(cpu) - n.Requested.At(cpu) }

// leftOn returns what is left on a node. It must not be changed.
func (g *GPUs) leftOn(n *framework.NodeInfo, l *ledger) *room {
	if l != nil && l.node == n.Node {
		return &l.left
	}
	return g.leftAnew(n, l)
}

// leftAnew is leftOn for a node without pods, or one that says something else since.
func (g *GPUs) leftAnew(n *framework.NodeInfo, l *ledger) *room {
	if l == nil {
		return g.has.Of(n)
	}
	r := l.leftOf(g.has.Of(n), l.left.tags)
	return &r
}

// installedOn is the room of a node without pods.
func (n *names) installedOn(node *api.Node) *room {
	count := int64(0)
	if q, ok := node.Status.Allocatable[n.gpuCount]; ok {
		count = q.Value()
	} else if q, ok := node.Status.Allocatable[n.gpu]; ok {
		count = q.Value()
	} else if q, ok := node.Status.Allocatable[n.gpuMilli]; ok {
		count = q.Value() / MilliPerGPU
	}
	r := &room{gpus: int(min(max(count, 0), MaxGPUs)), model: node.Labels[n.model]}
	for i := range r.gpus {
		r.left[i] = MilliPerGPU
	}
	r.sum()
	return r
}

// lanes hold how much is left of a few GPUs, 16 bits for each, so that a typical pod is
// compared with all of them at once. Each amount is at most [MilliPerGPU].
type lanes [2]uint64

const (
	lanesMost = 8
	laneOnes  = 0x0001_0001_0001_0001 // 1 in each lane
	laneTops  = laneOnes << 15        // the highest bit of each lane, which no amount reaches
)

// add changes a lane, which must stay within its bounds.
func (l *lanes) add(i int, milli int32) { l[i/4] += uint64(int64(milli)) << (i % 4 * 16) }

func (l *lanes) at(i int) int32 { return int32(l[i/4] >> (i % 4 * 16) & 0xffff) }

// has reports whether one of the first lanes has the amount.
func (l *lanes) has(milli int32, first int) bool {
	for i := range first {
		if l.at(i) == milli {
			return true
		}
	}
	return false
}

// total is the sum of all lanes.
func (l *lanes) total() int64 { return laneSum(l[0]) + laneSum(l[1]) }

// fitting counts the lanes with at least an amount, which comes in each lane of want, and
// adds them up. The amount must not be 0.
func (l *lanes) fitting(want uint64) (count int, sum int64) {
	a, b := (l[0]|laneTops-want)&laneTops, (l[1]|laneTops-want)&laneTops
	return bits.OnesCount64(a) + bits.OnesCount64(b), laneSum(l[0]&(a>>15*0xffff)) + laneSum(l[1]&(b>>15*0xffff))
}

// laneSum adds up four lanes: the product has their sum in its highest lane.
func laneSum(x uint64) int64 { return int64(x * laneOnes >> 48) }
