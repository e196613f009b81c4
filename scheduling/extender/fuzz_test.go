package extender_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/extender"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// FuzzHandler posts arbitrary bodies: nothing panics, the snapshot stays unchanged,
// and the status is one of the documented ones.
func FuzzHandler(f *testing.F) {
	for _, body := range []string{
		`{"Pod": ` + aPod + `, "NodeNames": ["a", "z"]}`,
		`{"Pod": {"metadata": {"name": "p"}}, "Nodes": {"items": [{"metadata": {"name": "a"}}, null]}}`,
		`{"Pod": {}, "NodeNameToMetaVictims": {"c": {"Pods": [{"UID": "uid-low"}]}}}`,
		`{"Pod": {"spec": {"containers": [{"resources": {"requests": {"cpu": "9e99", "memory": "-1"}}}]}}, "NodeNameToVictims": {"c": {"Pods": [{}]}}}`,
		`null`, `[]`, `{"Pod": null}`, `{`,
	} {
		f.Add(body)
	}
	s := cluster(f)
	h := handler(f, s)
	before := s.Node("c").Generation()
	f.Fuzz(func(t *testing.T, body string) {
		for _, verb := range []string{"/filter", "/prioritize", "/preempt"} {
			switch status, text := ask(h, verb, body); status {
			case http.StatusOK, http.StatusBadRequest, http.StatusInternalServerError:
			default:
				t.Errorf("%s: status %d: %s", verb, status, text)
			}
		}
		if s.Node("c").Generation() != before {
			t.Fatal("the snapshot was changed")
		}
	})
}

// canned answers every request with the same text, without a network.
type canned string

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: readCloser{strings.NewReader(string(c))}}, nil
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// FuzzClient gives arbitrary answers: nothing panics, and an accepted preemption
// contains only pods of the node.
func FuzzClient(f *testing.F) {
	for _, answer := range []string{
		`{"NodeNames": ["a"]}`, `{"Nodes": {"items": [{"metadata": {"name": "a"}}, null, {}]}}`, `[{"Host": "a", "Score": 9223372036854775807}]`,
		`{"NodeNameToMetaVictims": {"c": {"Pods": [{"UID": "uid-low"}], "NumPDBViolations": -9223372036854775808}, "a": null}}`, `null`, `{"Error": 1}`, `[[`,
	} {
		f.Add(answer)
	}
	s := cluster(f)
	pod := info(f, s, api.MakePod("web").Obj())
	candidates := []*preemption.Candidate{{Node: "c", Victims: []framework.Victim{{Pod: s.Node("c").Pods[0]}}}}
	f.Fuzz(func(t *testing.T, answer string) {
		for _, capable := range []bool{false, true} {
			c, err := extender.New(extender.Config{
				URLPrefix: "http://x", FilterVerb: "f", PrioritizeVerb: "p", PreemptVerb: "e", BindVerb: "b", Weight: 1,
				NodeCacheCapable: capable, HTTP: &http.Client{Transport: canned(answer)}, MaxBytes: 1 << 16,
			})
			if err != nil {
				t.Fatal(err)
			}
			_, _ = c.Filter(background, pod, nodes(s, "a b"))
			_, _ = c.Prioritize(background, pod, nodes(s, "a b"))
			_ = c.Bind(background, pod.Pod, "a")
			kept, err := c.Preempt(background, pod, s, candidates)
			for _, k := range kept {
				if err != nil || len(k.Victims) > len(s.Node(k.Node).Pods) || k.Violations < 0 {
					t.Errorf("candidate %+v, %v", k, err)
				}
			}
		}
	})
}
