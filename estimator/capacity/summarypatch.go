package capacity

import (
	"encoding/json"

	"github.com/berth-sched/berth/framework/api"
)

// SummaryPatch returns a JSON patch (RFC 6902) that writes the results of
// [Summarize], status.nodeSummary and status.resourceSummary, into the original
// Cluster object. It changes nothing else there. It leaves out a part that the
// cluster does not have.
//
//	kubectl patch cluster member1 --subresource=status --type=json --patch "$PATCH"
//
// A [api.Cluster] lacks fields that berth does not read, such as spec.apiEndpoint
// and spec.secretRef, so do not write it back as a whole.
func SummaryPatch(cluster *api.Cluster) ([]byte, error) {
	if cluster == nil {
		return nil, errNilCluster
	}
	type step struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	patch := []step{} // an empty list, if there is nothing to write
	if n := cluster.Status.NodeSummary; n != nil {
		patch = append(patch, step{"add", "/status/nodeSummary", n})
	}
	if s := cluster.Status.ResourceSummary; s != nil {
		patch = append(patch, step{"add", "/status/resourceSummary", s})
	}
	return json.Marshal(patch)
}
