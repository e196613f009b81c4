package config

import (
	"encoding/json"

	"github.com/berth-sched/berth/framework/api"
)

// settings are the fields that files of all versions share, besides profiles. They
// are decoded over the defaults.
type settings struct {
	api.TypeMeta              `json:",inline"`
	Parallelism               int32            `json:"parallelism"`
	LeaderElection            LeaderElection   `json:"leaderElection"`
	ClientConnection          ClientConnection `json:"clientConnection"`
	EnableProfiling           bool             `json:"enableProfiling"`
	EnableContentionProfiling *bool            `json:"enableContentionProfiling"`
	PercentageOfNodesToScore  int32            `json:"percentageOfNodesToScore"`
	PodInitialBackoffSeconds  int64            `json:"podInitialBackoffSeconds"`
	PodMaxBackoffSeconds      int64            `json:"podMaxBackoffSeconds"`
	Extenders                 []Extender       `json:"extenders"`
	DelayCacheUntilActive     bool             `json:"delayCacheUntilActive"`
}

// document is a file of version v1 or v1beta3.
type document struct {
	settings `json:",inline"`
	Profiles []profileDocument `json:"profiles"`
}

// bindAddresses are fields of older files about the scheduler's own server. They are
// decoded but not used.
type bindAddresses struct {
	HealthzBindAddress string `json:"healthzBindAddress"`
	MetricsBindAddress string `json:"metricsBindAddress"`
}

// documentV1beta2 is a file of version v1beta2.
type documentV1beta2 struct {
	document      `json:",inline"`
	bindAddresses `json:",inline"`
}

// documentV1alpha1 is a file of version v1alpha1: the file itself is the profile.
type documentV1alpha1 struct {
	settings      `json:",inline"`
	bindAddresses `json:",inline"`
	SchedulerName *string                `json:"schedulerName"`
	Plugins       *Plugins               `json:"plugins"`
	PluginConfig  []pluginConfigDocument `json:"pluginConfig"`
}

type profileDocument struct {
	SchedulerName            *string                `json:"schedulerName"`
	PercentageOfNodesToScore *int32                 `json:"percentageOfNodesToScore"`
	Plugins                  *Plugins               `json:"plugins"`
	PluginConfig             []pluginConfigDocument `json:"pluginConfig"`
}

type pluginConfigDocument struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// newSettings returns the defaults for fields that are null or absent in a file.
func newSettings() settings {
	return settings{
		Parallelism:              16,
		LeaderElection:           LeaderElection{LeaderElect: true},
		EnableProfiling:          true,
		PodInitialBackoffSeconds: 1,
		PodMaxBackoffSeconds:     10,
	}
}
