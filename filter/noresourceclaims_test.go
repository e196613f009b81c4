package filter_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/effort"
)

func TestNoResourceClaims(t *testing.T) {
	frameworktest.Run(t, filter.NoResourceClaims{}, frameworktest.Config{
		Clusters: 8, Quick: !effort.Full(),
		Generate: func(seed uint64) *api.Objects {
			o := frameworktest.Cluster(seed)
			for i, p := range o.Pods {
				if i%3 == 0 {
					p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu"}}
				}
			}
			return o
		},
	})
	s := snapshotOf(t, twoZones())
	wantVerdicts(t, s, filter.NoResourceClaims{}, api.MakePod("p").Obj(), "Success", "Success")
}
