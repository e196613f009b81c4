package incremental

import (
	"time"

	"github.com/berth-sched/berth/framework"
)

// An Expirer is a bound filter or scorer whose answer for a node holds only until a
// time: it may change at that time or later. The zero time means that the answer holds
// as long as the node and its pods do not change.
type Expirer interface {
	ValidUntil(pod *framework.PodInfo, node *framework.NodeInfo) time.Time
}
