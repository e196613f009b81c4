package karmada

import (
	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/util/helper"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-sched/berth/scheduling/multicluster"
)

// A Version is the version of Karmada that a comparison is built with, as far
// as it matters which one it is. The rest of this package builds with several.
type Version struct {
	// Scheduler is what berth puts beside it.
	Scheduler multicluster.Scheduler
	// Share divides n replicas by weight.
	Share func(n int32, weights helper.ClusterWeightInfoList, held []workv1.TargetCluster, uid types.UID) []workv1.TargetCluster
	// RandomTies tells that Share decides some ties at random.
	RandomTies bool
	// RemovesEmpty tells that a workload with requirements that wants no
	// replicas is removed from all clusters.
	RemovesEmpty bool
}
