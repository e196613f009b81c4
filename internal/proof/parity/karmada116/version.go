// Package karmada116 compares berth with Karmada v1.16.0, the first version that
// divides by Webster's method, on the cases of the package karmada, which are
// built with that version here.
//
//	go run ./cmd/compare -seed 1 -cases 20000
//	go run ./cmd/bench
//
// Beside the faults that package lists, one kind of case is counted apart: a
// workload that could have replicas, but wants none, is removed from all
// clusters since 1.16, and stays with berth; see multicluster.Karmada118.
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
