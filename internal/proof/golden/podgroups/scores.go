package podgroups

import (
	"encoding/json"
	"fmt"

	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scoring"
)

// Scores returns the placement scores of a configuration's first profile, with the gate
// TopologyAwareWorkloadScheduling on: it adds two plugins to multiPoint.
func Scores(raw json.RawMessage) ([]gang.WeightedScore, error) {
	if raw == nil {
		return nil, nil
	}
	var document map[string]any
	if err := json.Unmarshal(raw, &document); err != nil {
		return nil, err
	}
	profile := document["profiles"].([]any)[0].(map[string]any)
	plugins, _ := profile["plugins"].(map[string]any)
	if plugins == nil {
		plugins = map[string]any{}
		profile["plugins"] = plugins
	}
	plugins["multiPoint"] = map[string]any{"enabled": []any{
		map[string]any{"name": "TopologyPlacementGenerator"}, map[string]any{"name": "PodGroupPodsCount"},
	}}
	with, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	loaded, err := config.Load(with, config.LoadConfig{})
	if err != nil {
		return nil, err
	}
	effective := loaded.Effective().Profiles[0]
	list := []gang.WeightedScore{}
	for _, p := range effective.Plugins[config.PlacementScore] {
		w := gang.WeightedScore{Weight: int64(p.Weight)}
		switch p.Name {
		case "PodGroupPodsCount":
			w.Scorer = gang.PodGroupPodsCount{}
		case "NodeResourcesFit":
			fit := gang.NodeResourcesFit{}
			for _, c := range effective.PluginConfig {
				if c.Name != p.Name || c.Args == nil {
					continue
				}
				if fit.Resources, err = resourcesOf(c.Args); err != nil {
					return nil, err
				}
			}
			w.Scorer = fit
		default:
			return nil, fmt.Errorf("placementScore: plugin %s is not known", p.Name)
		}
		list = append(list, w)
	}
	return list, nil
}

func resourcesOf(args any) ([]scoring.ResourceSpec, error) {
	text, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	var decoded struct {
		ScoringStrategy struct {
			Resources []scoring.ResourceSpec `json:"resources"`
		} `json:"scoringStrategy"`
	}
	err = json.Unmarshal(text, &decoded)
	return decoded.ScoringStrategy.Resources, err
}
