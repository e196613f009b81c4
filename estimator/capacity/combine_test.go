package capacity_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
)

// canned always gives the same answer.
type canned struct {
	name   string
	answer capacity.Estimate
	err    error
}

func (c canned) Name() string { return c.name }

func (c canned) Estimate(*api.Cluster, *capacity.Replica) (capacity.Estimate, error) {
	return c.answer, c.err
}

func TestCombine(t *testing.T) {
	five := canned{name: "five", answer: capacity.Estimate{Replicas: 5}}
	three := canned{name: "three", answer: capacity.Estimate{Replicas: 3}}
	also := canned{name: "also three", answer: capacity.Estimate{Replicas: 3}}
	mute := canned{name: "mute", answer: capacity.Estimate{NoOpinion: true}}
	broken := canned{name: "broken", err: errors.New("no connection")}
	for _, c := range []struct {
		name       string
		estimators []capacity.ClusterEstimator
		want       capacity.Combined
		err        string
	}{
		{"none", nil, capacity.Combined{Cluster: "m", Estimate: capacity.Estimate{NoOpinion: true}}, ""},
		{"no opinion", []capacity.ClusterEstimator{mute}, capacity.Combined{Cluster: "m", Estimate: capacity.Estimate{NoOpinion: true}}, ""},
		{
			"the smallest",
			[]capacity.ClusterEstimator{five, mute, three, also},
			capacity.Combined{Cluster: "m", Estimate: capacity.Estimate{Replicas: 3}, By: "three"},
			"",
		},
		{
			"out of range",
			[]capacity.ClusterEstimator{canned{name: "vast", answer: capacity.Estimate{Replicas: 1 << 40}}, five},
			capacity.Combined{Cluster: "m", Estimate: capacity.Estimate{Replicas: 5}, By: "five"},
			`estimator vast: cluster m: estimate: "1099511627776": must be 0 to 2147483647`,
		},
		{
			"an error about something else",
			[]capacity.ClusterEstimator{canned{name: "picky", err: &api.InvalidError{Object: "pod web", Field: "spec", Err: errors.New("odd")}}, five},
			capacity.Combined{Cluster: "m", Estimate: capacity.Estimate{Replicas: 5}, By: "five"},
			"estimator picky: cluster m: pod web: spec: odd",
		},
		{
			"one fails",
			[]capacity.ClusterEstimator{broken, five},
			capacity.Combined{Cluster: "m", Estimate: capacity.Estimate{Replicas: 5}, By: "five"},
			"estimator broken: cluster m: no connection",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := capacity.Combine(c.estimators, &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "m"}}, nil)
			text := ""
			if got.Err != nil {
				text = got.Err.Error()
				var e *capacity.EstimatorError
				if !errors.As(got.Err, &e) || e.Cluster != "m" {
					t.Errorf("%v is no EstimatorError for m", got.Err)
				}
			}
			got.Err = nil
			if got != c.want || text != c.err {
				t.Errorf("Combine = %+v, %q, want %+v, %q", got, text, c.want, c.err)
			}
		})
	}
	if got := capacity.Combine([]capacity.ClusterEstimator{five}, nil, nil); fmt.Sprint(got.Err) != `cluster: "null": is nil` {
		t.Errorf("Combine without a cluster: %v", got.Err)
	}
	// An error that names the cluster does not get the name again.
	got := capacity.Combine([]capacity.ClusterEstimator{capacity.General{}}, withSummary(list("cpu", "-1"), nil), nil)
	if want := `estimator general-estimator: cluster m: status.resourceSummary.allocatable[cpu]: "-1": must not be negative`; got.Err.Error() != want {
		t.Errorf("Combine: %v, want %s", got.Err, want)
	}
}
