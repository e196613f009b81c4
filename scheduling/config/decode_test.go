package config_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling/args"
	"github.com/berth-sched/berth/scheduling/config"
)

// TestDecodeErrors checks lines, paths and classes of decoding errors.
func TestDecodeErrors(t *testing.T) {
	tests := []struct {
		name, file string
		class      config.Class
		want       []string
	}{
		{"unknown fields", `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
zeta: 1
profiles:
- foo: 1
  plugins:
    bar: {}
    score:
      enabled:
      - {name: ImageLocality, wieght: 2}
`, config.Class(args.UnknownField), []string{
			`line 5: unknown field "profiles[0].foo"`,
			`line 7: unknown field "profiles[0].plugins.bar"`,
			`line 10: unknown field "profiles[0].plugins.score.enabled[0].wieght"`,
			`line 3: unknown field "zeta"`,
		}},
		{"not a number", head + "percentageOfNodesToScore: .nan\n", config.Class(args.Syntax), []string{"line 3: .nan is a number that JSON does not have; write a finite number"}},
		{"case counts", head + "Parallelism: 4\n", config.Class(args.UnknownField), []string{`line 3: unknown field "Parallelism"`}},
		{"unknown field of arguments", head + `profiles:
- pluginConfig:
  - name: InterPodAffinity
    args:
      hardPodAffinityWeight: 1
      weight: 2
`, config.Class(args.UnknownField), []string{`line 8: unknown field "profiles[0].pluginConfig[0].args.weight"`}},
		{"duplicate keys", head + "parallelism: 1\nparallelism: 2\n", config.DuplicateKey, []string{`line 4: key "parallelism" already set in map`}},
		{"duplicate fields of JSON", `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",
"parallelism":1,
"parallelism":2}`, config.Class(args.DuplicateField), []string{`line 3: duplicate field "parallelism"`}},
		{"wrong types", head + `parallelism: "16"
profiles:
- plugins:
    score:
      enabled:
      - name: A
        weight: 2147483648
      - B
`, config.Class(args.WrongType), []string{
			`line 3: parallelism: got a string, want an integer of 32 bits`,
			`line 9: profiles[0].plugins.score.enabled[0].weight: got the number 2147483648, want an integer of 32 bits`,
			`line 10: profiles[0].plugins.score.enabled[1]: got a string, want an object`,
		}},
		{"duration without a unit", head + "leaderElection:\n  leaseDuration: '15'\n", config.Class(args.BadValue), []string{
			`line 4: leaderElection.leaseDuration: time: missing unit in duration "15"`,
		}},
		{"base64", head + "extenders: [{tlsConfig: {caData: '!!'}}]", config.Class(args.BadValue), []string{
			`line 3: extenders[0].tlsConfig.caData: illegal base64 data at input byte 0`,
		}},
		{"YAML syntax", head + "profiles:\n\t- schedulerName: x\n", config.Class(args.Syntax), []string{`line 4: found character that cannot start any token`}},
		{"JSON syntax", "{\"kind\":\n\"K\"", config.Class(args.Syntax), []string{`line 2: unexpected end of JSON input`}},
		{"text after JSON", "{}\nx", config.Class(args.Syntax), []string{`line 2: invalid character 'x' after top-level value`}},
		{"no mapping", "- 1", config.Class(args.WrongType), []string{`line 1: got a list, want an object`}},
		{"kind of a wrong type", "kind: 5", config.Class(args.WrongType), []string{`line 1: kind: got a number, want a string`}},
		{"empty", "", config.MissingKind, []string{`Object 'Kind' is missing: want kind: KubeSchedulerConfiguration`}},
		{"no apiVersion", "kind: KubeSchedulerConfiguration", config.MissingVersion, []string{
			`line 1: Object 'apiVersion' is missing: want apiVersion: kubescheduler.config.k8s.io/v1`,
		}},
		{"a Pod", "kind: Pod\napiVersion: v1", config.UnknownKind, []string{
			`line 2: no kind "Pod" is registered for version "v1"; want kind KubeSchedulerConfiguration of version ` +
				`kubescheduler.config.k8s.io/v1, kubescheduler.config.k8s.io/v1beta3, kubescheduler.config.k8s.io/v1beta2, kubescheduler.config.k8s.io/v1alpha1`,
		}},
		{"the ConfigMap around a configuration", koordinatorMap, config.UnknownKind, []string{
			`line 2: no kind "ConfigMap" is registered for version "v1"; want kind KubeSchedulerConfiguration of version ` +
				`kubescheduler.config.k8s.io/v1, kubescheduler.config.k8s.io/v1beta3, kubescheduler.config.k8s.io/v1beta2, kubescheduler.config.k8s.io/v1alpha1; ` +
				`the configuration is the text of a key under the ConfigMap's data: load that text alone, ` +
				`after registering the plugins that it names and kube-scheduler lacks (scheduling.LoadAware registers Koordinator's)`,
		}},
		{"arguments as a file", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: NodeAffinityArgs", config.WrongKind, []string{
			`line 2: kind: got NodeAffinityArgs, want KubeSchedulerConfiguration`,
		}},
		{"arguments of another plugin", head + "profiles:\n- pluginConfig:\n  - name: NodeAffinity\n    args: {kind: InterPodAffinityArgs}\n", config.ArgsKind, []string{
			`line 6: profiles[0].pluginConfig[0].args: args for plugin NodeAffinity were not of type NodeAffinityArgs, got InterPodAffinityArgs`,
		}},
		{"arguments of another version", head + "profiles: [{pluginConfig: [{name: NodeAffinity, args: {apiVersion: kubescheduler.config.k8s.io/v1beta3}}]}]", config.UnknownKind, []string{
			`line 3: profiles[0].pluginConfig[0].args: no kind "NodeAffinityArgs" is registered for version "kubescheduler.config.k8s.io/v1beta3"`,
		}},
		{"arguments that are text", head + "profiles: [{pluginConfig: [{name: NodeAffinity, args: text}]}]", config.Class(args.WrongType), []string{
			`line 3: profiles[0].pluginConfig[0].args: got a string, want an object`,
		}},
		{"top-level plugins in v1", head + "plugins: {}\n", config.Class(args.UnknownField), []string{`line 3: unknown field "plugins"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := refused(t, tt.file, config.LoadConfig{})
			if e.Stage != config.StageDecode || e.Problems[0].Class != tt.class {
				t.Errorf("%s, %s, want %s, %s", e.Stage, e.Problems[0].Class, config.StageDecode, tt.class)
			}
			if diff := cmp.Diff(strings.Join(tt.want, "\n"), e.Error()); diff != "" {
				t.Errorf("Error (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLines checks the lines of problems of the later stages, in YAML and in JSON,
// and in the shape of v1alpha1.
func TestLines(t *testing.T) {
	tests := []struct {
		name, file string
		line       int
	}{
		{"a missing name is told at its profile", head + "profiles:\n- schedulerName: a\n- percentageOfNodesToScore: 5\n", 5},
		{"JSON", "{\"apiVersion\": \"kubescheduler.config.k8s.io/v1\",\n\"kind\": \"KubeSchedulerConfiguration\",\n\"profiles\": [\n{\"percentageOfNodesToScore\":\n101}]}", 4},
		{"v1alpha1", "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\npluginConfig:\n- name: DefaultPreemption\n  args:\n    minCandidateNodesAbsolute: -1\n", 6},
		{"behind an anchor", head + "profiles:\n- schedulerName: a\n  plugins: &p\n    filter:\n      enabled:\n      - name: EBSLimits\n- schedulerName: b\n  plugins: *p\n", 8},
		{"a default is nowhere", head + "\npodInitialBackoffSeconds: 11\n", 4},
		{"no queue sort plugin", head + "profiles:\n- plugins:\n    queueSort:\n      disabled:\n      - name: '*'\n", 6},
		{"no bind plugin", head + "profiles:\n- plugins:\n    bind:\n      enabled: []\n      disabled:\n      - name: DefaultBinder\n", 7},
		{"no plugin", head + "profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins:\n    multiPoint:\n      disabled:\n      - name: '*'\n", 8},
		{"no plugin, one profile", head + "profiles:\n- plugins:\n    multiPoint:\n      disabled:\n      - name: '*'\n", 6},
		{"no kind", "\n# comment\napiVersion: kubescheduler.config.k8s.io/v1\n", 3},
		{"no mapping", "\n- 1\n", 2},
		{"control character", head + "parallelism: \"\x07\"\n", 3},
		{"itself", head + "profiles: &p\n- schedulerName: a\n  plugins: *p\n", 5},
		{"too large", head + strings.Repeat("# hello\n", 1<<17), 2 + (1<<20-len(head))/8 + 1},
		{"deep JSON", "{\"apiVersion\": \"kubescheduler.config.k8s.io/v1\",\n\"kind\": \"KubeSchedulerConfiguration\",\n\"a\": \"\\\"[[\",\n\"b\":\n" + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "}", 5},
		{"deep enough JSON", "{\"apiVersion\": \"kubescheduler.config.k8s.io/v1\",\n\"kind\": \"KubeSchedulerConfiguration\",\n\"parallelism\": 0,\n\"profiles\": [{\"pluginConfig\": [{\"name\": \"Nobody\",\n\"args\": " + strings.Repeat("[", 990) + strings.Repeat("]", 990) + "}]}]}", 3},
		{"no number", head + "\nparallelism: .inf\n", 4},
		{"unknown plugin", head + "profiles:\n- plugins:\n    score:\n      enabled:\n      - name: NodeResourcesFit\n      - name: Nobody\n", 8},
		{"unknown plugin of the second profile", head + "profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins:\n    multiPoint:\n      enabled:\n      - weight: 2\n        name: Nobody\n", 10},
		{"unknown plugin in v1alpha1", "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\nplugins:\n  filter:\n    enabled:\n    - name: Nobody\n", 6},
		{"scoring strategy", head + "profiles:\n- pluginConfig:\n  - name: NodeAffinity\n    args: {}\n  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n        type: Mostest\n", 10},
		{"a plugin at a wrong point", head + "profiles:\n- plugins:\n    bind:\n      enabled:\n      - name: ImageLocality\n", 7},
		{"a plugin twice", head + "profiles:\n- plugins:\n    score:\n      enabled:\n      - name: ImageLocality\n        weight: 2\n      - name: ImageLocality\n", 9},
		{"certificates", head + "extenders:\n- {}\n- enableHTTPS: true\n  tlsConfig: {insecure: true, caData: Zm9v}\n", 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := refused(t, tt.file, config.LoadConfig{})
			if got := e.Problems[0].Line; got != tt.line {
				t.Errorf("line %d, want %d: %v", got, tt.line, e)
			}
		})
	}
}

// TestAllProblems checks that one load reports everything.
func TestAllProblems(t *testing.T) {
	e := refused(t, head+`parallelism: x
bogus: 1
profiles:
- pluginConfig:
  - name: DynamicResources
    args: {filterTimeout: ten, bindingTimeout: 5, x: 1}
  - name: DefaultPreemption
    args: 7
`, config.LoadConfig{})
	want := `line 4: unknown field "bogus"
line 3: parallelism: got a string, want an integer of 32 bits
line 8: profiles[0].pluginConfig[0].args.bindingTimeout: got the number 5, want a duration such as "10s"
line 8: profiles[0].pluginConfig[0].args.filterTimeout: time: invalid duration "ten"
line 8: unknown field "profiles[0].pluginConfig[0].args.x"
line 10: profiles[0].pluginConfig[1].args: got a number, want an object`
	if diff := cmp.Diff(want, e.Error()); diff != "" {
		t.Errorf("Error (-want +got):\n%s", diff)
	}
}

// TestNoLines loads a file that is too large for line lookup.
func TestNoLines(t *testing.T) {
	file := "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\nparallelism: 0\n" + strings.Repeat("#\n", 1<<20)
	e := refused(t, file, config.LoadConfig{MaxBytes: len(file)})
	if p := e.Problems[0]; p.Line != 0 || p.Field != "parallelism" {
		t.Errorf("got %+v", p)
	}
}

// TestYAMLForms checks how YAML 1.1 reads words and numbers.
func TestYAMLForms(t *testing.T) {
	c, err := config.Load([]byte(head+`parallelism: 0x10
enableProfiling: no
enableContentionProfiling: on
percentageOfNodesToScore: 5e1
podMaxBackoffSeconds: 16.0
---
not: read
`), config.LoadConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Parallelism != 16 || c.EnableProfiling || !c.EnableContentionProfiling || c.PercentageOfNodesToScore != 50 || c.PodMaxBackoffSeconds != 16 {
		t.Errorf("got %+v", c)
	}
}

// TestHostile loads texts made to consume time or memory.
func TestHostile(t *testing.T) {
	t.Parallel()
	size := effort.Of(2<<20, 10<<20)
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		bomb += strings.NewReplacer("N", string('0'+rune(i)), "M", string('1'+rune(i))).
			Replace("aM: &aM [*aN,*aN,*aN,*aN,*aN,*aN,*aN,*aN,*aN,*aN]\n")
	}
	for name, text := range map[string][]byte{
		"zeros":         make([]byte, size),
		"letters":       bytes.Repeat([]byte("a "), size/2),
		"brackets":      bytes.Repeat([]byte("["), size),
		"braces":        bytes.Repeat([]byte("{"), size),
		"nested JSON":   bytes.Repeat([]byte(`{"a":`), size/5),
		"nested lists":  bytes.Repeat([]byte("- "), size/2),
		"nested keys":   bytes.Repeat([]byte("? "), size/2),
		"open flow":     append([]byte("["), bytes.Repeat([]byte("a,"), size/2)...),
		"open quote":    append([]byte(`"`), bytes.Repeat([]byte("a"), size)...),
		"aliases":       []byte(bomb),
		"large aliases": []byte(`a: &a "` + strings.Repeat("x", 1<<18) + "\"\nb: [" + strings.Repeat("*a,", 1<<18) + "]\n"),
	} {
		if _, err := config.Load(text, config.LoadConfig{}); err == nil {
			t.Errorf("%s: loaded", name)
		}
		if _, err := config.YAMLToJSON(text); err == nil {
			t.Errorf("%s: converted", name)
		}
	}
	e := refused(t, strings.Repeat("#", config.DefaultMaxBytes+1), config.LoadConfig{})
	if e.Problems[0].Class != config.TooLarge {
		t.Errorf("class %s, want TooLarge", e.Problems[0].Class)
	}
}
