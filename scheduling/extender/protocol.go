package extender

import (
	"encoding/json"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

// MaxPriority is the highest score that an extender should give to a node, the
// lowest being 0.
const MaxPriority = 10

// Args is the request of filter and prioritize. Exactly one of Nodes and NodeNames
// is set.
type Args struct {
	Pod       *api.Pod
	Nodes     *NodeList // unless nodeCacheCapable
	NodeNames *[]string // if nodeCacheCapable
}

// A NodeList is Kubernetes' list of nodes.
type NodeList struct {
	Items []Node `json:"items"`
}

// A Node is a node whose name alone matters here; the rest is kept unchanged.
type Node struct {
	Name string
	JSON json.RawMessage
}

// NodeOf returns a node to send. A nil one is an [*api.InvalidError].
func NodeOf(n *api.Node) (Node, error) {
	if n == nil {
		return Node{}, &api.InvalidError{Object: "node", Err: errNil}
	}
	text, err := json.Marshal(n)
	return Node{Name: n.Name, JSON: text}, err
}

// MarshalJSON returns the node unchanged.
func (n Node) MarshalJSON() ([]byte, error) {
	if n.JSON == nil {
		return json.Marshal(api.Node{ObjectMeta: api.ObjectMeta{Name: n.Name}})
	}
	return n.JSON, nil
}

// UnmarshalJSON reads the name and keeps the rest.
func (n *Node) UnmarshalJSON(data []byte) error {
	var object struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(data, &object); err != nil {
		return fmt.Errorf("node: %w", err)
	}
	n.Name, n.JSON = object.Metadata.Name, append(json.RawMessage(nil), data...)
	return nil
}

// FilterResult answers filter. If both Nodes and NodeNames are absent, no node is
// feasible.
type FilterResult struct {
	Nodes                      *NodeList         // if Args had Nodes
	NodeNames                  *[]string         // if Args had NodeNames
	FailedNodes                map[string]string // why others are not feasible
	FailedAndUnresolvableNodes map[string]string // the same, even without any pods; these take precedence
	Error                      string            // the call failed
}

// HostPriority is the score of a node.
type HostPriority struct {
	Host  string
	Score int64
}

// BindingArgs is the request to bind a pod to a node.
type BindingArgs struct {
	PodName      string
	PodNamespace string
	PodUID       api.UID
	Node         string
}

// BindingResult answers bind.
type BindingResult struct {
	Error string // empty: the pod is bound
}

// PreemptionArgs is the request about the candidates of a preemption, by node.
// Exactly one of the maps is set.
type PreemptionArgs struct {
	Pod                   *api.Pod
	NodeNameToVictims     map[string]*Victims     // unless nodeCacheCapable
	NodeNameToMetaVictims map[string]*MetaVictims // if nodeCacheCapable
}

// PreemptionResult answers preempt with the candidates that remain.
type PreemptionResult struct {
	NodeNameToMetaVictims map[string]*MetaVictims
}

// Victims are the pods that have to leave a node.
type Victims struct {
	Pods             []*api.Pod
	NumPDBViolations int64 // number of victims whose removal violates a PodDisruptionBudget
}

// MetaVictims are Victims by their identifiers.
type MetaVictims struct {
	Pods             []*MetaPod
	NumPDBViolations int64
}

// MetaPod identifies a pod.
type MetaPod struct {
	UID api.UID
}
