package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/args"
	"github.com/berth-sched/berth/scheduling/config"
)

// plugins returns a table of plugins from text such as "A:filter,score B:score".
func plugins(text string) map[string]config.Known {
	out := make(map[string]config.Known)
	for field := range strings.FieldsSeq(text) {
		name, points, _ := strings.Cut(field, ":")
		var known config.Known
		for p := range strings.SplitSeq(points, ",") {
			if p != "" {
				known.Points = append(known.Points, config.Point(p))
			}
		}
		out[name] = known
	}
	return out
}

// list returns plugins from text such as "A=3 B".
func list(text string) []config.Plugin {
	var out []config.Plugin
	for field := range strings.FieldsSeq(text) {
		name, weight, _ := strings.Cut(field, "=")
		p := config.Plugin{Name: name}
		for _, digit := range weight {
			p.Weight = 10*p.Weight + digit - '0'
		}
		out = append(out, p)
	}
	return out
}

// text is the inverse of list.
func text(plugins []config.Plugin) string {
	var fields []string
	for _, p := range plugins {
		if p.Weight != 0 {
			p.Name += "=" + string('0'+p.Weight)
		}
		fields = append(fields, p.Name)
	}
	return strings.Join(fields, " ")
}

// The plugin lists of kube-scheduler 1.37 that the articles assume.
const (
	defaultScore = "TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1 VolumeBinding=1 PodTopologySpread=2 " +
		"InterPodAffinity=2 DynamicResources=2 NodeResourcesBalancedAllocation=1 ImageLocality=1"
	// v1beta2Score has the weights of v1beta2.
	v1beta2Score = "TaintToleration=1 NodeAffinity=1 NodeResourcesFit=1 VolumeBinding=1 PodTopologySpread=2 " +
		"InterPodAffinity=1 DynamicResources=2 NodeResourcesBalancedAllocation=1 ImageLocality=1"
	defaultPreScore = "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread " +
		"InterPodAffinity NodeResourcesBalancedAllocation"
	defaultFilter = "NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts NodeResourcesFit " +
		"VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity " +
		"DynamicResources NodeDeclaredFeatures"
)

const hierarchyPlugins = "DefaultQueueSort:queueSort CustomQueueSort:queueSort DefaultPlugin1:score,filter " +
	"DefaultPlugin2:score CustomPlugin1:score,filter CustomPlugin2:score,filter"

const reservePlugins = "foo:reserve,preBind bar:reserve baz:reserve,preBind"

