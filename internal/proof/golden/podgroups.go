package golden

import (
	"encoding/json"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

// PodGroupSystem is the name of the folder with the vectors of kube-scheduler's pod
// groups.
const PodGroupSystem = "pod-groups"

// A PodGroupCase is one vector: the cluster, the groups, the pods that wait, and what
// the group cycle does with one of the groups.
type PodGroupCase struct {
	ID     string          `json:"id"`
	Family string          `json:"family"`
	Config json.RawMessage `json:"config,omitempty"`
	Gates  map[string]bool `json:"gates,omitempty"`
	Group  string          `json:"group,omitempty"` // the one that is placed

	Nodes                []*api.Node                `json:"nodes,omitempty"`
	Pods                 []*api.Pod                 `json:"pods,omitempty"` // on nodes
	PodDisruptionBudgets []*api.PodDisruptionBudget `json:"pdbs,omitempty"`
	PodGroups            []*api.PodGroup            `json:"podGroups,omitempty"`
	Members              []*api.Pod                 `json:"members,omitempty"` // pending, in the order of arrival

	// CompositePodGroups are the inner groups of a tree; Group is then the root. Only live
	// cases have them.
	CompositePodGroups []*api.CompositePodGroup `json:"compositePodGroups,omitempty"`

	Expect PodGroupExpect `json:"expect,omitzero"`
}

// PodGroupExpect holds kube-scheduler's answers.
type PodGroupExpect struct {
	NodeOrder  []string            `json:"nodeOrder,omitempty"`
	Gated      string              `json:"gated,omitempty"` // plugin and text of the first refusal
	Order      []string            `json:"order,omitempty"` // of the members
	Generate   *Status             `json:"generate,omitempty"`
	Placements []PodGroupPlacement `json:"placements,omitempty"` // each alone, by name
	Best       []string            `json:"best,omitempty"`
	Chosen     map[string]int      `json:"chosen,omitempty"`
	Tries      int                 `json:"tries,omitempty"`
	Finals     []PodGroupFinal     `json:"finals,omitempty"` // ends of whole attempts
}

// A PodGroupPlacement is what came of one placement.
type PodGroupPlacement struct {
	Name   string           `json:"name"`
	Nodes  []string         `json:"nodes,omitempty"` // nil: all
	Status Status           `json:"status"`
	Pods   []PodGroupTry    `json:"pods,omitempty"`
	Scores map[string]int64 `json:"scores,omitempty"`
	Total  int64            `json:"total,omitempty"`
}

// A PodGroupTry is what came of one pod in a placement.
type PodGroupTry struct {
	Pod  string `json:"pod"`
	Node string `json:"node,omitempty"`
	Code string `json:"code,omitempty"`
	Text string `json:"text,omitempty"`
}

// A PodGroupFinal is the end of a whole attempt.
type PodGroupFinal struct {
	Condition *PodGroupCondition         `json:"condition,omitempty"`
	Pods      map[string]PodGroupPodLeft `json:"pods,omitempty"`
	Victims   []string                   `json:"victims,omitempty"`
	Times     int                        `json:"times,omitempty"`

	// Groups are the conditions of the groups of a tree.
	Groups map[string]PodGroupCondition `json:"groups,omitempty"`
}

// A PodGroupCondition is the group's condition PodGroupInitiallyScheduled.
type PodGroupCondition struct {
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// A PodGroupPodLeft is what became of a pod.
type PodGroupPodLeft struct {
	Node      string `json:"node,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Message   string `json:"message,omitempty"`
	Nominated string `json:"nominated,omitempty"`
}

// PodGroupFamilies returns the names of all families of pod groups.
func PodGroupFamilies() []string {
	return []string{"plain", "topology", "present", "config", "preempt", "notas", "gated", "validate"}
}

// LoadPodGroups returns the cases of a family, as [Load] does.
func LoadPodGroups(family string) (cases []*PodGroupCase, err error) {
	err = eachLine(PodGroupSystem, "*.jsonl.gz", func(line []byte) error {
		c := new(PodGroupCase)
		if err := json.Unmarshal(line, c); err != nil {
			return err
		}
		if c.Family == family {
			if len(c.Members) == 0 {
				return fmt.Errorf("case %s: no members", c.ID)
			}
			cases = append(cases, c)
		}
		return nil
	})
	return cases, err
}
