package frameworktest

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Config says how a plugin is tested. The zero Config suits a plugin that finds
// everything it reads in pods and nodes.
type Config struct {
	// Clusters is the number of clusters to test on; 0 means 24. Under go test
	// -short, Run makes all checks but exercise on a quarter of them.
	Clusters int
	// Seed is the seed of the first cluster; the next clusters have the next
	// seeds. To look at a failure on cluster 17 alone, set Seed to 17 and
	// Clusters to 1.
	Seed uint64
	// Labels holds labels that the plugin reads, each with the values it may
	// have. The kit puts them on nodes and pods of its clusters at random. nil
	// adds no label.
	Labels map[string][]string
	// Annotations is like Labels, for annotations.
	Annotations map[string][]string
	// Generate makes a further cluster for each seed, to be tested beside the
	// one of [Cluster]. It must be a function of the seed. Labels and
	// Annotations do not change its objects. nil makes none.
	Generate func(seed uint64) *api.Objects
	// Quick makes every check but exercise look at a quarter of the clusters, as go test
	// -short does.
	Quick bool
	// Only names the one check to make, such as "scope"; "" makes all that apply. The
	// subtests of Run have the names.
	Only string
	// Prepare readies each snapshot: it puts in what the plugin reads and pods
	// and nodes do not say, such as metrics in an extension. It must do the
	// same for snapshots of the same content. nil does nothing.
	Prepare func(s *framework.Snapshot) error
	// State returns what the plugin keeps in the snapshot, in a form that
	// reflect.DeepEqual compares and that later changes of the snapshot do not
	// change, such as a map from node names to sums. nil shows nothing.
	State func(s *framework.Snapshot) any
	// Unexercised gives a reason for each [Exercise] that the plugin
	// legitimately never does on these clusters. Without a reason, an exercise
	// that never happens is a failure.
	Unexercised map[Exercise]string
}

const defaultClusters = 24

func (c *Config) clusters() uint64 {
	if c.Clusters == 0 {
		return defaultClusters
	}
	return uint64(c.Clusters)
}

// only returns the one Config of a variadic parameter.
func only(configs []Config) Config {
	switch len(configs) {
	case 0:
		return Config{}
	case 1:
		return configs[0]
	}
	panic(fmt.Sprintf("frameworktest: %d Configs, want one at most", len(configs)))
}
