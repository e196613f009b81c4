package workload_test

import (
	"maps"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/workload"
)

// TestJobLabels: the pods of a Job have the labels that an API server gives its template, unless it has them, or the
// Job has a selector of its own.
func TestJobLabels(t *testing.T) {
	for _, x := range []struct {
		name     string
		uid      api.UID
		template map[string]string
		byHand   *bool
		want     map[string]string
	}{
		{"manifest", "", map[string]string{"app": "a"}, nil, map[string]string{"app": "a", "job-name": "j", "batch.kubernetes.io/job-name": "j"}},
		{"cluster", "u", nil, new(false), map[string]string{
			"job-name": "j", "batch.kubernetes.io/job-name": "j", "controller-uid": "u", "batch.kubernetes.io/controller-uid": "u",
		}},
		{"its own", "", map[string]string{"job-name": "x"}, nil, map[string]string{"job-name": "x", "batch.kubernetes.io/job-name": "j"}},
		{"by hand", "u", map[string]string{"app": "a"}, new(true), map[string]string{"app": "a"}},
	} {
		j := &api.Job{ObjectMeta: api.ObjectMeta{Name: "j", Namespace: "default", UID: x.uid}}
		j.Spec.Template.Labels, j.Spec.ManualSelector = x.template, x.byHand
		w := workload.Of(&api.Objects{Jobs: []*api.Job{j}})[0]
		pods, err := w.Pods(nil)
		if err != nil || len(pods) != 1 || !maps.Equal(pods[0].Labels, x.want) {
			t.Errorf("%s: labels %v, %v; want %v", x.name, pods[0].Labels, err, x.want)
		}
		if j.Spec.Template.Labels["job-name"] != x.template["job-name"] {
			t.Errorf("%s: the template has changed", x.name)
		}
	}
}
