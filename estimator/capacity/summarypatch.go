package capacity

import (
	"encoding/json"

	"github.com/berth-sched/berth/framework/api"
)

// SummaryPatch returns the JSON patch (RFC 6902) that writes what [Summarize]
// finds out, status.nodeSummary and status.resourceSummary, into the Cluster
// object that the cluster was read from, and leaves everything else in it alone.
// What the cluster does not have is left out.
//
//	kubectl patch cluster member1 --subresource=status --type=json --patch "$PATCH"
//
// A [api.Cluster] has no place for what berth does not read, such as
// spec.apiEndpoint and spec.secretRef, so it must not be written back as a whole.
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
