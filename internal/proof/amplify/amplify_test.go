//go:build full

package amplify_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/amplify"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/args"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/extender"
	"github.com/berth-sched/berth/scheduling/simulate"
)

// The decoders of the library for texts of any source.
var (
	objects       = amplify.Decoder{Name: "api.Decode", Decode: func(text []byte) { _, _ = api.Decode(text) }}
	configuration = amplify.Decoder{Name: "config.Load", Base: 4 << 20, Decode: func(text []byte) {
		if _, err := config.Load(text, config.LoadConfig{}); err != nil && len(err.Error()) > 256<<10 {
			panic("config.Load: an error that grows with the text")
		}
	}}
	manifests = amplify.Decoder{Name: "config.YAMLToJSON", Base: 8 << 20, Decode: func(text []byte) { _, _ = config.YAMLToJSON(text) }}
	arguments = amplify.Decoder{Name: "args.Decode", Decode: func(text []byte) {
		for _, e := range args.Decode(text, new(args.NodeResourcesFit)) {
			_ = e.Error()
		}
	}}
)

// FuzzMemory gives any text, some thousand times one after the other, to every decoder.
// None may take more memory than it states.
func FuzzMemory(f *testing.F) {
	for _, text := range []string{
		"{},", "[", "a: b,", "- &a [*a]\n", "%TAG ! x\n", "---\na: 1\n", `{"kind":"Pod","spec":{"containers":[{}]}}`,
		`"a":1,`, "? a\n", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{}]\n",
	} {
		f.Add([]byte(""), []byte(text), []byte(""))
		f.Add([]byte("["), []byte(text), []byte("]"))
	}
	f.Fuzz(func(t *testing.T, before, unit, after []byte) {
		if len(unit) > 1<<10 || len(before)+len(after) > 1<<12 {
			return
		}
		text := slices.Concat(before, bytes.Repeat(unit, 1<<14/max(1, len(unit))), after)
		for _, d := range []amplify.Decoder{objects, configuration, manifests, arguments} {
			amplify.Check(t, d, text)
		}
	})
}

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
	shapes = append(shapes,
		amplify.Shape{Name: "items of a long kind", Text: func(n int) []byte {
			return []byte(`{"kind":"` + strings.Repeat("X", n/2) + `List","items":[{}` + strings.Repeat(",{}", n/6) + `]}`)
		}},
		amplify.Shape{Name: "items of a long group", Text: func(n int) []byte {
			return []byte(`{"kind":"XList","apiVersion":"` + strings.Repeat("X", n/2) + `/v1","items":[{}` + strings.Repeat(",{}", n/6) + `]}`)
		}},
		amplify.Shape{Name: "items of a kind as long as may be", Text: func(n int) []byte {
			return []byte(`{"kind":"` + strings.Repeat("X", 500) + `List","apiVersion":"` + strings.Repeat("X", 500) + `/v1","items":[{}` + strings.Repeat(",{}", n/3) + `]}`)
		}},
	)
	d := objects
	d.Texts = shapes
	amplify.Run(t, d)
}

// TestValidate looks at objects with a fault in every few bytes and a long name, as only Go values can have it.
func TestValidate(t *testing.T) {
	faults := func(field, fault string) amplify.Shape {
		return amplify.Shape{Name: field + " " + fault, Text: func(n int) []byte {
			return []byte(`{"kind":"Pod","metadata":{"name":"x"},"spec":{"` + field + `":[` + fault + strings.Repeat(","+fault, n/len(fault)-1) + `]}}`)
		}}
	}
	amplify.Run(t, amplify.Decoder{Name: "api.Objects.Validate", Decode: func(text []byte) {
		o, err := api.Decode(text)
		if err != nil {
			t.Error(err)
			return
		}
		o.Pods[0].Name = strings.Repeat("x", len(text)/2)
		if err := o.Validate(); err == nil || len(err.Error()) > 1<<20 {
			t.Errorf("Validate: an error of %d bytes for %d bytes of text", len(err.Error()), len(text))
		}
	}, Texts: []amplify.Shape{
		faults("tolerations", `{"operator":"q"}`),
		faults("tolerations", `{"operator":"p","effect":"q"}`),
		faults("containers", `{"ports":[{"protocol":"q"}]}`),
		faults("containers", `{"imagePullPolicy":"a","ports":[{"protocol":"q"}]}`),
	}})
}

