//go:build full

package amplify_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/simulate"
)

func somePods(n int, change func(b api.PodBuilder, i int) api.PodBuilder) []*framework.PodInfo {
	s := framework.NewSnapshot(framework.Arrival)
	var list []*framework.PodInfo
	for i := range n {
		p, err := s.NewPodInfo(change(api.MakePod(fmt.Sprint("p", i)), i).Obj())
		if err != nil {
			panic(err)
		}
		list = append(list, p)
	}
	return list
}

func fill(before, unit, after string) func(n int) string {
	return func(n int) string { return before + strings.Repeat(unit, (n-len(before)-len(after))/len(unit)) + after }
}

func numbered(before, unit, after string) func(n int) string {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(before)
		for i := 0; b.Len() < n; i++ {
			b.WriteString(strings.ReplaceAll(unit, "#", fmt.Sprint(i)))
		}
		b.WriteString(after)
		return b.String()
	}
}

// TestOtherDecoders measures decoders that the other tests do not read: the memory in all, and
// the texts of errors.
func TestOtherDecoders(t *testing.T) {
	koord := func(key string) func(string) error {
		return func(text string) error {
			_, err := gang.KoordinatorGangs(somePods(1, func(b api.PodBuilder, i int) api.PodBuilder {
				return b.Annotations("gang.scheduling.koordinator.sh/name", "g", "gang.scheduling.koordinator.sh/min-available", "1", key, text)
			}), nil, []gang.KoordinatorLayer{{Name: "a", Label: "b"}})
			return err
		}
	}
	kueue := func(key string) func(string) error {
		return func(text string) error {
			_, _, err := gang.KueueLevels(map[string]string{key: text}, []string{"a", "b"})
			return err
		}
	}
	decoders := []struct {
		name   string
		decode func(string) error
		most   float64 // bytes in all for a byte; 0: 100
		texts  map[string]func(n int) string
	}{
		{"ValidateModelsJSON", func(s string) error { return capacity.ValidateModelsJSON([]byte(s)) }, 0, map[string]func(n int) string{
			"empty models": fill("[", "{},", "{}]"), "empty ranges": fill(`[{"ranges":[`, "{},", "{}]}]"), "null ranges": fill(`[{"ranges":[`, "null,", "null]}]"),
			"deep": fill("", "[", ""), "long number": fill(`[{"grade":`, "9", "}]"), "long name": fill(`[{"ranges":[{"name":"`, "\\u0001", `"}]}]`),
			"long quantity": fill(`[{"ranges":[{"min":"`, "9", `"}]}]`),
		}},
		{"Koordinator groups", koord("gang.scheduling.koordinator.sh/groups"), 0, map[string]func(n int) string{
			"one long": fill(`["`, "\\u0001", `"]`), "bad": fill(`["`, "/", `"]`), "many": numbered(`[`, `"a/b#",`, `"a/b"]`), "empty": fill("[", `"",`, `""]`),
		}},
		{"Koordinator topology", koord("gang.scheduling.koordinator.sh/network-topology-spec"), 0, map[string]func(n int) string{
			"long layer": fill(`{"gatherStrategy":[{"layer":"`, "\\u0001", `"}]}`), "many": fill(`{"gatherStrategy":[`, `{"layer":"a","strategy":"MustGather"},`, `{"layer":"a","strategy":"MustGather"}]}`),
			"empty": fill(`{"gatherStrategy":[`, `{},`, `{}]}`), "long strategy": fill(`{"gatherStrategy":[{"layer":"a","strategy":"`, "\\u0001", `"}]}`),
		}},
		{"Kueue slices", kueue("kueue.x-k8s.io/podset-slice-required-topology-constraints"), 0, map[string]func(n int) string{"empty": fill(`[`, "{},", "{}]"), "long": fill(`[{"topology":"`, "\\u0001", `","size":1}]`), "many": fill(`[`, `{"topology":"a","size":1},`, `{}]`)}},
		{"Kueue required", kueue("kueue.x-k8s.io/podset-required-topology"), 0, map[string]func(n int) string{"long": fill("", "\x01", "")}},
		{"ParseLabelSelector", func(s string) error { _, err := api.ParseLabelSelector(s); return err }, 0, map[string]func(n int) string{
			"pairs": numbered("", "a#=b,", "c=d"), "same": fill("", "a=b,", "c=d"), "in": numbered("a in (", "b#,", "c)"), "empty in": fill("a in (", ",", ")"), "parens": fill("", "(", ""), "bangs": fill("", "!", ""), "commas": fill("", ",", ""),
			"keys": fill("", "a,", "a"), "spaces": fill("a", " ", ""), "bad": fill("a in (", "\x01", ""), "ops": fill("a", "=", ""),
		}},
		{"ParseNodeSelectorTerm", func(s string) error { _, err := api.ParseNodeSelectorTerm(s); return err }, 0, map[string]func(n int) string{
			"keys": fill("", "a,", "a"), "gt": fill("", "a>1,", "a"), "in": fill("a in (", "b,", "c)"),
		}},
		{"resource.List", func(s string) error { var l resource.List; return json.Unmarshal([]byte(s), &l) }, 0, map[string]func(n int) string{
			"names": numbered("{", `"a#":1,`, `"b":1}`), "same": fill("{", `"a":1,`, `"b":1}`), "long": fill(`{"a":"`, "9", `"}`), "long bad": fill(`{"`, "\\u0001", `":"x"}`),
		}},
		{"DecodeOpenB", func(s string) error { return simulate.DecodeOpenB(new(api.Objects), []byte(s)) }, 330, map[string]func(n int) string{
			"nodes": numbered("sn,cpu_milli,memory_mib,gpu,model\n", "n#,1,1,1,m\n", ""), "pods": numbered("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n", "p#,1,1,0,0,\n", ""),
			"columns": fill("", ",", "\n"), "many columns": numbered("sn", ",c#", "\n"), "quote": fill(`"`, "\"\"", ""), "long name": fill("sn,cpu_milli,memory_mib,gpu,model\n", "x", ",1,1,1,m\n"),
			"long value": fill("sn,cpu_milli,memory_mib,gpu,model\na,", "x", ",1,1,m\n"), "blank lines": fill("sn,cpu_milli,memory_mib,gpu,model\n", "\n", ""), "specs": fill("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\np,1,1,1,1000,", "a|", "b\n"),
		}},
		{"api.Decode", func(s string) error { _, err := api.Decode([]byte(s)); return err }, 0, map[string]func(n int) string{
			"documents": fill("", "{}", ""), "docs nl": fill("", `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"}}`+"\n", ""), "lists": fill("", `{"kind":"List","apiVersion":"v1","items":[`, ""), "kinds": numbered("", `{"kind":"K#","apiVersion":"v1"}`, ""),
			"fields": numbered(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{`, `"f#":1,`, `"a":1}}`),
			"labels": numbered(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{`, `"f#":"",`, `"a":""}}}`), "same label": fill(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{`, `"f":"",`, `"a":""}}}`),
			"node images": fill(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"p"},"status":{"images":[`, `{"names":[""]},`, `{}]}}`), "claims": fill(`{"kind":"ResourceSlice","apiVersion":"resource.k8s.io/v1","metadata":{"name":"p"},"spec":{"devices":[`, `{"name":"a"},`, `{}]}}`),
			"metrics": fill(`{"kind":"NodeMetric","apiVersion":"slo.koordinator.sh/v1alpha1","metadata":{"name":"p"},"status":{"podsMetric":[`, `{"name":"a"},`, `{}]}}`),
			"time":    fill(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","creationTimestamp":"`, "9", `"}}`), "utf8": fill(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"`, "\xff", `"}}`), "surrogates": fill(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"`, `\ud800`, `"}}`),
			"int": fill(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"priority":`, "9", `}}`), "deep": fill(`{"kind":"Pod","apiVersion":"v1","metadata":`, `{"a":`, ``), "podgroup": fill(`{"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1alpha1","metadata":{"name":"g"},"spec":{"schedulingConstraints":{"topology":[`, `{"key":"a"},`, `{}]}}}`),
		}},
		{"config.Load", func(s string) error { _, err := config.Load([]byte(s), config.LoadConfig{}); return err }, 0, map[string]func(n int) string{
			"anchors": numbered("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n", "a#: &a# x\n", ""), "keys": numbered("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n", "k#: 1\n", ""),
			"merge": numbered("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\na: &a {b: c}\n", "k#: {<<: *a}\n", ""), "merge list": fill("a: &a {b: c}\nk: {<<: [", "*a,", "*a]}\n"), "tags": numbered("", "!t# a\n---\n", ""), "quoted": fill("a: \"", "\\x41", "\""), "block": fill("a: |\n", "  x\n", ""), "folded": fill("a: >\n", "  x\n\n", ""), "comments": fill("", "#\n", ""), "tabs": fill("a:", "\t", "b"), "flow": fill("a: ", "[", ""), "docs": fill("", "---\n", ""), "spaces": fill("a:", " ", "b"), "complex": fill("", "? a\n: b\n", ""), "plain multi": fill("a: b\n", " c\n", ""), "crlf": fill("a: b", "\r", ""),
			"base64": fill("a: !!binary \"", "QUFB", "\""), "octal": fill("a: 0o", "7", ""), "float": fill("a: 1e", "9", ""), "sexagesimal": fill("a: 1", ":59", ""), "plugins": numbered("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- plugins:\n    multiPoint:\n      enabled:\n", "      - name: A#\n", ""), "extenders": fill("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nextenders:\n", "- {}\n", ""),
		}},
	}
	for _, d := range decoders {
		for name, text := range d.texts {
			_ = d.decode(text(1 << 10)) // what is made once
			most := 0.0
			for _, size := range []int{64 << 10, 512 << 10} {
				var before, after runtime.MemStats
				input := text(size)
				runtime.ReadMemStats(&before)
				err := d.decode(input)
				runtime.ReadMemStats(&after)
				most = max(most, float64(after.TotalAlloc-before.TotalAlloc)/float64(len(input)))
				if err != nil && len(err.Error()) > 4<<10 {
					t.Errorf("%s of %s: error of %d bytes", d.name, name, len(err.Error()))
				}
			}
			if bound := max(100, d.most); most > bound {
				t.Errorf("%s of %s: %.0f bytes in all for a byte, want at most %.0f", d.name, name, most, bound)
			}
		}
	}
}

// TestPodsThatNameNoGroup: pods whose labels name a group without an object, beside many
// objects, take no look at each object for each pod.
func TestPodsThatNameNoGroup(t *testing.T) {
	const n = 40_000
	pods := somePods(n, func(b api.PodBuilder, i int) api.PodBuilder {
		return b.Labels("pod-group.scheduling.sigs.k8s.io", "g").Annotations("gang.scheduling.koordinator.sh/min-available", "1")
	})
	var objects []*api.PodGroup
	for i := range n {
		objects = append(objects, &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: fmt.Sprint("o", i)}})
	}
	began := time.Now()
	gangs, err := gang.KoordinatorGangs(pods, objects, nil)
	if took := time.Since(began); err != nil || len(gangs) != 1 || took > 2*time.Second {
		t.Errorf("%d gangs, %v, after %v; want 1 within 2 s", len(gangs), err, took)
	}
}
