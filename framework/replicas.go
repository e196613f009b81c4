package framework

// A ReplicaCounter is a bound filter that reads the pods of the node, and can say how
// many replicas of the pod would pass, one placed after the other, as far as it is
// concerned. Programs that count capacity then need not try. ok is false if it cannot
// tell for this node.
type ReplicaCounter interface {
	NodeFilter
	Replicas(pod *PodInfo, node *NodeInfo) (count int64, ok bool)
}
