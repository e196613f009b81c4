package config_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/berth-sched/berth/scheduling/config"
)

// FuzzLoad loads any text: it must not panic, an error has problems of one stage
// with lines inside the text, and what loads can be encoded as JSON.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(head))
	f.Add([]byte("{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\n\"kind\":\"KubeSchedulerConfiguration\",\"profiles\":[{}]}"))
	f.Add([]byte(head + "profiles:\n- &a\n  schedulerName: x\n  plugins: {score: {enabled: [{name: A, weight: -1}]}}\n- *a\n"))
	f.Add([]byte("apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\nplugins: {filter: {disabled: [{name: '*'}]}}\n"))
	f.Add([]byte(head + "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: X}}}]}]\nextenders: [{tlsConfig: {caData: Zm9v}}]"))
	o := config.LoadConfig{Plugins: plugins("A:score B:filter,queueSort")}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := config.Load(text, o)
		if err == nil {
			if _, err := json.Marshal(c); err != nil {
				t.Error(err)
			}
			if len(c.Effective().Profiles) == 0 {
				t.Error("no profile")
			}
			return
		}
		var e *config.Error
		if !errors.As(err, &e) || len(e.Problems) == 0 {
			t.Fatalf("error %v", err)
		}
		for _, p := range e.Problems {
			if p.Stage != e.Stage || p.Class == "" || p.Text == "" || p.Line < 0 || p.Line > 1+len(text) {
				t.Errorf("problem %+v", p)
			}
		}
	})
}

// FuzzYAMLToJSON converts any text: it must not panic, and the output is JSON that
// converts to itself.
func FuzzYAMLToJSON(f *testing.F) {
	f.Add([]byte("a: 1\n---\n- b\n...\n"))
	f.Add([]byte("{\"a\":[1,2]}{}"))
	f.Add([]byte("a: &x [1]\nb: *x\n<<: {c: d}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		docs, err := config.YAMLToJSON(text)
		if err != nil {
			return
		}
		for _, d := range docs {
			again, err := config.YAMLToJSON(d)
			if err != nil || len(again) != 1 || string(again[0]) != string(d) {
				t.Errorf("%q becomes %q, %v", d, again, err)
			}
		}
	})
}
