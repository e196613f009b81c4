package devices

import "github.com/berth-sched/berth/framework"

// FirstFit scores all nodes alike, so the tie rule chooses. With the rule First or ByName
// it is the classic first fit over a fixed order.
type FirstFit struct{}

// Name returns "FirstFit".
func (FirstFit) Name() string { return "FirstFit" }

// Scope declares that every answer is the same.
func (FirstFit) Scope(*framework.PodInfo) framework.Scope { return framework.Scope{} }

// Score is always 0.
func (FirstFit) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }
