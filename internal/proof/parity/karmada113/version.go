package karmada

import (
	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/util/helper"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-sched/berth/scheduling/multicluster"
)

// A Version holds what depends on the version of Karmada that a comparison is built
// with. The rest of this package builds with several versions.
type Version struct {
	// Scheduler is berth's scheduler for that version.
	Scheduler multicluster.Scheduler
	// Share divides n replicas by weight.
	Share func(n int32, weights helper.ClusterWeightInfoList, held []workv1.TargetCluster, uid types.UID) []workv1.TargetCluster
	// RandomTies says that Share breaks some ties at random.
	RandomTies bool
	// RemovesEmpty says that a workload with requirements is removed from all
	// clusters if it wants no replicas.
	RemovesEmpty bool
}