// TestArticles loads every example of the articles that the project is based on: the
// Kubernetes documentation on configuring a scheduler (in Ukrainian, version 1.31),
// an introduction to the scheduling framework (in Chinese, versions 1.15 to 1.18),
// and one to Koordinator's load-aware scheduling. The files are the articles' (the
// first ones from kubernetes.io, CC BY 4.0), except for elisions. A case gives the
// lists that the article states or shows. If the real scheduler does something else,
// says explains it, and the real behaviour is wanted. Every accepted file is built,
// with stand-ins for plugins that are not in-tree, and places a pod.
func TestArticles(t *testing.T) {
	tests := []struct {
		name     string
		file     string
		plugins  string // out-of-tree plugins
		defaults string // the default multiPoint plugins that the article assumes; empty: the real ones
		says     string
		want     []map[config.Point]string // per profile; "-" for an empty list
		err      string
	}{
		{
			name: "documentation: minimal configuration",
			file: `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: /etc/srv/kubernetes/kube-scheduler/kubeconfig
`,
			want: []map[config.Point]string{{
				config.QueueSort: "PrioritySort", config.Filter: defaultFilter, config.PreScore: defaultPreScore,
				config.Score: defaultScore, config.Reserve: "VolumeBinding DynamicResources", config.Permit: "-",
				config.PreBind: "VolumeBinding DynamicResources", config.Bind: "DefaultBinder", config.PostBind: "-",
				config.PostFilter: "DynamicResources DefaultPreemption",
			}},
		},
		{
			name: "documentation: score plugins disabled and enabled",
			file: `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - plugins:
      score:
        disabled:
        - name: PodTopologySpread
        enabled:
        - name: MyCustomPluginA
          weight: 2
        - name: MyCustomPluginB
          weight: 1
`,
			plugins: "MyCustomPluginA:score MyCustomPluginB:score",
			want: []map[config.Point]string{{
				config.Score: strings.Replace(defaultScore, "PodTopologySpread=2 ", "", 1) + " MyCustomPluginA=2 MyCustomPluginB=1",
				// Disabled for score only.
				config.PreScore: defaultPreScore, config.Filter: defaultFilter,
			}},
		},
		{
			name: "documentation: two profiles, one without scoring",
			file: `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
  - schedulerName: no-scoring-scheduler
    plugins:
      preScore:
        disabled:
        - name: '*'
      score:
        disabled:
        - name: '*'
`,
			want: []map[config.Point]string{
				{config.PreScore: defaultPreScore, config.Score: defaultScore, config.Filter: defaultFilter},
				{config.PreScore: "-", config.Score: "-", config.Filter: defaultFilter},
			},
		},
		{
			name: "documentation: MyPlugin by multiPoint",
			file: `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: multipoint-scheduler
    plugins:
      multiPoint:
        enabled:
        - name: MyPlugin
`,
			plugins: "MyPlugin:preScore,score,preFilter,filter",
			want: []map[config.Point]string{{
				config.PreFilter: defaultFilter + " MyPlugin", config.Filter: defaultFilter + " MyPlugin",
				config.PreScore: defaultPreScore + " MyPlugin", config.Score: defaultScore + " MyPlugin=1",
			}},
		},
		{
			name: "documentation: MyPlugin point by point, equivalent",
			file: `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: non-multipoint-scheduler
    plugins:
      preScore:
        enabled:
        - name: MyPlugin
      score:
        enabled:
        - name: MyPlugin
      preFilter:
        enabled:
        - name: MyPlugin
      filter:
        enabled:
        - name: MyPlugin
`,
			plugins: "MyPlugin:preScore,score,preFilter,filter",
			want: []map[config.Point]string{{
				config.PreFilter: defaultFilter + " MyPlugin", config.Filter: defaultFilter + " MyPlugin",
				config.PreScore: defaultPreScore + " MyPlugin", config.Score: defaultScore + " MyPlugin=1",
			}},
		},
		{
			name: "documentation: points excluded from multiPoint",
			file: `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: non-multipoint-scheduler
    plugins:
      multiPoint:
        enabled:
        - name: 'MyPlugin'
      preScore:
        disabled:
        - name: '*'
      score:
        disabled:
        - name: '*'
`,
			plugins: "MyPlugin:preScore,score,preFilter,filter",
			want: []map[config.Point]string{{
				config.PreFilter: defaultFilter + " MyPlugin", config.Filter: defaultFilter + " MyPlugin",
				config.PreScore: "-", config.Score: "-",
			}},
		},
		{
			name: "documentation: default score plugins swapped",
			file: `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: multipoint-scheduler
    plugins:
      score:
        enabled:
        - name: 'DefaultScore2'
          weight: 5
`,
			plugins:  "DefaultScore1:score DefaultScore2:score",
			defaults: "PrioritySort DefaultScore1=1 DefaultScore2=1 DefaultBinder",
			want:     []map[config.Point]string{{config.Score: "DefaultScore2=5 DefaultScore1=1"}},
		},
		{
			name: "documentation: the hierarchy of precedence",
			file: `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: multipoint-scheduler
    plugins:
      multiPoint:
        enabled:
        - name: 'CustomQueueSort'
        - name: 'CustomPlugin1'
          weight: 3
        - name: 'CustomPlugin2'
        disabled:
        - name: 'DefaultQueueSort'
      filter:
        disabled:
        - name: 'DefaultPlugin1'
      score:
        enabled:
        - name: 'DefaultPlugin2'
`,
			plugins:  hierarchyPlugins,
			defaults: "DefaultQueueSort DefaultPlugin1 DefaultPlugin2 DefaultBinder",
			says: "CustomPlugin1 and CustomPlugin2 run first for all their points (but for DefaultPlugin2 at score). " +
				"What multiPoint adds comes after the defaults, so it is true only at filter, where DefaultPlugin1 is disabled.",
			want: []map[config.Point]string{{
				config.QueueSort: "CustomQueueSort",
				config.Filter:    "CustomPlugin1 CustomPlugin2",
				config.Score:     "DefaultPlugin2=1 DefaultPlugin1=1 CustomPlugin1=3 CustomPlugin2=1",
			}},
		},
		{
			name: "documentation: the same in v1beta2",
			file: `
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: multipoint-scheduler
    plugins:

      # Disable the default QueueSort plugin
      queueSort:
        enabled:
        - name: 'CustomQueueSort'
        disabled:
        - name: 'DefaultQueueSort'

      # Enable custom Filter plugins
      filter:
        enabled:
        - name: 'CustomPlugin1'
        - name: 'CustomPlugin2'
        - name: 'DefaultPlugin2'
        disabled:
        - name: 'DefaultPlugin1'

      # Enable and reorder custom score plugins
      score:
        enabled:
        - name: 'DefaultPlugin2'
          weight: 1
        - name: 'DefaultPlugin1'
          weight: 3
`,
			plugins:  hierarchyPlugins,
			defaults: "DefaultQueueSort DefaultPlugin1 DefaultPlugin2 DefaultBinder",
			says:     "this is equivalent. It enables a score plugin as a filter, which its own table says it is not.",
			err: `line 20: initializing profiles: creating profile for scheduler name multipoint-scheduler: ` +
				`plugin "DefaultPlugin2" does not extend FilterPlugin plugin`,
		},
		{
			name: "documentation: the same in v1beta2, without the slip",
			file: `
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: multipoint-scheduler
    plugins:
      queueSort:
        enabled:
        - name: 'CustomQueueSort'
        disabled:
        - name: 'DefaultQueueSort'
      filter:
        enabled:
        - name: 'CustomPlugin1'
        - name: 'CustomPlugin2'
        disabled:
        - name: 'DefaultPlugin1'
      score:
        enabled:
        - name: 'DefaultPlugin2'
          weight: 1
        - name: 'DefaultPlugin1'
          weight: 3
`,
			plugins:  hierarchyPlugins,
			defaults: "DefaultQueueSort DefaultPlugin1 DefaultPlugin2 DefaultBinder",
			says: "score is reordered. In v1beta2 the defaults stand at the point, and stay in place when they are " +
				"enabled again; the custom plugins do not score at all.",
			want: []map[config.Point]string{{
				config.QueueSort: "CustomQueueSort",
				config.Filter:    "CustomPlugin1 CustomPlugin2",
				config.Score:     "DefaultPlugin1=3 DefaultPlugin2=1",
			}},
		},
		{
			name: "documentation: MostAllocated in v1beta2",
			file: `
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - args:
      scoringStrategy:
        resources:
        - name: cpu
          weight: 1
        type: MostAllocated
    name: NodeResourcesFit
`,
			want: []map[config.Point]string{{config.Score: v1beta2Score}},
		},
		{
			name: "framework: reserve and preBind, v1alpha1",
			file: `
apiVersion: kubescheduler.config.k8s.io/v1alpha1
kind: KubeSchedulerConfiguration

plugins:
  reserve:
    enabled:
    - name: foo
    - name: bar
    disabled:
    - name: baz
  preBind:
    enabled:
    - name: foo
    disabled:
    - name: baz

pluginConfig:
- name: foo
  args: >
    Arbitrary set of args to plugin foo
`,
			plugins:  reservePlugins,
			defaults: "PrioritySort baz DefaultBinder",
			want:     []map[config.Point]string{{config.Reserve: "foo bar", config.PreBind: "foo"}},
		},
		{
			name: "framework: bar before the default foo, v1alpha1",
			file: `
apiVersion: kubescheduler.config.k8s.io/v1alpha1
kind: KubeSchedulerConfiguration

plugins:
  reserve:
    enabled:
    - name: bar
    - name: foo
    disabled:
    - name: foo
`,
			plugins:  reservePlugins,
			defaults: "PrioritySort foo DefaultBinder",
			want:     []map[config.Point]string{{config.Reserve: "bar foo", config.PreBind: "foo"}},
		},
		{
			name: "framework: default plugins first, then those enabled",
			file: `
apiVersion: kubescheduler.config.k8s.io/v1alpha1
kind: KubeSchedulerConfiguration
plugins:
  reserve:
    enabled:
    - name: bar
`,
			plugins:  reservePlugins,
			defaults: "PrioritySort foo DefaultBinder",
			want:     []map[config.Point]string{{config.Reserve: "foo bar"}},
		},
		{
			name: "framework: arguments of ServiceAffinity, as JSON",
			file: `
{"apiVersion": "kubescheduler.config.k8s.io/v1alpha1", "kind": "KubeSchedulerConfiguration",
 "plugins": {"filter": {"enabled": [{"name": "ServiceAffinity"}]}},
 "pluginConfig": [
{
   "name": "ServiceAffinity",
   "args": {
      "LabelName": "app",
      "LabelValue": "mysql"
   }
}]}
`,
			plugins: "ServiceAffinity:preFilter,filter,score",
			want:    []map[config.Point]string{{config.Filter: defaultFilter + " ServiceAffinity"}},
		},
		{
			name: "load-aware scheduling, v1beta2",
			file: `
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: koord-scheduler
    plugins:
      filter:
        enabled:
          - name: LoadAwareScheduling
      score:
        enabled:
          - name: LoadAwareScheduling
            weight: 1
      reserve:
        enabled:
          - name: LoadAwareScheduling
    pluginConfig:
    - name: LoadAwareScheduling
      args:
        apiVersion: kubescheduler.config.k8s.io/v1beta2
        kind: LoadAwareSchedulingArgs
        filterExpiredNodeMetrics: true
        nodeMetricExpirationSeconds: 300
        usageThresholds:
          cpu: 75
          memory: 85
`,
			plugins: "LoadAwareScheduling:filter,score,reserve",
			want: []map[config.Point]string{{
				config.Filter:  defaultFilter + " LoadAwareScheduling",
				config.Score:   v1beta2Score + " LoadAwareScheduling=1",
				config.Reserve: "VolumeBinding DynamicResources LoadAwareScheduling",
			}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := config.LoadConfig{Preset: config.Kubernetes137(), Plugins: plugins(tt.plugins)}
			if tt.defaults != "" {
				o.Preset.Default = config.Plugins{MultiPoint: config.PluginSet{Enabled: list(tt.defaults)}}
			}
			o.Registry = scheduling.Kubernetes137Registry()
			register(t, o.Registry, o.Plugins)
			c, err := config.Load([]byte(tt.file), o)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Fatalf("Load: %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			profiles := c.Effective().Profiles
			if len(profiles) != len(tt.want) {
				t.Fatalf("%d profiles, want %d", len(profiles), len(tt.want))
			}
			for i, want := range tt.want {
				for point, list := range want {
					if list == "-" {
						list = ""
					}
					if got := text(profiles[i].Plugins[point]); got != list {
						t.Errorf("profile %d, %s:\n got %s\nwant %s", i, point, got, list)
					}
				}
			}
			place(t, c)
		})
	}
}

// TestArticlesDefaultList compares the documentation's list of default plugins and
// of their points with the preset. Points missing in the documentation were added
// since.
func TestArticlesDefaultList(t *testing.T) {
	documented := plugins(`ImageLocality:score TaintToleration:filter,preScore,score NodeName:filter
		NodePorts:preFilter,filter NodeAffinity:filter,score PodTopologySpread:preFilter,filter,preScore,score
		NodeUnschedulable:filter NodeResourcesFit:preFilter,filter,score NodeResourcesBalancedAllocation:score
		VolumeBinding:preFilter,filter,reserve,preBind,score VolumeRestrictions:filter VolumeZone:filter
		NodeVolumeLimits:filter InterPodAffinity:preFilter,filter,preScore,score PrioritySort:queueSort
		DefaultBinder:bind DefaultPreemption:postFilter`)
	c, err := config.Load([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"), config.LoadConfig{})
	if err != nil {
		t.Fatal(err)
	}
	lists := c.Effective().Profiles[0].Plugins
	for name, known := range documented {
		for _, point := range known.Points {
			if !strings.Contains(" "+text(lists[point])+" ", " "+name) {
				t.Errorf("%s does not run at %s", name, point)
			}
		}
	}
	// The documentation also names EBSLimits, GCEPDLimits, AzureDiskLimits and
	// CinderLimits, which are rejected by now, and which 1.18 has.
	if diff := cmp.Diff([]string{"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"}, config.Kubernetes137().Removed); diff != "" {
		t.Errorf("Removed (-want +got):\n%s", diff)
	}
	for _, name := range config.Kubernetes137().Removed {
		if _, ok := config.Kubernetes118().Plugins[name]; !ok {
			t.Errorf("1.18 does not know %s", name)
		}
	}
}

// TestArticlesArguments checks the decoded arguments of the articles.
func TestArticlesArguments(t *testing.T) {
	load := func(file, names string) []config.PluginConfig {
		t.Helper()
		c, err := config.Load([]byte(file), config.LoadConfig{Plugins: plugins(names)})
		if err != nil {
			t.Fatal(err)
		}
		return c.Effective().Profiles[0].PluginConfig
	}
	fit := load("apiVersion: kubescheduler.config.k8s.io/v1beta2\nkind: KubeSchedulerConfiguration\nprofiles:\n"+
		"- pluginConfig:\n  - args: {scoringStrategy: {resources: [{name: cpu, weight: 1}], type: MostAllocated}}\n    name: NodeResourcesFit\n", "")
	want := args.NewNodeResourcesFit()
	want.ScoringStrategy = &args.ScoringStrategy{Type: args.MostAllocated, Resources: []args.ResourceSpec{{Name: "cpu", Weight: 1}}}
	if diff := cmp.Diff(config.PluginConfig{Name: "NodeResourcesFit", Args: want, Used: true}, fit[0]); diff != "" {
		t.Errorf("scoringStrategy (-want +got):\n%s", diff)
	}
	foo := load("apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\n"+
		"plugins: {reserve: {enabled: [{name: foo}]}}\npluginConfig:\n- name: foo\n  args: >\n    Arbitrary set of args to plugin foo\n", reservePlugins)
	if got, want := string(foo[0].Args.(json.RawMessage)), `"Arbitrary set of args to plugin foo\n"`; got != want {
		t.Errorf("args of foo = %s, want %s", got, want)
	}
}
