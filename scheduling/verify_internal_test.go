//go:build full

package scheduling

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// onlyFirst names one node for every pod.
type onlyFirst struct{}

func (onlyFirst) Name() string { return "OnlyFirst" }

func (onlyFirst) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{NodeNames: []string{"n0"}}, framework.Status{}
}

// TestVerifySeesData changes what decisions and errors hold beside their texts. Verify must see
// each of the changes.
func TestVerifySeesData(t *testing.T) {
	snap := framework.NewSnapshot(framework.Arrival)
	for i := range 40 {
		if err := snap.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name     string
		restrict bool
		cpu      string
		change   func(d *Decision, e *FitError)
		want     string
	}{
		{"nothing", false, "1", func(*Decision, *FitError) {}, ""},
		{"nothing of an error", true, "9", func(*Decision, *FitError) {}, ""},
		{"where the next search begins", false, "1", func(d *Decision, _ *FitError) { d.advance++ }, "how much later"},
		{"node", false, "1", func(d *Decision, _ *FitError) { d.Node = "n9" }, "the decision"},
		{"plugin of a rejection", false, "9", func(_ *Decision, e *FitError) { e.Rejections[0].Plugin = "other" }, "the rejections"},
		{"restricting plugins", true, "9", func(_ *Decision, e *FitError) { e.Restricting = nil }, "the error"},
	} {
		profile := Kubernetes137()
		if tt.restrict {
			profile.Filter = append(profile.Filter, onlyFirst{})
		}
		profile.Cache.Verify = true
		s, err := New(profile)
		if err != nil {
			t.Fatal(err)
		}
		var d Decision
		var pod *framework.PodInfo
		for i := range 3 { // the fourth is known
			if pod, err = snap.NewPodInfo(api.MakePod(fmt.Sprint("p", i)).Requests(tt.cpu, "1Gi").Obj()); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Schedule(snap, pod); errors.As(err, new(*DifferenceError)) {
				t.Fatal(err)
			}
		}
		d.Number, d.start = s.number, s.start
		err, ok := s.incremental.decide(snap, pod, &d)
		if !ok {
			t.Fatalf("%s: the decision takes the reference path", tt.name)
		}
		var fit *FitError
		if errors.As(err, &fit) {
			changed := *fit
			changed.Rejections = append([]Rejection(nil), fit.Rejections...)
			fit, err = &changed, &changed
		}
		tt.change(&d, fit)
		got := s.incremental.verify(snap, pod, d, err)
		if text := fmt.Sprint(got); (tt.want == "") != (got == nil) || !strings.Contains(text, tt.want) {
			t.Errorf("%s: verify says %v, want %q", tt.name, got, tt.want)
		}
	}
}