func TestSelectors(t *testing.T) {
	texts := []amplify.Shape{
		amplify.Numbered("equalities", "", "a%d=b", ""),
		amplify.Repeat("equalities of one key", "", "a=b,", ""),
		amplify.Numbered("values", "a in (", "v%d", ")"),
		amplify.Repeat("a long word", "a ", "b", ""),
		amplify.Repeat("no integer", "a>", "b", ""),
		amplify.Repeat("exclamation marks", "", "!", ""),
	}
	texts = append(texts, texts...) // each is tried
	amplify.Run(t, amplify.Decoder{Name: "api.ParseLabelSelector", Most: 120, Decode: func(text []byte) {
		if _, err := api.ParseLabelSelector(string(text)); err != nil && len(err.Error()) > maxError {
			t.Errorf("ParseLabelSelector: an error of %d bytes", len(err.Error()))
		}
	}, Texts: texts})
}

// maxError bounds the text of an error about one fault.
const maxError = 4 << 10

// TestTraces reads lines with long names and many fields below them, and lines that are short.
func TestTraces(t *testing.T) {
	const pod = `{"at":"0","apply":{"kind":"Pod","metadata":{"name":"p"}`
	below := func(name, open, unit, end string) amplify.Shape {
		return amplify.Shape{Name: name, Text: func(n int) []byte {
			return []byte(pod + `,"` + strings.Repeat("x", n/2) + `":` + open + unit + strings.Repeat(","+unit, n/2/(1+len(unit))) + end + "}}")
		}}
	}
	lines := func(name, unit string) amplify.Shape {
		return amplify.Shape{Name: name, Text: func(n int) []byte {
			var b []byte
			for i := 0; len(b) < n; i++ {
				b = append(b, strings.ReplaceAll(unit, "#", strconv.Itoa(i))...)
			}
			return b
		}}
	}
	amplify.Run(t, amplify.Decoder{Name: "simulate.ReadTrace", Decode: func(text []byte) {
		if _, err := simulate.ReadTrace(bytes.NewReader(text)); err != nil && len(err.Error()) > maxError {
			t.Errorf("ReadTrace: an error of %d bytes", len(err.Error()))
		}
	}, Texts: []amplify.Shape{
		below("numbers below a long name", "[", "1", "]"),
		lines("pods", `{"at":"0","apply":{"kind":"Pod","metadata":{"name":"p#"}}}`+"\n"),
		lines("nodes", `{"at":"0","apply":{"kind":"Node","metadata":{"name":"n"}}}`+"\n"),
		lines("wakes", `{"at":"0","wake":true}`+"\n"),
		below("objects below a long name", "[", `{"a":1}`, "]"),
		{Name: "deep", Text: func(n int) []byte {
			return []byte(pod + `,"x":` + strings.Repeat(`{"`+strings.Repeat("x", n/900)+`":`, 900) + "1" + strings.Repeat("}", 902))
		}},
		amplify.Repeat("a long node name", `{"at":"0","apply":{"kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"`, "n", `"}}}`),
		lines("pods that wait for a node", `{"at":"0","apply":{"kind":"Pod","metadata":{"name":"p#"},"spec":{"nodeName":"n"}}}`+"\n"),
		amplify.Repeat("a long unknown field", `{"at":"0","`, "n", `":1}`),
	}})
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

func TestExtenderRequests(t *testing.T) {
	snapshot := framework.NewSnapshot(framework.Arrival)
	if err := snapshot.AddNode(api.MakeNode("a", "4", "16Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	h := &extender.Handler{
		Scheduler: sched, Bind: func(context.Context, extender.BindingArgs) error { return nil },
		Snapshot: func(context.Context) (*framework.Snapshot, error) { return snapshot, nil },
	}
	const pod = `"Pod":{"metadata":{"name":"p"}}`
	for verb, frames := range map[string][]string{
		"/filter": {
			`%s`, `{"Pod":%s}`, `{` + pod + `,"NodeNames":%s}`, `{` + pod + `,"Nodes":{"items":%s}}`, `{` + pod + `,"Nodes":%s}`, `{` + pod + `,"x":%s}`,
			`{"Pod":{"metadata":{"name":"p","labels":%s}},"NodeNames":["a"]}`, `{"Pod":{"metadata":{"name":"p"},"spec":{"tolerations":%s}},"NodeNames":["a"]}`,
			`{"Pod":{"metadata":{"name":"p"},"spec":{"containers":[{"resources":{"requests":%s}}]}},"NodeNames":["a"]}`,
			`{"Pod":{"metadata":{"name":"p"},"spec":{"containers":%s}},"NodeNames":["a"]}`,
			`{"Pod":{"metadata":{"name":"p","uid":"u"},"spec":` + requiredTerm("matchExpressions") + `},"NodeNames":["a"]}`,
			`{"Pod":{"metadata":{"name":"p","uid":"u"},"spec":` + requiredTerm("matchFields") + `},"NodeNames":["a"]}`,
		},
		"/prioritize": {`{` + pod + `,"NodeNames":%s}`, `{` + pod + `,"Nodes":{"items":[{"metadata":%s}]}}`},
		"/preempt": {
			`{` + pod + `,"NodeNameToVictims":%s}`, `{` + pod + `,"NodeNameToMetaVictims":%s}`, `{` + pod + `,"NodeNameToMetaVictims":{"a":{"Pods":%s}}}`,
			`{` + pod + `,"NodeNameToVictims":{"a":{"Pods":%s}}}`,
		},
		"/bind": {`%s`, `{"PodName":%s}`, `{"PodName":"p","Node":%s}`},
	} {
		shapes := amplify.JSON(frames...)
		if verb == "/filter" {
			shapes = append(shapes, amplify.Numbered("node names", `{`+pod+`,"NodeNames":[`, `"%d"`, `]}`))
		}
		amplify.Run(t, amplify.Decoder{Name: "extender.Handler " + verb, Decode: func(text []byte) {
			h.ServeHTTP(discard{}, httptest.NewRequest(http.MethodPost, verb, bytes.NewReader(text)))
		}, Texts: shapes})
	}
}

// requiredTerm returns the spec of a pod that demands one term of nodes, whose field is open.
func requiredTerm(field string) string {
	return `{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"` + field + `":%s}]}}}}`
}

// discard is a response that nobody reads.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

func TestExtenderAnswers(t *testing.T) {
	snapshot := framework.NewSnapshot(framework.Arrival)
	if err := snapshot.AddNode(api.MakeNode("a", "4", "16Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	pod, err := snapshot.NewPodInfo(api.MakePod("p").Obj())
	if err != nil {
		t.Fatal(err)
	}
	nodes := []*framework.NodeInfo{snapshot.Node("a")}
	var answer []byte
	c, err := extender.New(extender.Config{
		URLPrefix: "http://x", FilterVerb: "f", PrioritizeVerb: "p", PreemptVerb: "e", BindVerb: "b", Weight: 1, NodeCacheCapable: true,
		HTTP: &http.Client{Transport: roundTrip(func() []byte { return answer })}, MaxBytes: 64 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for name, d := range map[string]struct {
		call   func()
		frames []string
	}{
		"Filter":     {func() { _, _ = c.Filter(ctx, pod, nodes) }, []string{`%s`, `{"NodeNames":%s}`, `{"Nodes":{"items":%s}}`, `{"FailedNodes":%s}`, `{"Error":%s}`}},
		"Prioritize": {func() { _, _ = c.Prioritize(ctx, pod, nodes) }, []string{`%s`, `[{"Host":%s}]`}},
		"Preempt":    {func() { _, _ = c.Preempt(ctx, pod, snapshot, nil) }, []string{`{"NodeNameToMetaVictims":%s}`, `{"NodeNameToMetaVictims":{"a":{"Pods":%s}}}`}},
		"Bind":       {func() { _ = c.Bind(ctx, pod.Pod, "a") }, []string{`{"Error":%s}`}},
	} {
		amplify.Run(t, amplify.Decoder{Name: "extender.Client." + name, Decode: func(text []byte) {
			answer = text
			d.call()
		}, Texts: amplify.JSON(d.frames...)})
	}
}

// roundTrip answers every request without a network.
type roundTrip func() []byte

func (f roundTrip) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(f()))}, nil
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
	const yaml = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	shapes = append(shapes,
		amplify.Repeat("YAML numbers", yaml+"x: [", "1,", "]"),
		amplify.Repeat("YAML items", yaml+"x:\n", "- 1\n", ""),
		amplify.Repeat("YAML objects", yaml+"profiles:\n", "- {}\n", ""),
		amplify.Repeat("YAML profiles with a field that nobody knows", yaml+"profiles:\n", "- a: b\n", ""),
		amplify.Repeat("YAML profiles", yaml+"profiles:\n", "- schedulerName: a\n", ""),
		amplify.Shape{Name: "YAML aliases of a long key", Text: func(n int) []byte {
			return []byte(yaml + "x:\n  ? &a \"" + strings.Repeat("k", n/2) + "\"\n  : 1\n" + strings.Repeat("  *a : 1\n", n/2/9))
		}},
		amplify.Repeat("a long name of a plugin", `{`+head+`"profiles":[{"plugins":{"score":{"enabled":[{"name":"`, "a", `"}]}}}]}`),
		amplify.Repeat("a long kind of arguments", `{`+head+`"profiles":[{"pluginConfig":[{"name":"NodeResourcesFit","args":{"kind":"`, "a", `"}}]}]}`),
	)
	d := configuration
	d.Texts = shapes
	amplify.Run(t, d)
}

// TestProfiles gives Load profiles that are short, or whose lists are full of what the
// defaults or the errors about it could multiply. Each takes less than 100 bytes for a byte
// of the text; 2 MiB are for the 100 profiles that any text may have.
func TestProfiles(t *testing.T) {
	const of = `"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/`
	full := func(before, unit, after string) string {
		return before + strings.Repeat(unit+",", 99) + unit + after
	}
	// What n bytes hold of them, at most so many: of more, nothing is made.
	profiles := func(name, version, rest string, most int) amplify.Shape {
		return amplify.Shape{Name: name, Text: func(n int) []byte {
			b := []byte(`{` + of + version + `","profiles":[`)
			for i := 0; i < most && (i == 0 || len(b)+len(rest) < n); i++ {
				if i > 0 {
					b = append(b, ',')
				}
				b = fmt.Appendf(b, `{"schedulerName":"a%d"%s}`, i, rest)
			}
			b = append(b, strings.Repeat(" ", max(0, n-len(b)-2))...)
			return append(b, "]}"...)
		}}
	}
	const fits = 100 + 8*8<<10/256 // as many as the longest text may have
	amplify.Run(t, amplify.Decoder{Name: "config.Load", Base: 2 << 20, Decode: configuration.Decode, Texts: []amplify.Shape{
		profiles("short profiles", "v1", "", fits),
		profiles("short profiles of v1beta2", "v1beta2", "", fits),
		profiles("empty plugins", "v1", full(`,"plugins":{"score":{"enabled":[`, `{}`, `]}}`), fits),
		profiles("profiles without a plugin for each point", "v1", `,"plugins":{"multiPoint":{"disabled":[{"name":"*"}]}}`, fits),
		profiles("unknown plugins", "v1", full(`,"plugins":{"score":{"enabled":[`, `{"name":"x"}`, `]}}`), fits),
		profiles("unknown plugins of all points", "v1", full(`,"plugins":{"multiPoint":{"enabled":[`, `{"name":"x"}`, `]}}`), fits),
		profiles("plugins twice", "v1", full(`,"plugins":{"multiPoint":{"enabled":[`, `{"name":"NodePorts"}`, `]}}`), fits),
		profiles("empty arguments", "v1", full(`,"pluginConfig":[`, `{}`, `]`), fits),
		profiles("default arguments", "v1", full(`,"pluginConfig":[`, `{"name":"PodTopologySpread"}`, `]`), fits),
		profiles("empty plugins that are disabled", "v1", full(`,"plugins":{"multiPoint":{"disabled":[`, `{}`, `]}}`), fits),
		profiles("empty plugins of v1beta2", "v1beta2", full(`,"plugins":{"multiPoint":{"enabled":[`, `{}`, `]}}`), fits),
		profiles("too many profiles", "v1", "", 1000),
		amplify.Repeat("one profile of unknown plugins", `{`+of+`v1","profiles":[{"schedulerName":"a","plugins":{"score":{"enabled":[`, `{"name":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},`, `]}}}]}`),
	}})
}

// aliases returns a shape of a node with an anchor and as many aliases as there are bytes left.
func aliases(name string, repeat func(unit string, times int) string, unit, before string) amplify.Shape {
	return amplify.Shape{Name: "aliases of " + name, Text: func(n int) []byte {
		return []byte("a: &a " + before + repeat(unit, n/2/len(unit)) + "\nb: [*a" + strings.Repeat(",*a", n/6) + "]\n")
	}}
}

// mapping returns a mapping of about so many bytes.
func mapping(key string, size int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%s%d: 1, ", key, i)
	}
	return b.String() + "}"
}

func TestYAMLToJSON(t *testing.T) {
	d := manifests
	d.Texts = yamlShapes()
	amplify.Run(t, d)
	d.Most, d.Texts = 130, pairs
	amplify.Run(t, d)
}

// TestYAMLTwice measures what reads YAML more than once: to find repeated fields, and the
// lines of fields. Programs do so with the files of their own user.
func TestYAMLTwice(t *testing.T) {
	for _, d := range []amplify.Decoder{
		{Name: "config.YAMLToJSONStrict", Most: 280, Decode: func(text []byte) { _, _, _ = config.YAMLToJSONStrict(text) }},
		{Name: "config.RepeatedFields", Most: 420, Decode: func(text []byte) { config.RepeatedFields(text) }},
		{Name: "config.FieldLine", Most: 130, Decode: func(text []byte) { config.FieldLine(text, "a.b") }},
	} {
		d.Base, d.Texts = manifests.Base, append(pairs, yamlShapes()...)
		amplify.Run(t, d)
	}
}

// pairs are texts whose values cost more than any others: each pair in a list is a mapping.
var pairs = []amplify.Shape{
	amplify.Repeat("pairs in a list", "a: [", "b: c    ,", "]"),
	amplify.Repeat("pairs in a list beside a repeated field", "a: 1\na: [", "b: c,", "]"),
}

func yamlShapes() []amplify.Shape {
	return append(amplify.JSON("%s", "a: %s"),
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
		aliases("a long number", strings.Repeat, "1", ""),
		aliases("a long text in base64", strings.Repeat, "AAAA", "!!binary "),
		aliases("a mapping", mapping, "k", ""),
		aliases("a number with underscores", strings.Repeat, "_", "1"),
		amplify.Shape{Name: "tag prefixes", Text: func(n int) []byte {
			return []byte("%TAG !a! " + strings.Repeat("x", n/2) + "\n---\n" + strings.Repeat("- !a!b c\n", n/2/9))
		}},
	)
}

func TestArguments(t *testing.T) {
	d := arguments
	d.Texts = amplify.JSON("%s", `{"scoringStrategy":%s}`, `{"scoringStrategy":{"resources":%s}}`, `{"ignoredResources":%s}`, `{"scoringStrategy":{"requestedToCapacityRatio":{"shape":%s}}}`)
	amplify.Run(t, d)
}
