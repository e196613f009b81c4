// Package v113 holds the parts that are specific to Karmada 1.13.
package v113

import (
	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/util/helper"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-sched/berth/internal/proof/parity/karmada113"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// Version returns Karmada 1.13.
func Version() karmada.Version {
	return karmada.Version{Scheduler: multicluster.Karmada113(), Share: share, RandomTies: true}
}

func share(n int32, weights helper.ClusterWeightInfoList, held []workv1.TargetCluster, _ types.UID) []workv1.TargetCluster {
	d := helper.NewDispenser(n, held)
	d.TakeByWeight(weights)
	return d.Result
}
