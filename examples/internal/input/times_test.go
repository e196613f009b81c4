package input

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func podWith(annotations string) string {
	return "{kind: Pod, apiVersion: v1, metadata: {name: p, annotations: {" + annotations + "}}, spec: {containers: [{name: c}]}}"
}

func TestTimes(t *testing.T) {
	const arrival, run = AnnotationArrival, AnnotationRunTime
	tests := []struct {
		name, text string
		want       Times
		timed      bool
		err        string
	}{
		{"none", podWith("other: x"), Times{0, Forever}, false, ""},
		{"durations", podWith(arrival + ": 1h30m, " + run + ": 90s"), Times{90 * time.Minute, 90 * time.Second}, true, ""},
		{"seconds", podWith(arrival + `: "90", ` + run + `: "0.5"`), Times{90 * time.Second, 500 * time.Millisecond}, true, ""},
		{"arrival alone", podWith(arrival + ": 1m"), Times{time.Minute, Forever}, true, ""},
		{"run time alone", podWith(run + ": 0s"), Times{0, 0}, true, ""},
		{"template", workloadYAML("apps/v1", "Deployment", "replicas: 1"), Times{0, Forever}, false, ""},
		{"table", openBTable, Times{0, 12537496 * time.Second}, false, ""},
		{"negative", podWith(arrival + ": -5s"), Times{}, true, `f: pod default/p: metadata.annotations[` + arrival + `]: "-5s": want a duration such as 90s`},
		{"word", podWith(run + ": soon"), Times{}, true, `metadata.annotations[` + run + `]: "soon": want`},
		{"too long", podWith(run + `: "1e300"`), Times{}, true, `"1e300": want`},
		{"not a number", podWith(run + `: NaN`), Times{}, true, `"NaN": want`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var c Cluster
			if err := c.Add("f", []byte(test.text)); err != nil {
				t.Fatal(err)
			}
			_, pending, err := c.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Times(pending[0].Pod)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want one with %s", err, test.err)
				}
			} else if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("Times: %v (-want +got):\n%s", err, diff)
			}
			if got := c.Timed(); got != test.timed {
				t.Errorf("Timed() = %v, want %v", got, test.timed)
			}
		})
	}
}
