package config

import (
	"bytes"
	"encoding/json"
)

// Effective is the meaning of a configuration: its profiles, resolved. Its JSON form
// is stable.
type Effective struct {
	Profiles []EffectiveProfile `json:"profiles"`
}

// An EffectiveProfile is a profile with its plugins in run order.
type EffectiveProfile struct {
	SchedulerName            string         `json:"schedulerName"`
	PercentageOfNodesToScore *int32         `json:"percentageOfNodesToScore,omitempty"` // nil: the configuration's
	Plugins                  PluginLists    `json:"plugins"`
	PluginConfig             []PluginConfig `json:"pluginConfig"` // see Profile
}

// PluginLists are the plugins that run at each point, in run order, by the plugins'
// own names. Weights are set for Score and PlacementScore, and are never 0 there.
// Points without plugins are left out.
type PluginLists map[Point][]Plugin

// MarshalJSON returns an object with the points in the order of [Points].
func (l PluginLists) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for _, point := range Points() {
		if len(l[point]) == 0 {
			continue
		}
		list, err := json.Marshal(l[point])
		if err != nil {
			return nil, err
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.WriteString(`"` + string(point) + `":`)
		out.Write(list)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// Effective returns the resolved profiles. The result shares its lists with c.
func (c *Configuration) Effective() Effective { return c.effective }
