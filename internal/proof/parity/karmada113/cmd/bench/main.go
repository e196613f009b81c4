// Command bench measures berth beside Karmada 1.13, and beside transcriptions of two
// loops of later versions. It prints a line only if both results are equal. The
// module karmada116, beside this one, measures the division of Karmada 1.16 itself.
//
//	go run ./cmd/bench -nodes 500 -pods 1000000
package main

import (
	"fmt"
	"os"

	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/util/helper"

	"github.com/berth-sched/berth/internal/proof/parity/karmada113"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/speed"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/v113"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	b, err := speed.New(os.Args[1:], os.Stdout)
	if err != nil {
		return err
	}
	if err := b.FirstFit(); err != nil {
		return err
	}
	if err := b.MinCovers("1.13"); err != nil {
		return err
	}
	var weights helper.ClusterWeightInfoList
	byName := map[string]int64{}
	for _, w := range speed.Fifty() {
		weights = append(weights, helper.ClusterWeightInfo{ClusterName: w.Name, Weight: w.Weight})
		byName[w.Name] = w.Weight
	}
	if err := b.Divide(b.Replicas, multicluster.Webster, "1.16, transcribed", func() map[string]int64 {
		return karmada.DivideOneByOne(b.Replicas, byName)
	}); err != nil {
		return err
	}
	floors := v113.Version().Share
	if err := b.Divide(b.Replicas, multicluster.Floor, "1.13", func() map[string]int64 {
		return shares(floors(int32(b.Replicas), append(helper.ClusterWeightInfoList(nil), weights...), nil, ""))
	}); err != nil {
		return err
	}
	b.Note()
	return nil
}

func shares(targets []workv1.TargetCluster) map[string]int64 {
	m := map[string]int64{}
	for _, t := range targets {
		m[t.Name] = int64(t.Replicas)
	}
	return m
}
