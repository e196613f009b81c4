package replica

import "github.com/berth-sched/berth/framework"

// A Counter is a bound filter that reads the pods of the node, and can say how
// many replicas of the pod would pass, one placed after the other, as far as it is
// concerned. Programs that count capacity then need not try. ok is false if it cannot
// tell for this node.
type Counter interface {
	framework.NodeFilter
	Replicas(pod *framework.PodInfo, node *framework.NodeInfo) (count int64, ok bool)
}

// A Spreader is a bound filter that spreads replicas of the pod over the domains
// of one topology key. Programs that count capacity then need not place each replica. ok
// is false if replicas on different nodes hinder each other in another way.
type Spreader interface {
	framework.NodeFilter
	ReplicaSpread(pod *framework.PodInfo) (spread Spread, ok bool)
}

// A Spread is the rule of a [Spreader]. A replica passes on a node if
// Filter accepts it with the pods of the node's domain, and the fewest of any domain. It
// then counts in the domain if Counts is set for the node. The rule holds until the
// cluster changes.
type Spread struct {
	// Key is the label whose values are the domains.
	Key string
	// MaxSkew is at least 1: for nodes that Filter accepts at all, it accepts
	//
	//	pods + 1 - fewest <= MaxSkew
	MaxSkew int64
	// FromZero takes the fewest pods of any domain as 0.
	FromZero bool
	// Place is what the rule sees of a node, and the pods now in its domain.
	Place func(node *framework.NodeInfo) Place
	// Filter is the verdict on a node whose domain has a number of pods.
	Filter func(node *framework.NodeInfo, pods, fewest int64) framework.Status
}

// A Place is a node as a [Spread] sees it.
type Place struct {
	// Domain identifies the node's domain.
	Domain int
	// Pods is how many pods the domain has.
	Pods int64
	// Counts is set if pods on the node count. Only domains of such nodes exist.
	Counts bool
}
