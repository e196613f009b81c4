package framework

// A ReplicaCounter is a bound filter that reads the pods of the node, and can say how
// many replicas of the pod would pass, one placed after the other, as far as it is
// concerned. Programs that count capacity then need not try. ok is false if it cannot
// tell for this node.
type ReplicaCounter interface {
	NodeFilter
	Replicas(pod *PodInfo, node *NodeInfo) (count int64, ok bool)
}

// A ReplicaSpreader is a bound filter that spreads replicas of the pod over the domains
// of one topology key. Programs that count capacity then need not place each replica. ok
// is false if replicas on different nodes hinder each other in another way.
type ReplicaSpreader interface {
	NodeFilter
	ReplicaSpread(pod *PodInfo) (spread ReplicaSpread, ok bool)
}

// A ReplicaSpread is the rule of a [ReplicaSpreader]. A replica passes on a node if
// Filter accepts it with the pods of the node's domain, and the fewest of any domain. It
// then counts in the domain if Counts is set for the node. The rule holds until the
// cluster changes.
type ReplicaSpread struct {
	// Key is the label whose values are the domains.
	Key string
	// MaxSkew is at least 1: for nodes that Filter accepts at all, it accepts
	//
	//	pods + 1 - fewest <= MaxSkew
	MaxSkew int64
	// FromZero takes the fewest pods of any domain as 0.
	FromZero bool
	// Place is what the rule sees of a node, and the pods now in its domain.
	Place func(node *NodeInfo) ReplicaPlace
	// Filter is the verdict on a node whose domain has a number of pods.
	Filter func(node *NodeInfo, pods, fewest int64) Status
}

// A ReplicaPlace is a node as a [ReplicaSpread] sees it.
type ReplicaPlace struct {
	// Domain identifies the node's domain.
	Domain int
	// Pods is how many pods the domain has.
	Pods int64
	// Counts is set if pods on the node count. Only domains of such nodes exist.
	Counts bool
}
