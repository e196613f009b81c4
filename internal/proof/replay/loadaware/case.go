// Package loadaware replays cases of load-aware scheduling. A case holds the
// cluster, its events and the pod in question, in the form in which the answers of
// Koordinator's plugin were recorded. The package is for tests.
package loadaware

import (
	"encoding/json"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A Case is the history that a scheduler sees, in the order of the fields. The clock
// stands at Now, nodes are there, pods and metrics come in, and pods are reserved
// and unreserved. Then events follow, and Pod is filtered and scored on every node.
type Case struct {
	ID          int               `json:"id"`
	Mode        string            `json:"mode"`
	Now         time.Time         `json:"now"`
	Args        json.RawMessage   `json:"args"`
	Nodes       []*api.Node       `json:"nodes"`
	Pods        []*api.Pod        `json:"pods,omitempty"`
	NodeMetrics []*api.NodeMetric `json:"nodeMetrics,omitempty"`
	Reserve     []Reservation     `json:"reserve,omitempty"`
	Unreserve   []Reservation     `json:"unreserve,omitempty"`
	Events      []Event           `json:"events,omitempty"`
	Pod         *api.Pod          `json:"pod"`
	Expect      map[string]Answer `json:"expect,omitempty"` // by version, such as "v1.8.0"
}

// A Reservation is a pod with the node chosen for it.
type Reservation struct {
	Node string   `json:"node"`
	Pod  *api.Pod `json:"pod"`
}

// An Event happens after the start.
type Event struct {
	Type   EventType       `json:"type"`
	Pod    *api.Pod        `json:"pod,omitempty"`
	Metric *api.NodeMetric `json:"metric,omitempty"`
	Node   string          `json:"node,omitempty"` // of a deleted metric, or of a reservation
	Object *api.Node       `json:"object,omitempty"`
	Passed api.Duration    `json:"passed,omitzero"` // time that passes
}

// EventType is a type of event.
type EventType string

// The types of events.
const (
	PodAdd       EventType = "pod-add"
	PodUpdate    EventType = "pod-update"
	PodDelete    EventType = "pod-delete"
	MetricApply  EventType = "metric-apply"
	MetricDelete EventType = "metric-delete"
	PodReserve   EventType = "pod-reserve"
	PodUnreserve EventType = "pod-unreserve"
	NodeUpdate   EventType = "node-update" // Object replaces the node with its name
	TimePass     EventType = "time-pass"
	Question     EventType = "question" // Pod is filtered and scored on every node
)

// An Answer is a plugin's answer.
type Answer struct {
	ArgsError     string                              `json:"argsError,omitempty"` // if set, all other fields are empty
	DefaultedArgs json.RawMessage                     `json:"defaultedArgs,omitempty"`
	PriorityClass string                              `json:"priorityClass,omitempty"`
	EstimatePod   map[resource.Name]int64             `json:"estimatePod,omitempty"`
	PodClasses    map[api.UID]string                  `json:"podClasses,omitempty"`   // by UID
	PodEstimates  map[api.UID]map[resource.Name]int64 `json:"podEstimates,omitempty"` // by UID
	Nodes         []NodeAnswer                        `json:"nodes,omitempty"`
	Questions     [][]NodeAnswer                      `json:"questions,omitempty"` // by question among the events
}

// A NodeAnswer is a plugin's answer for a node.
type NodeAnswer struct {
	Name          string        `json:"name"`
	FilterCode    string        `json:"filterCode"`
	FilterReason  string        `json:"filterReason,omitempty"`
	FilterReasons []string      `json:"filterReasons,omitempty"` // any of these may be given
	Score         int64         `json:"score"`
	EstimateNode  resource.List `json:"estimateNode,omitempty"`
}
