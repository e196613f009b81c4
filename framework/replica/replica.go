package replica

import "github.com/berth-sched/berth/framework"

// A Counter is a bound filter that reads the pods of the node, and can say how
// many replicas of the pod would pass, one placed after the other, as far as it is
// concerned. Programs that count capacity then need not try. ok is false if it cannot
// tell for this node.
type Counter interface {
	framework.NodeFilter
	// Replicas is how many replicas pass.
	Replicas(pod *framework.PodInfo, node *framework.NodeInfo) (count int64, ok bool)
	// FilterAfter is Filter with so many replicas more on the node, at most as many as pass.
	FilterAfter(pod *framework.PodInfo, node *framework.NodeInfo, replicas int64) framework.Status
}

// A Spreader is a bound filter that spreads replicas of the pod over the domains
// of topology keys. Programs that count capacity then need not place each replica. ok is
// false if replicas on different nodes hinder or help each other in another way. It may
// become true when there is a replica.
type Spreader interface {
	framework.NodeFilter
	ReplicaSpread(pod *framework.PodInfo) (spread Spread, ok bool)
}

// A Spread is how a [Spreader] spreads replicas. It holds until the cluster
// changes.
type Spread struct {
	// Rules are what counts replicas; there may be none. A node must pass all of them.
	Rules []Rule
	// Filter is the verdict on a node if the rules count these pods, one count for each. A
	// rule counts a replica once if [Place.Counts] is set for its node.
	Filter func(node *framework.NodeInfo, counts []Count) framework.Status
}

// A Rule limits the replicas in the domains of one topology key. A node that Filter
// accepts at all passes the rule if
//
//	pods + 1 - fewest <= MaxSkew
type Rule struct {
	// Key is the label whose values are the domains.
	Key string
	// MaxSkew is at least 1.
	MaxSkew int64
	// FromZero takes the fewest pods of any domain as 0.
	FromZero bool
	// Place is what the rule sees of a node, and the pods now in its domain.
	Place func(node *framework.NodeInfo) Place
}

// A Place is a node as a [Rule] sees it.
type Place struct {
	// Domain identifies the node's domain. If it is negative, the rule lets the node pass.
	Domain int
	// Pods is how many pods the domain has.
	Pods int64
	// Counts is set if pods on the node count. Only domains of such nodes exist.
	Counts bool
}

// A Count is how many pods a [Rule] counts in the domain of a node, and the
// fewest in any domain.
type Count struct{ Pods, Fewest int64 }
