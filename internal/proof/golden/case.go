package golden

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A Case is one vector: the cluster, the pod to place, and the answers.
type Case struct {
	ID     string          `json:"id"`
	Family string          `json:"family"`
	Config json.RawMessage `json:"config,omitempty"` // KubeSchedulerConfiguration; absent means the default

	Nodes     []*api.Node `json:"nodes,omitempty"`     // in the order of their addition
	Pods      []*api.Pod  `json:"pods,omitempty"`      // on nodes, also in the order of their addition
	Pod       *api.Pod    `json:"pod,omitempty"`       // to place
	Nominated []*api.Pod  `json:"nominated,omitempty"` // pending, with a nominated node

	Namespaces             []*api.Namespace             `json:"namespaces,omitempty"`
	Services               []*api.Service               `json:"services,omitempty"`
	ReplicaSets            []*api.ReplicaSet            `json:"replicaSets,omitempty"`
	StatefulSets           []*api.StatefulSet           `json:"statefulSets,omitempty"`
	ReplicationControllers []*api.ReplicationController `json:"replicationControllers,omitempty"`
	PodDisruptionBudgets   []*api.PodDisruptionBudget   `json:"pdbs,omitempty"`
	PersistentVolumes      []*api.PersistentVolume      `json:"pvs,omitempty"`
	PersistentVolumeClaims []*api.PersistentVolumeClaim `json:"pvcs,omitempty"`
	StorageClasses         []*api.StorageClass          `json:"storageClasses,omitempty"`
	CSINodes               []*api.CSINode               `json:"csiNodes,omitempty"`
	CSIDrivers             []*api.CSIDriver             `json:"csiDrivers,omitempty"`
	CSIStorageCapacities   []*api.CSIStorageCapacity    `json:"csiStorageCapacities,omitempty"`
	VolumeAttachments      []*api.VolumeAttachment      `json:"volumeAttachments,omitempty"`

	Expect Expect `json:"expect,omitzero"`
}

// Expect holds kube-scheduler's answers.
type Expect struct {
	NodeOrder  []string                `json:"nodeOrder,omitempty"` // node order of its snapshot
	Filter     map[string]FilterAnswer `json:"filter,omitempty"`    // by plugin, each alone
	Score      map[string]ScoreAnswer  `json:"score,omitempty"`     // by plugin, each alone, over all nodes
	Weights    map[string]int64        `json:"weights,omitempty"`
	Pipeline   Pipeline                `json:"pipeline,omitzero"`
	Preemption *Preemption             `json:"preemption,omitempty"` // in the family preemption
	Signature  string                  `json:"signature,omitempty"`  // signature of opportunistic batching; "": none
	// Nominations says whether the case's nominated pods counted. They did not in
	// the recorded cases: kube-scheduler keeps nominations only of pods that its API
	// server has, and there was none.
	Nominations bool `json:"nominations,omitempty"`
}

// Pipeline is the answer of the whole framework, with all nodes examined.
type Pipeline struct {
	PreFilter      *Status                  `json:"preFilter,omitempty"`      // if it rejected the pod
	PreFilterNodes []string                 `json:"preFilterNodes,omitempty"` // nil: not restricted
	Failed         map[string]Status        `json:"failed,omitempty"`         // by node: the first plugin that rejected it
	Feasible       []string                 `json:"feasible,omitempty"`       // in the snapshot's order
	Scores         map[string]PipelineScore `json:"scores,omitempty"`         // by plugin, absent if the plugin is skipped
	Totals         []int64                  `json:"totals,omitempty"`         // in the order of Feasible
	Best           []string                 `json:"best,omitempty"`           // the nodes of the highest total
	Err            *Status                  `json:"err,omitempty"`            // if the cycle failed
	// Chosen is the node that the cycle chose with one worker, "" if unknown.
	// Message is the error text if no node was feasible. Failure is the error text
	// if the cycle failed.
	Chosen  string `json:"chosen,omitempty"`
	Message string `json:"message,omitempty"`
	Failure string `json:"failure,omitempty"`
}

