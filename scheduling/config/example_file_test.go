package config_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/berth-sched/berth/scheduling/config"
)

// Problems are data, so a program can show them beside the text.
func ExampleProblem() {
	_, err := config.Load([]byte(`
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {filter: {enabled: [{name: NodeColour}]}}
`), config.LoadConfig{})
	var e *config.Error
	if !errors.As(err, &e) {
		fmt.Println(err)
		return
	}
	var p config.Problem = e.Problems[0]
	fmt.Println(p.Stage == config.StageBuild, p.Class == config.UnknownPlugin, p.Plugin, p.Profile)
	// Output: true true NodeColour default-scheduler
}

// A configuration can also be built in Go: a file's settings for each point are a
// PluginSet.
func ExamplePlugins() {
	file := config.Plugins{
		Score: config.PluginSet{
			Enabled:  []config.Plugin{{Name: "NodeResourcesFit", Weight: 5}},
			Disabled: []config.Plugin{{Name: "*"}},
		},
	}
	text, err := json.Marshal(file)
	fmt.Println(string(text), err)
	fmt.Println(file.At(config.Score).Enabled[0].Name)
	// Output:
	// {"score":{"enabled":[{"name":"NodeResourcesFit","weight":5}],"disabled":[{"name":"*"}]}} <nil>
	// NodeResourcesFit
}

// A preset holds the built-in knowledge of a release, and you can change it before
// use.
func ExamplePreset() {
	var preset config.Preset = config.Kubernetes134()
	c, err := config.Load([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"), config.LoadConfig{Preset: preset})
	if err != nil {
		fmt.Println(err)
		return
	}
	var first config.EffectiveProfile = c.Effective().Profiles[0]
	var lists config.PluginLists = first.Plugins
	fmt.Println(preset.Release, first.SchedulerName, lists[config.Filter][0].Name)
	// Output: 1.34 default-scheduler NodeUnschedulable
}

// Arguments come decoded, with their defaults; unused ones are marked.
func ExamplePluginConfig() {
	c, err := config.Load([]byte(`
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {disabled: [{name: InterPodAffinity}]}}
  pluginConfig:
  - {name: InterPodAffinity, args: {hardPodAffinityWeight: 5}}
`), config.LoadConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var profile config.Profile = c.Profiles[0]
	var unused config.PluginConfig = profile.PluginConfig[0]
	fmt.Println(unused.Name, unused.Used)
	// Output: InterPodAffinity false
}

// The connection to an API server is read, checked and passed on; nothing here
// connects.
func ExampleClientConnection() {
	c, err := config.Load([]byte(`
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {qps: 200}
leaderElection: {leaderElect: false}
`), config.LoadConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var client config.ClientConnection = c.ClientConnection
	var election config.LeaderElection = c.LeaderElection
	fmt.Println(client.QPS, client.Burst, election.LeaderElect, election.LeaseDuration)
	// Output: 200 100 false 15s
}

// An extender that manages one resource, over TLS.
func ExampleExtender() {
	e := config.Extender{
		URLPrefix:        "https://gpu.example.com/scheduler",
		FilterVerb:       "filter",
		NodeCacheCapable: true,
		EnableHTTPS:      true,
		TLSConfig:        &config.ExtenderTLSConfig{ServerName: "gpu.example.com", CAFile: "ca.pem"},
		ManagedResources: []config.ExtenderManagedResource{{Name: "example.com/gpu", IgnoredByScheduler: true}},
	}
	_, err := e.TLS(func(name string) ([]byte, error) { return nil, fmt.Errorf("no file %s here", name) })
	fmt.Println(err)
	// Output: no file ca.pem here
}

// The result of a file: schedulers to run, and the plugins that kube-scheduler would
// have enabled as well.
func ExampleBuilt() {
	c, err := config.Load([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"), config.LoadConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var built *config.Built
	if built, err = c.Build(config.BuildConfig{}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(built.Profiles[0].Name, built.Missing)
	// Output:
	// default-scheduler []
}
