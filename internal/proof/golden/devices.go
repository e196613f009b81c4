package golden

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// DeviceSystem is the name of the folder with the answers of the plugin
// DynamicResources.
const DeviceSystem = "dynamic-resources"

// A DeviceCase is one vector of [DeviceSystem]: a cluster with devices, and what the
// plugin answered for pods, one after the other.
type DeviceCase struct {
	ID     string          `json:"id"`
	Family string          `json:"family"`
	Config json.RawMessage `json:"config,omitempty"`

	Nodes      []*api.Node            `json:"nodes"`
	Classes    []*api.DeviceClass     `json:"classes"`
	Slices     []*api.ResourceSlice   `json:"slices"`
	TaintRules []*api.DeviceTaintRule `json:"taintRules"`
	Claims     []*api.ResourceClaim   `json:"claims"`
	Steps      []DeviceStep           `json:"steps"`
	// Alternatives holds the answers of all steps for each way in which the original
	// went, if it is not the same every time.
	Random       bool             `json:"random"`
	Alternatives [][]DeviceExpect `json:"alternatives"`
}

// A DeviceStep frees a claim or takes a pod through the plugin.
type DeviceStep struct {
	Free   string       `json:"free"`
	Pod    *api.Pod     `json:"pod"`
	Node   string       `json:"node"` // where it is reserved, "" for nowhere
	Then   string       `json:"then"` // "" (in flight), unreserve, bind or none
	Expect DeviceExpect `json:"expect"`
}

// DeviceExpect holds the plugin's answers to one step. Success is left out.
type DeviceExpect struct {
	PreEnqueue  *Status                     `json:"preEnqueue"`
	PreFilter   *Status                     `json:"preFilter"`
	ToAllocate  []string                    `json:"toAllocate"`
	Nodes       map[string]DeviceNodeExpect `json:"nodes"`
	Unavailable []string                    `json:"unavailable"`
	PostFilter  []DevicePostFilter          `json:"postFilter"`
	Reserve     *Status                     `json:"reserve"`
	Bind        *Status                     `json:"bind"`
	Bound       []DeviceBound               `json:"bound"`
}

// DeviceNodeExpect holds the answers for one node.
type DeviceNodeExpect struct {
	Filter           *Status                 `json:"filter"`
	Allocations      []*api.AllocationResult `json:"allocations"`
	ExtendedRequests []api.DeviceRequest     `json:"extendedRequests"`
	Mappings         []DeviceMapping         `json:"mappings"`
	Score            *int64                  `json:"score"`
	Normalized       *int64                  `json:"norm"`
	Fit              *Status                 `json:"fit"`
	FitScore         *int64                  `json:"fitScore"`
	BalancedScore    *int64                  `json:"balancedScore"`
}

// DeviceMapping says which request gives a container its extended resource.
type DeviceMapping struct {
	Container string `json:"containerName"`
	Resource  string `json:"resourceName"`
	Request   string `json:"requestName"`
}

// DevicePostFilter is one answer that PostFilter may give.
type DevicePostFilter struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Freed   string `json:"freed"`
	Deleted string `json:"deleted"`
}

// DeviceBound is a claim after PreBind.
type DeviceBound struct {
	Claim       string                `json:"claim"`
	Allocation  *api.AllocationResult `json:"allocation"`
	ReservedFor []string              `json:"reservedFor"`
	Finalizers  []string              `json:"finalizers"`
	Requests    []api.DeviceRequest   `json:"requests"`
	Mappings    []DeviceMapping       `json:"mappings"`
}

// LoadDevices returns the cases with devices by family.
func LoadDevices() (map[string][]*DeviceCase, error) {
	families := map[string][]*DeviceCase{}
	err := eachLine(DeviceSystem, "vectors*.jsonl.gz", func(line []byte) error {
		c := new(DeviceCase)
		if err := json.Unmarshal(line, c); err != nil {
			return err
		}
		families[c.Family] = append(families[c.Family], c)
		return nil
	})
	return families, err
}

// Snapshot returns the cluster of the case.
func (c *DeviceCase) Snapshot() (*framework.Snapshot, error) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	for _, n := range c.Nodes {
		if err := s.AddNode(n); err != nil {
			return nil, err
		}
	}
	return s, errors.Join(putAll(s, c.Classes), putAll(s, c.Slices), putAll(s, c.TaintRules), putAll(s, c.Claims))
}

// A Selector is one selector and one device of [DeviceSystem], and the answer.
type Selector struct {
	Expression   string     `json:"expression"`
	Driver       string     `json:"driver"`
	Device       api.Device `json:"device"`
	Match        bool       `json:"match"`
	CompileError string     `json:"compileError"`
	RuntimeError string     `json:"runtimeError"`
}

// LoadSelectors returns all selectors.
func LoadSelectors() (list []Selector, err error) {
	err = eachLine(DeviceSystem, "selectors*.jsonl.gz", func(line []byte) error {
		var s Selector
		if err := json.Unmarshal(line, &s); err != nil {
			return err
		}
		list = append(list, s)
		return nil
	})
	return list, err
}

// free empties the status of a claim.
func free(s *framework.Snapshot, key string) error {
	c := framework.Lookup[api.ResourceClaim](s, key)
	if c == nil {
		return fmt.Errorf("there is no claim %s to free", key)
	}
	next := *c
	next.Status = api.ResourceClaimStatus{}
	return framework.Put(s, &next)
}

// withoutShares returns the allocation with every share named "*", and without the time.
func withoutShares(a *api.AllocationResult) *api.AllocationResult {
	if a = clone(a); a == nil {
		return nil
	}
	a.AllocationTimestamp = nil
	for i := range a.Devices.Results {
		if r := &a.Devices.Results[i]; r.ShareID != nil {
			r.ShareID = new(api.UID("*"))
		}
	}
	return a
}

func clone(a *api.AllocationResult) *api.AllocationResult {
	if a == nil {
		return nil
	}
	b := *a
	b.Devices.Results = slices.Clone(a.Devices.Results)
	return &b
}