// PipelineScore holds a plugin's scores, in the order of Feasible.
type PipelineScore struct {
	Raw      []int64 `json:"raw,omitempty"`
	Weighted []int64 `json:"weighted,omitempty"`
}

// Preemption is DefaultPreemption's answer if no node was feasible.
type Preemption struct {
	Eligible      bool                  `json:"eligible,omitempty"`
	IneligibleMsg string                `json:"ineligibleMsg,omitempty"`
	Potential     []string              `json:"potentialNodes,omitempty"`
	Candidates    []PreemptionCandidate `json:"candidates,omitempty"`
	Failed        map[string]Status     `json:"failed,omitempty"`
	// Picked holds all nodes that the final choice may return.
	Picked         []string `json:"picked,omitempty"`
	PostFilterCode string   `json:"postFilterCode,omitempty"`
	PostFilterMsg  string   `json:"postFilterMsg,omitempty"`
	// OrderSensitive says that the answer depends on the order of budgets. That
	// order is by namespace and name here, and random upstream.
	OrderSensitive bool `json:"pdbOrderSensitive,omitempty"`
	// Searches holds its answers for several places where the search may begin, with
	// its bounds on the number of candidates. Recorded cases have none.
	Searches []PreemptionSearch `json:"searches,omitempty"`
}

// A PreemptionSearch is DefaultPreemption's answer if its search begins at a given
// place among the potential nodes.
type PreemptionSearch struct {
	Offset     int      `json:"offset"`
	Candidates []string `json:"candidates,omitempty"` // nodes, in the order in which they are offered
	Picked     []string `json:"picked,omitempty"`     // all nodes that may be chosen
	Nominated  string   `json:"nominated,omitempty"`  // the one that was chosen
	Evicted    []string `json:"evicted,omitempty"`    // its victims in order, without pods that are already leaving
	Code       string   `json:"code"`
	Message    string   `json:"message,omitempty"`
}

// PreemptionCandidate is a node that would have room without the victims.
type PreemptionCandidate struct {
	Node       string   `json:"node,omitempty"`
	Victims    []string `json:"victims,omitempty"` // as namespace/name, most important first
	Violations int      `json:"numPDBViolations,omitempty"`
}

// A Status is an answer as text.
type Status struct {
	Code    string   `json:"code"`
	Plugin  string   `json:"plugin,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
}

// A FilterAnswer is the answer of a filter plugin.
type FilterAnswer struct {
	PreFilter Status            `json:"preFilter,omitempty"`
	Restricts []string          `json:"preFilterNodes,omitempty"` // nil: does not restrict
	Nodes     map[string]Status `json:"nodes,omitempty"`          // the ones that did not pass
}

// A ScoreAnswer is the answer of a score plugin, in the snapshot's order.
type ScoreAnswer struct {
	PreScore   *Status `json:"preScore,omitempty"` // nil: the plugin has none
	Raw        []int64 `json:"raw,omitempty"`
	Normalized []int64 `json:"norm,omitempty"` // nil: the same as raw
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
	return s, c.PutObjects(s)
}

// PutObjects adds all objects except nodes and pods.
func (c *Case) PutObjects(s *framework.Snapshot) error {
	return errors.Join(
		putAll(s, c.Namespaces), putAll(s, c.Services), putAll(s, c.ReplicaSets), putAll(s, c.StatefulSets),
		putAll(s, c.ReplicationControllers), putAll(s, c.PodDisruptionBudgets), putAll(s, c.PersistentVolumes),
		putAll(s, c.PersistentVolumeClaims), putAll(s, c.StorageClasses), putAll(s, c.CSINodes), putAll(s, c.CSIDrivers),
		putAll(s, c.CSIStorageCapacities), putAll(s, c.VolumeAttachments),
	)
}

func putAll[T api.Object](s *framework.Snapshot, list []*T) error {
	for _, object := range list {
		if err := framework.Put(s, object); err != nil {
			return err
		}
	}
	return nil
}

// Args returns the arguments of a plugin in the configuration's only profile, nil if
// there are none.
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
