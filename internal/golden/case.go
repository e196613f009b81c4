package golden

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework"
)

// A Case is one vector: the cluster, the pod to place, and the answers.
type Case struct {
	ID     string          `json:"id"`
	Family string          `json:"family"`
	Config json.RawMessage `json:"config"` // KubeSchedulerConfiguration; absent means the default

	Nodes     []*framework.Node `json:"nodes"`     // in the order in which they were added
	Pods      []*framework.Pod  `json:"pods"`      // on nodes, in that order too
	Pod       *framework.Pod    `json:"pod"`       // to place
	Nominated []*framework.Pod  `json:"nominated"` // pending, with a nominated node

	Namespaces             []*framework.Namespace             `json:"namespaces"`
	Services               []*framework.Service               `json:"services"`
	ReplicaSets            []*framework.ReplicaSet            `json:"replicaSets"`
	StatefulSets           []*framework.StatefulSet           `json:"statefulSets"`
	ReplicationControllers []*framework.ReplicationController `json:"replicationControllers"`
	PodDisruptionBudgets   []*framework.PodDisruptionBudget   `json:"pdbs"`
	PersistentVolumes      []*framework.PersistentVolume      `json:"pvs"`
	PersistentVolumeClaims []*framework.PersistentVolumeClaim `json:"pvcs"`
	StorageClasses         []*framework.StorageClass          `json:"storageClasses"`
	CSINodes               []*framework.CSINode               `json:"csiNodes"`
	CSIDrivers             []*framework.CSIDriver             `json:"csiDrivers"`
	CSIStorageCapacities   []*framework.CSIStorageCapacity    `json:"csiStorageCapacities"`
	VolumeAttachments      []*framework.VolumeAttachment      `json:"volumeAttachments"`

	Expect Expect `json:"expect"`
}

// Expect is what kube-scheduler answered.
type Expect struct {
	NodeOrder  []string                `json:"nodeOrder"` // of its snapshot
	Filter     map[string]FilterAnswer `json:"filter"`    // by plugin, each alone
	Score      map[string]ScoreAnswer  `json:"score"`     // by plugin, each alone, over all nodes
	Weights    map[string]int64        `json:"weights"`
	Pipeline   Pipeline                `json:"pipeline"`
	Preemption *Preemption             `json:"preemption"` // of the family preemption
	Signature  string                  `json:"signature"`  // of opportunistic batching; "": none
	// Nominations tells that the case's nominated pods counted. They did not in
	// the recorded cases: kube-scheduler keeps nominations only of pods that its
	// API server has, and there was none.
	Nominations bool `json:"nominations,omitempty"`
}

// Pipeline is what the whole framework answered, with all nodes examined.
type Pipeline struct {
	PreFilter      *Status                  `json:"preFilter"`      // if it rejected the pod
	PreFilterNodes []string                 `json:"preFilterNodes"` // nil: not restricted
	Failed         map[string]Status        `json:"failed"`         // by node: the first plugin that rejected it
	Feasible       []string                 `json:"feasible"`       // in the snapshot's order
	Scores         map[string]PipelineScore `json:"scores"`         // by plugin, those left out absent
	Totals         []int64                  `json:"totals"`         // as Feasible
	Best           []string                 `json:"best"`           // the nodes of the highest total
	Err            *Status                  `json:"err"`            // if the cycle failed
	// Chosen is the node that the cycle chose with one worker, "" where that is
	// not known; and Message the text of its error when no node was feasible.
	Chosen  string `json:"chosen,omitempty"`
	Message string `json:"message,omitempty"`
}

// PipelineScore is what a plugin contributed, in the order of Feasible.
type PipelineScore struct {
	Raw      []int64 `json:"raw"`
	Weighted []int64 `json:"weighted"`
}

