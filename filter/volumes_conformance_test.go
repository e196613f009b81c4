package filter_test

import (
	"slices"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/frameworktest"
)

// filtering is a plugin as the conformance kit sees it: without Reserve, whose
// new objects would count as left behind although they say what the old ones
// said (see TestReserve), and with the same parts of the pod for all pods. The
// plugins name fewer where nothing is mounted; TestClasses checks that.
type filtering struct {
	plugin interface {
		framework.PreFilterPlugin
		framework.Scoper
	}
	fields framework.PodFields
}

func (p filtering) Name() string { return p.plugin.Name() }

func (p filtering) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return p.plugin.PreFilter(c)
}

func (p filtering) Scope(pod *framework.PodInfo) framework.Scope {
	s := p.plugin.Scope(pod)
	s.Pod |= p.fields
	return s
}

var volumePlugins = []filtering{
	{filter.VolumeBinding{}, framework.FieldVolumes},
	{filter.VolumeRestrictions{}, framework.FieldVolumes},
	{filter.VolumeZone{}, framework.FieldVolumes},
	{filter.NodeVolumeLimits{}, framework.FieldVolumes},
	{filter.EBSLimits{MaxVolumes: 1}, framework.FieldVolumes},
	{filter.GCEPDLimits{MaxVolumes: 1}, framework.FieldVolumes},
	{filter.AzureDiskLimits{}, framework.FieldVolumes},
	{filter.CinderLimits{}, framework.FieldVolumes},
	{filter.NodeDeclaredFeatures{}, framework.FieldSpec},
}

func TestConformanceOfVolumes(t *testing.T) {
	for _, p := range volumePlugins {
		t.Run(p.Name(), func(t *testing.T) {
			frameworktest.Run(t, p, frameworktest.Options{Clusters: 8, Generate: storageCluster})
		})
	}
}

// TestClasses checks that pods of one class, as their own scopes tell it, are
// answered alike.
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
					key := pod.ClassKey(p.plugin.Scope(pod).Pod)
					var c framework.Cycle
					c.Reset(pod, s, 0, 0)
					list, _, status := verdicts(&c, p.plugin)
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
