package scoring

import (
	"encoding/json"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// PreferAvoidPodsAnnotation is the node annotation that lists the controllers whose
// pods the node should avoid.
const PreferAvoidPodsAnnotation = "scheduler.alpha.kubernetes.io/preferAvoidPods"

// NodePreferAvoidPods scores 0 if the node's annotation lists the pod's controller,
// a ReplicationController or ReplicaSet of the same UID, and 100 otherwise. Its
// weight was 10000, so it outweighed all others. Raw scores are not normalized.
//
// An annotation that cannot be parsed lists no controller.
//
// Source: kube-scheduler 1.18 to 1.22, plugin NodePreferAvoidPods; 1.34 does not
// have it.
type NodePreferAvoidPods struct{}

// Name returns "NodePreferAvoidPods".
func (NodePreferAvoidPods) Name() string { return "NodePreferAvoidPods" }

// Scope declares that a score reads the pod's controller and the node's
// annotation.
func (NodePreferAvoidPods) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldOwner, Reads: framework.ReadsNode}
}

// Score returns 0 or 100.
func (NodePreferAvoidPods) Score(pod *framework.PodInfo, node *framework.NodeInfo) int64 {
	owner := pod.Pod.ControllerRef()
	if owner == nil || owner.Kind != "ReplicationController" && owner.Kind != "ReplicaSet" {
		return framework.MaxNodeScore
	}
	for _, avoided := range avoidedControllers.Of(node).list {
		if avoided.Kind == owner.Kind && avoided.UID == owner.UID {
			return framework.MinNodeScore
		}
	}
	return framework.MaxNodeScore
}

type avoided struct{ list []api.OwnerReference }

var avoidedControllers = framework.NewNodeDerived(func(n *api.Node) *avoided {
	text, ok := n.Annotations[PreferAvoidPodsAnnotation]
	if !ok {
		return &avoided{}
	}
	var annotation struct {
		PreferAvoidPods []struct {
			PodSignature struct {
				PodController *api.OwnerReference `json:"podController"`
			} `json:"podSignature"`
			EvictionTime *time.Time `json:"evictionTime"` // decoded so that a malformed one is found
			Reason       string     `json:"reason"`
			Message      string     `json:"message"`
		} `json:"preferAvoidPods"`
	}
	if err := json.Unmarshal([]byte(text), &annotation); err != nil {
		return &avoided{}
	}
	var a avoided
	for _, entry := range annotation.PreferAvoidPods {
		if c := entry.PodSignature.PodController; c != nil {
			a.list = append(a.list, *c)
		}
	}
	return &a
})
