// Command bench measures berth beside Karmada 1.16, which divides one by one by
// Webster's method. It also measures beside the first fit of 1.18, as transcribed in
// the package karmada. It prints a line only if both results are equal.
//
//	go run ./cmd/bench -nodes 500 -pods 1000000
package main

import (
	"fmt"
	"os"

	"github.com/karmada-io/karmada/pkg/util/helper"

	"github.com/berth-sched/berth/internal/proof/parity/karmada113/speed"
	"github.com/berth-sched/berth/internal/proof/parity/karmada116"
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
	if err := b.MinCovers("1.16"); err != nil {
		return err
	}
	var weights helper.ClusterWeightInfoList
	for _, w := range speed.Fifty() {
		weights = append(weights, helper.ClusterWeightInfo{ClusterName: w.Name, Weight: w.Weight})
	}
	share := karmada116.Version().Share
	if err := b.Divide(b.Replicas, multicluster.Webster, "1.16", func() map[string]int64 {
		m := map[string]int64{}
		for _, t := range share(int32(b.Replicas), weights, nil, "") {
			m[t.Name] = int64(t.Replicas)
		}
		return m
	}); err != nil {
		return err
	}
	b.Note()
	return nil
}