// Preemption is what DefaultPreemption answered where no node was feasible.
type Preemption struct {
	Eligible      bool                  `json:"eligible"`
	IneligibleMsg string                `json:"ineligibleMsg"`
	Potential     []string              `json:"potentialNodes"`
	Candidates    []PreemptionCandidate `json:"candidates"`
	Failed        map[string]Status     `json:"failed"`
	// Picked are all nodes that the final choice may return.
	Picked         []string `json:"picked"`
	PostFilterCode string   `json:"postFilterCode"`
	PostFilterMsg  string   `json:"postFilterMsg"`
	// OrderSensitive tells that the answer depends on the order of budgets,
	// which is by namespace and name here and random upstream.
	OrderSensitive bool `json:"pdbOrderSensitive"`
}

// PreemptionCandidate is a node that would have room without the victims.
type PreemptionCandidate struct {
	Node       string   `json:"node"`
	Victims    []string `json:"victims"` // as namespace/name, most important first
	Violations int      `json:"numPDBViolations"`
}

// A Status is an answer as text.
type Status struct {
	Code    string   `json:"code"`
	Plugin  string   `json:"plugin,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
}

// A FilterAnswer is what a filter plugin answered.
type FilterAnswer struct {
	PreFilter Status            `json:"preFilter"`
	Restricts []string          `json:"preFilterNodes"` // nil: does not restrict
	Nodes     map[string]Status `json:"nodes"`          // those that did not pass
}

// A ScoreAnswer is what a score plugin answered, in the snapshot's order.
type ScoreAnswer struct {
	PreScore   *Status `json:"preScore"` // nil: the plugin has none
	Raw        []int64 `json:"raw"`
	Normalized []int64 `json:"norm"` // nil: the same as raw
}

// StatusOf returns a status as text. Success has no reasons.
func StatusOf(s framework.Status) Status {
	return Status{Code: s.Code().String(), Reasons: s.Reasons()}
}

// Snapshot returns the cluster, in kube-scheduler's order of nodes.
func (c *Case) Snapshot() (*framework.Snapshot, error) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	for _, n := range c.Nodes {
		if err := s.AddNode(n); err != nil {
			return nil, err
		}
	}
	for _, p := range c.Pods {
		info, err := s.NewPodInfo(p)
		if err != nil {
			return nil, err
		}
		if err := s.AddPod(info, p.Spec.NodeName); err != nil {
			return nil, err
		}
	}
	return s, c.putObjects(s)
}

// putObjects adds everything that is neither a node nor a pod.
func (c *Case) putObjects(s *framework.Snapshot) error {
	return errors.Join(
		putAll(s, c.Namespaces), putAll(s, c.Services), putAll(s, c.ReplicaSets), putAll(s, c.StatefulSets),
		putAll(s, c.ReplicationControllers), putAll(s, c.PodDisruptionBudgets), putAll(s, c.PersistentVolumes),
		putAll(s, c.PersistentVolumeClaims), putAll(s, c.StorageClasses), putAll(s, c.CSINodes), putAll(s, c.CSIDrivers),
		putAll(s, c.CSIStorageCapacities), putAll(s, c.VolumeAttachments),
	)
}

func putAll[T framework.Object](s *framework.Snapshot, list []*T) error {
	for _, object := range list {
		if err := framework.Put(s, object); err != nil {
			return err
		}
	}
	return nil
}

// Args returns the arguments of a plugin in the configuration's only profile,
// nil if it gives none.
func (c *Case) Args(plugin string) (json.RawMessage, error) {
	if c.Config == nil {
		return nil, nil
	}
	var config struct {
		Profiles []struct {
			PluginConfig []struct {
				Name string          `json:"name"`
				Args json.RawMessage `json:"args"`
			} `json:"pluginConfig"`
		} `json:"profiles"`
	}
	if err := json.Unmarshal(c.Config, &config); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	for _, profile := range config.Profiles {
		for _, entry := range profile.PluginConfig {
			if entry.Name == plugin {
				return entry.Args, nil
			}
		}
	}
	return nil, nil
}
