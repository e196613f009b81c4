package devices

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

const cpu = resource.IndexCPU

// Vendor is what names of annotations, labels and resources begin with by default.
const Vendor = "alibabacloud.com"

// A Config says how GPUs are named and chosen. Its zero value reads what the simulator of
// the OpenB trace reads, and chooses the tightest GPU.
type Config struct {
	// Vendor is the domain of all names; "" means the constant [Vendor].
	Vendor string
	// ModelLabel is the label of nodes with the model of their GPUs; "" means
	// gpu-card-model of the vendor.
	ModelLabel string
	// Choose picks the GPU for a share; nil means [Tightest].
	Choose Choice
}

// GPUs knows which pods hold which GPUs of the nodes of any snapshot. Every pod that comes
// to a node gets its GPUs at that moment, for whatever reason it comes: it runs there, it
// was placed, it is nominated, or a preemption puts it back. The state is in the snapshot,
// where forks and transactions cover it.
//
// All plugins of a profile share one, made by New. A nil *GPUs stands for one with the
// zero Config. The methods that plugins need to be fast, such as Scope, are those of GPUs,
// so plugins embed it.
type GPUs struct {
	names  names
	choose Choice
	held   *framework.NodeStateKey[*ledger]
	wants  *framework.PodDerived[wanted]
	has    *framework.NodeDerived[room]
}

// New returns GPUs with a state of their own.
func New(c Config) *GPUs {
	if c.Vendor == "" {
		c.Vendor = Vendor
	}
	if c.Choose == nil {
		c.Choose = Tightest{}
	}
	g := &GPUs{names: namesOf(c.Vendor), choose: c.Choose}
	if c.ModelLabel != "" {
		g.names.model = c.ModelLabel
	}
	g.held = framework.NewNodeStateKey(framework.NodeHooks[*ledger]{PodAdded: g.podAdded, PodRemoved: g.podRemoved})
	g.wants = framework.NewPodDerived(g.names.wantedBy)
	g.has = framework.NewNodeDerived(g.names.installedOn)
	return g
}

// usual is what a nil *GPUs stands for.
var usual = New(Config{})

func (g *GPUs) orUsual() *GPUs {
	if g == nil {
		return usual
	}
	return g
}

// choice returns the GPUs that the pod gets if it comes to the node now, none if it does
// not fit. It is the one place where GPUs are chosen. free is what is free without the
// pod.
func (g *GPUs) choice(n *framework.NodeInfo, p *framework.PodInfo, free Free) Set {
	w := g.wants.Of(p)
	switch {
	case w.err != nil || w.Count == 0 || !free.Fits(w.Request):
		return 0
	case !w.IsShare():
		return free.Tightest(w.Request)
	}
	i := g.choose.Choose(Spot{p, n, free, Demand{p.Requests.At(cpu), w.Request}})
	if i < 0 || i >= free.GPUs || int64(free.Left[i]) < w.Milli {
		return 0
	}
	return 1 << i
}

// Request returns what the pod asks for, or an [*api.InvalidError] that names what cannot
// be read.
func (g *GPUs) Request(p *framework.PodInfo) (Request, error) {
	w := g.orUsual().wants.Of(p)
	return w.Request, w.err
}

// Demand returns what formulas know of the pod. A request that cannot be read counts as
// none.
func (g *GPUs) Demand(p *framework.PodInfo) Demand {
	return Demand{p.Requests.At(cpu), g.orUsual().wants.Of(p).Request}
}

// Free returns what is free on a node of the snapshot.
func (g *GPUs) Free(s *framework.Snapshot, n *framework.NodeInfo) Free {
	g = g.orUsual()
	return g.leftOn(n, g.held.Of(s).Get(n)).with(freeCPU(n))
}

// Held returns the GPUs that the pod has on the node, none if it has none there.
func (g *GPUs) Held(s *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) Set {
	if l := g.orUsual().held.Of(s).Get(n); l != nil {
		if h := l.last.find(p); h != nil {
			return h.gpus
		}
	}
	return 0
}

// Scope declares that answers read the node, its pods and their GPUs. Of the pod they read
// its requests and what AppendClassKey names.
func (g *GPUs) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldRequests, Reads: framework.ReadsNode | framework.ReadsPods}
}

// AppendClassKey makes pods of one class that ask alike, whatever else their annotations
// say.
func (g *GPUs) AppendClassKey(b []byte, _ *framework.Snapshot, p *framework.PodInfo) []byte {
	w := g.orUsual().wants.Of(p)
	if w.err != nil {
		return append(append(b, '!'), w.err.Error()...)
	}
	if w.given != 0 {
		b = append(append(append(b, '@', byte(w.given), byte(w.given>>8)), w.on...), 0)
	}
	b = append(b, byte(w.Count), byte(w.Milli), byte(w.Milli>>8))
	return append(b, w.Models...)
}

// ClassKeyVersion says that keys depend on the pod alone.
func (g *GPUs) ClassKeyVersion(*framework.Snapshot) uint64 { return 0 }
