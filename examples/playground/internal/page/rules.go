package page

import (
	"errors"
	"strings"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
)

// LoadAware is the preset with Koordinator's plugin.
const LoadAware = "load-aware"

// A Preset is a choice of rules.
type Preset struct {
	Name  string `json:"name"`
	Title string `json:"title"`

	profile  func() scheduling.Profile
	registry func() *scheduling.Registry
}

// presets are the choices, the default first.
var presets = []Preset{
	{"1.37", "kube-scheduler 1.37", scheduling.Kubernetes137, scheduling.Kubernetes137Registry},
	{"1.34", "kube-scheduler 1.34", scheduling.Kubernetes134, scheduling.Kubernetes134Registry},
	{"1.18", "kube-scheduler 1.18", scheduling.Kubernetes118, scheduling.Kubernetes118Registry},
	{LoadAware, "1.37 with Koordinator 1.8 LoadAwareScheduling", nil, scheduling.Kubernetes137Registry},
}

func presetOf(name string) (Preset, bool) {
	for _, p := range presets {
		if p.Name == name {
			return p, true
		}
	}
	return Preset{}, false
}

// loadAwareConfig is the configuration of the preset load-aware.
const loadAwareConfig = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 100
profiles:
- schedulerName: default-scheduler
  plugins:
    filter: {enabled: [{name: LoadAwareScheduling}]}
    score: {enabled: [{name: LoadAwareScheduling, weight: 3}]}
    reserve: {enabled: [{name: LoadAwareScheduling}]}
  pluginConfig:
  - name: LoadAwareScheduling
    args:
      filterExpiredNodeMetrics: false
      usageThresholds: {cpu: 65, memory: 95}
`

// profilesOf returns the profiles that a preset and a configuration mean.
func profilesOf(name, text string, seed uint64) ([]scheduling.Profile, []Problem) {
	preset, ok := presetOf(name)
	if !ok {
		return nil, []Problem{{Area: "config", Text: "there is no preset " + name}}
	}
	if strings.TrimSpace(text) == "" && preset.profile != nil {
		p := preset.profile()
		p.Seed = seed
		return []scheduling.Profile{p}, nil
	}
	if strings.TrimSpace(text) == "" {
		text = loadAwareConfig
	}
	registry := preset.registry()
	if err := registry.Register(estimator.LoadAwareName, scheduling.RegisterLoadAware(estimator.Koordinator18, estimator.KnownEstimators())); err != nil {
		return nil, []Problem{{Area: "config", Text: err.Error()}}
	}
	const readsOlder = "1.18" // release 1.29 removed the last version before v1
	c, err := config.Load([]byte(text), config.LoadConfig{Registry: registry, OnlyV1: name != readsOlder})
	if err != nil {
		return nil, configProblems(err)
	}
	if len(c.Extenders) > 0 {
		return nil, []Problem{{"config", config.FieldLine([]byte(text), "extenders"), "extenders: this page asks no extender, because it makes no request; take them out to see what the plugins say"}}
	}
	built, err := c.Build(config.BuildConfig{})
	if err != nil {
		return nil, configProblems(err)
	}
	for i := range built.Profiles {
		p := &built.Profiles[i]
		p.Seed, p.Parallelism = seed, 1
		if _, err := scheduling.New(*p); err != nil {
			return nil, configProblems(err)
		}
	}
	return built.Profiles, nil
}

func configProblems(err error) []Problem {
	var all *config.Error
	if !errors.As(err, &all) {
		return []Problem{problemOf("config", err)}
	}
	var list []Problem
	for _, p := range all.Problems {
		list = append(list, Problem{"config", p.Line, p.Text})
	}
	return list
}
