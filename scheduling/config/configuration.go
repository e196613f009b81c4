package config

import (
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// A Configuration is a loaded file with every default filled in. Its JSON form is
// kubescheduler.config.k8s.io/v1, whatever the version of the file.
type Configuration struct {
	api.TypeMeta `json:",inline"`

	// Parallelism is the number of goroutines that upstream uses; greater than 0.
	// The default is 16. Results do not depend on it.
	Parallelism int32 `json:"parallelism"`
	// LeaderElection and ClientConnection are settings for programs that talk to the
	// API server; this module does not use them.
	LeaderElection   LeaderElection   `json:"leaderElection"`
	ClientConnection ClientConnection `json:"clientConnection"`
	// EnableProfiling is on by default, and EnableContentionProfiling with it.
	EnableProfiling           bool `json:"enableProfiling"`
	EnableContentionProfiling bool `json:"enableContentionProfiling"`
	// PercentageOfNodesToScore is the share of the cluster that a search for
	// feasible nodes covers before it may stop, 0 to 100. 0, the default, adapts to
	// the size of the cluster.
	PercentageOfNodesToScore int32 `json:"percentageOfNodesToScore"`
	// PodInitialBackoffSeconds is the delay after a pod's first failure, 1 by
	// default; PodMaxBackoffSeconds bounds the delays, 10 by default.
	PodInitialBackoffSeconds int64 `json:"podInitialBackoffSeconds"`
	PodMaxBackoffSeconds     int64 `json:"podMaxBackoffSeconds"`
	// Profiles are the scheduling profiles, at least one. A pod selects one by its
	// schedulerName.
	Profiles []Profile `json:"profiles"`
	// Extenders are in the order of the file; see [Configuration.OrderedExtenders].
	Extenders []Extender `json:"extenders,omitempty"`
	// DelayCacheUntilActive keeps a scheduler that is not the leader from
	// filling its cache.
	DelayCacheUntilActive bool `json:"delayCacheUntilActive,omitempty"`

	effective Effective
	registry  *scheduling.Registry
	preset    Preset
	readFile  func(name string) ([]byte, error)
}

// Backoff returns PodInitialBackoffSeconds and PodMaxBackoffSeconds as the bounds
// for queue.Backoff. Longer times become the longest [time.Duration], 292 years.
func (c *Configuration) Backoff() (initial, most time.Duration) {
	return seconds(c.PodInitialBackoffSeconds), seconds(c.PodMaxBackoffSeconds)
}

func seconds(n int64) time.Duration { return time.Duration(resource.SatMul(n, int64(time.Second))) }

// LeaderElection configures how several schedulers elect the active one.
type LeaderElection struct {
	LeaderElect       bool         `json:"leaderElect"`       // the default is true
	LeaseDuration     api.Duration `json:"leaseDuration"`     // 15 s by default, also for 0
	RenewDeadline     api.Duration `json:"renewDeadline"`     // 10 s by default, also for 0
	RetryPeriod       api.Duration `json:"retryPeriod"`       // 2 s by default, also for 0
	ResourceLock      string       `json:"resourceLock"`      // "leases"
	ResourceName      string       `json:"resourceName"`      // "kube-scheduler" by default
	ResourceNamespace string       `json:"resourceNamespace"` // "kube-system" by default
}

// ClientConnection configures the connection to the API server.
type ClientConnection struct {
	Kubeconfig         string  `json:"kubeconfig"`         // path of a kubeconfig file
	AcceptContentTypes string  `json:"acceptContentTypes"` // empty: the same as ContentType
	ContentType        string  `json:"contentType"`        // "application/vnd.kubernetes.protobuf" by default
	QPS                float32 `json:"qps"`                // requests per second, 50 by default, also for 0
	Burst              int32   `json:"burst"`              // 100 by default, also for 0
}

// A Profile is one scheduling profile, from the file and the defaults.
type Profile struct {
	// SchedulerName is unique; "default-scheduler" if a single profile gives none.
	SchedulerName string `json:"schedulerName"`
	// PercentageOfNodesToScore overrides the configuration's; nil does not.
	PercentageOfNodesToScore *int32 `json:"percentageOfNodesToScore,omitempty"`
	// Plugins are the file's sets merged with the default ones. See
	// [Configuration.Effective] for the result.
	Plugins Plugins `json:"plugins"`
	// PluginConfig holds the arguments: the file's in its order, then the defaults
	// of the other enabled plugins in the order of their names.
	PluginConfig []PluginConfig `json:"pluginConfig,omitempty"`
}

// PluginConfig holds the arguments of one plugin.
type PluginConfig struct {
	Name string `json:"name"`
	// Args is what the plugin's decoder returned, such as *args.NodeResourcesFit;
	// a json.RawMessage for a plugin without one; nil without arguments.
	Args any `json:"args,omitempty"`
	// Used is set if some enabled list of the profile names the plugin, so that it
	// gets the arguments.
	Used bool `json:"-"`
}

// OrderedExtenders returns the extenders in the order of use: as in the file, but
// the ignorable ones last.
func (c *Configuration) OrderedExtenders() []Extender {
	out := make([]Extender, 0, len(c.Extenders))
	for _, ignorable := range []bool{false, true} {
		for _, e := range c.Extenders {
			if e.Ignorable == ignorable {
				out = append(out, e)
			}
		}
	}
	return out
}
