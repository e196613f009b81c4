// Package karmada116 compares berth with Karmada v1.16.0, the first version that
// divides by Webster's method. It builds the cases of the package karmada with that
// version.
//
//	go run ./cmd/compare -seed 1 -cases 20000
//	go run ./cmd/bench
//
// In addition to the faults listed by that package, it counts one kind of case
// separately. If a workload could have replicas, but wants none, Karmada removes it
// from all clusters since 1.16. berth keeps it; see multicluster.Karmada118.
package karmada116

import (
	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/util/helper"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-sched/berth/internal/proof/parity/karmada113"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// Version returns Karmada 1.16. It still estimates like 1.13.
func Version() karmada.Version {
	return karmada.Version{
		Scheduler:    multicluster.Karmada116(),
		Share:        share,
		RemovesEmpty: true,
	}
}

func share(n int32, weights helper.ClusterWeightInfoList, held []workv1.TargetCluster, uid types.UID) []workv1.TargetCluster {
	d := helper.NewDispenser(n, held, uid)
	d.AllocateByWeight(weights)
	return d.Result
}
