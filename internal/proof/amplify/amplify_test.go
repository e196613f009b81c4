package amplify_test

import (
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/amplify"
	"github.com/berth-sched/berth/scheduling/args"
	"github.com/berth-sched/berth/scheduling/config"
)

func TestDecodeOfObjects(t *testing.T) {
	var frames []string
	for _, kind := range []struct {
		head  string
		paths []string
	}{
		{`"kind":"Pod","metadata":{"name":"p"},"spec"`, []string{
			"", "containers", "containers[].ports", "containers[].resources.requests", "containers[].image", "tolerations", "nodeSelector", "volumes", "schedulingGates",
			"topologySpreadConstraints", "topologySpreadConstraints[].labelSelector.matchExpressions",
			"affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
			"affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution",
			"affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[].namespaces",
		}},
		{`"kind":"Pod","metadata"`, []string{"labels", "annotations", "ownerReferences", "name", "creationTimestamp"}},
		{`"kind":"Node","metadata":{"name":"n"},"status"`, []string{"allocatable", "images", "images[].names", "conditions", "conditions[].type", "addresses"}},
		{`"kind":"Node","metadata":{"name":"n"},"spec"`, []string{"taints", "taints[].key"}},
		{`"kind":"NodeMetric","metadata":{"name":"n"},"status"`, []string{"podsMetric", "nodeMetric.aggregatedNodeUsages", "podsMetric[].podUsage.resources"}},
		{`"kind":"Cluster","metadata":{"name":"n"},"spec"`, []string{"resourceModels", "resourceModels[].ranges", "taints"}},
		{`"kind":"Cluster","metadata":{"name":"n"},"status"`, []string{"resourceSummary.allocatableModelings", "apiEnablements", "resourceSummary.allocatable"}},
		{`"kind":"CSINode","metadata":{"name":"n"},"spec"`, []string{"drivers", "drivers[].topologyKeys"}},
		{`"kind":"StorageClass","metadata":{"name":"n"},"allowedTopologies"`, []string{""}},
		{`"kind":"List","items"`, []string{""}},
	} {
		for _, path := range kind.paths {
			frames = append(frames, "{"+kind.head+":"+at(path)+"}")
		}
	}
	frames = append(frames, "%s")
	shapes := amplify.JSON(frames...)
	for _, spec := range []string{`{"kind":"Pod"}`, `{"kind":"Pod","metadata":{"name":"p"}}`, `{"kind":"Node","metadata":{"name":"p"}}`, `{"kind":"Pod","spec":{"containers":[{}]},"metadata":{"name":"p"}}`, `{"kind":"Service","metadata":{"name":"p"}}`, `{"kind":"A","metadata":{"name":"p"}}`} {
		shapes = append(shapes, amplify.Repeat("items "+spec, `{"kind":"List","items":[`, spec+",", "]}"))
		shapes = append(shapes, amplify.Repeat("documents "+spec, "", spec+"\n", ""))
	}
	amplify.Run(t, amplify.Decoder{Name: "api.Decode", Decode: func(text []byte) { _, _ = api.Decode(text) }, Texts: shapes})
}

// at returns an object in which a value is at a path, such as "a[].b".
func at(path string) string {
	before, after := "", ""
	for _, field := range strings.Split(path, ".") {
		if field == "" {
			continue
		}
		name, list := strings.CutSuffix(field, "[]")
		before += `{"` + name + `":`
		after = "}" + after
		if list {
			before += "["
			after = "]" + after
		}
	}
	return before + "%s" + after
}

const head = `"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",`

func TestLoad(t *testing.T) {
	frames := []string{
		"%s", `{` + head + `"x":%s}`, `{` + head + `"profiles":%s}`, `{` + head + `"extenders":%s}`, `{` + head + `"extenders":[{"managedResources":%s}]}`,
		`{` + head + `"profiles":[{"schedulerName":%s}]}`, `{` + head + `"profiles":[{"plugins":%s}]}`, `{` + head + `"profiles":[{"plugins":{"score":{"enabled":%s}}}]}`,
		`{` + head + `"profiles":[{"pluginConfig":%s}]}`, `{` + head + `"profiles":[{"pluginConfig":[{"name":"NodeResourcesFit","args":%s}]}]}`,
		`{` + head + `"profiles":[{"pluginConfig":[{"name":"NodeResourcesFit","args":{"scoringStrategy":{"resources":%s}}}]}]}`,
		`{` + head + `"profiles":[{"pluginConfig":[{"name":"PodTopologySpread","args":{"defaultConstraints":%s}}]}]}`,
		`{` + head + `"profiles":[{"pluginConfig":[{"name":"Mine","args":%s}]}]}`,
	}
	shapes := amplify.JSON(frames...)
	for _, f := range frames[1:] {
		shapes = append(shapes, amplify.JSON(strings.TrimSuffix(strings.TrimPrefix(f, "{"), "}"))...)
	}
	amplify.Run(t, amplify.Decoder{Name: "config.Load", Base: 16 << 20, Decode: func(text []byte) {
		if _, err := config.Load(text, config.LoadConfig{}); err != nil {
			_ = err.Error()
		}
	}, Texts: shapes})
}

func TestYAMLToJSON(t *testing.T) {
	shapes := append(amplify.JSON("%s", "a: %s"),
		amplify.Repeat("items", "", "- a\n", ""),
		amplify.Repeat("empty items", "", "-\n", ""),
		amplify.Repeat("documents", "", "---\na: 1\n", ""),
		amplify.Repeat("empty documents", "", "---\n", ""),
		amplify.Repeat("ends", "", "...\n", ""),
		amplify.Repeat("comments", "", "#\n", "a: 1"),
		amplify.Repeat("aliases", "a: &a 1\nb: [", "*a,", "]"),
		amplify.Repeat("tags", "b: [", "!a x,", "]"),
		amplify.Repeat("flow mappings", "b: [", "a: b,", "]"),
		amplify.Repeat("dashes", "", "- ", ""),
		amplify.Repeat("questions", "", "? ", ""),
		amplify.Repeat("question lines", "", "? a\n", ""),
		amplify.Repeat("anchors", "", "- &a\n", ""),
		amplify.Repeat("merges", "a: &a {b: 1}\nb:\n", "  - <<: *a\n", ""),
		amplify.Repeat("block texts", "", "- |\n a\n", ""),
		amplify.Shape{Name: "tag prefixes", Text: func(n int) []byte {
			return []byte("%TAG !a! " + strings.Repeat("x", n/2) + "\n---\n" + strings.Repeat("- !a!b c\n", n/2/9))
		}},
	)
	amplify.Run(t, amplify.Decoder{Name: "config.YAMLToJSON", Base: 8 << 20, Decode: func(text []byte) { _, _ = config.YAMLToJSON(text) }, Texts: shapes})
}

func TestArguments(t *testing.T) {
	amplify.Run(t, amplify.Decoder{Name: "args.Decode", Decode: func(text []byte) {
		for _, e := range args.Decode(text, new(args.NodeResourcesFit)) {
			_ = e.Error()
		}
	}, Texts: amplify.JSON("%s", `{"scoringStrategy":%s}`, `{"scoringStrategy":{"resources":%s}}`, `{"ignoredResources":%s}`, `{"scoringStrategy":{"requestedToCapacityRatio":{"shape":%s}}}`)})
}
