package filter_test

import (
	"slices"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/proof/effort"
)

// volumePlugins are the plugins that need storage in their tests.
var volumePlugins = []interface {
	framework.PreFilterPlugin
	framework.Scoper
}{
	filter.VolumeBinding{},
	filter.VolumeRestrictions{},
	filter.VolumeZone{},
	filter.NodeVolumeLimits{},
	filter.EBSLimits{MaxVolumes: 1},
	filter.GCEPDLimits{MaxVolumes: 1},
	filter.AzureDiskLimits{MaxVolumes: 1},
	filter.CinderLimits{MaxVolumes: 1},
	filter.NodeDeclaredFeatures{},
}

func TestConformanceOfVolumes(t *testing.T) {
	for _, p := range volumePlugins {
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			frameworktest.Run(t, p, frameworktest.Config{Clusters: 8, Quick: !effort.Full(), Generate: storageCluster})
		})
	}
}

// TestClasses checks that pods of one class, by their own scopes, get equal
// verdicts.
func TestClasses(t *testing.T) {
	alike := 0
	for seed := range uint64(12) {
		s, _, err := frameworktest.Snapshot(storageCluster(seed))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range volumePlugins {
			classes := map[string][]string{}
			for _, n := range s.All() {
				for _, pod := range n.Pods {
					key := pod.ClassKey(p.Scope(pod).Pod)
					if keyer, ok := framework.As[incremental.ClassKeyer](p); ok {
						key += string(keyer.AppendClassKey(nil, s, pod))
					}
					var c framework.Cycle
					c.Reset(pod, s, 0, 0)
					list, _, status := verdicts(&c, p)
					got := append(texts(list), status.String())
					if want, ok := classes[key]; !ok {
						classes[key] = got
					} else if alike++; !slices.Equal(got, want) {
						t.Errorf("seed %d: %s answers %s with %v, another pod of its class with %v", seed, p.Name(), pod.Pod.Key(), got, want)
					}
				}
			}
		}
	}
	if alike == 0 {
		t.Error("no two pods were of one class")
	}
}
