package estimator_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework/api"
)

// canned answers the same always.
type canned struct {
	name   string
	answer estimator.Estimate
	err    error
}

func (c canned) Name() string { return c.name }

func (c canned) Estimate(*api.Cluster, *estimator.Replica) (estimator.Estimate, error) {
	return c.answer, c.err
}

func TestCombine(t *testing.T) {
	five := canned{name: "five", answer: estimator.Estimate{Replicas: 5}}
	three := canned{name: "three", answer: estimator.Estimate{Replicas: 3}}
	also := canned{name: "also three", answer: estimator.Estimate{Replicas: 3}}
	mute := canned{name: "mute", answer: estimator.Estimate{NoOpinion: true}}
	broken := canned{name: "broken", err: errors.New("no connection")}
	for _, c := range []struct {
		name       string
		estimators []estimator.ClusterEstimator
		want       estimator.Combined
		err        string
	}{
		{"none", nil, estimator.Combined{Cluster: "m", Estimate: estimator.Estimate{NoOpinion: true}}, ""},
		{"no opinion", []estimator.ClusterEstimator{mute}, estimator.Combined{Cluster: "m", Estimate: estimator.Estimate{NoOpinion: true}}, ""},
		{
			"the smallest",
			[]estimator.ClusterEstimator{five, mute, three, also},
			estimator.Combined{Cluster: "m", Estimate: estimator.Estimate{Replicas: 3}, By: "three"},
			"",
		},
		{
			"out of range",
			[]estimator.ClusterEstimator{canned{name: "vast", answer: estimator.Estimate{Replicas: 1 << 40}}, five},
			estimator.Combined{Cluster: "m", Estimate: estimator.Estimate{Replicas: 5}, By: "five"},
			`estimator vast: cluster m: estimate: "1099511627776": must be 0 to 2147483647`,
		},
		{
			"an error about something else",
			[]estimator.ClusterEstimator{canned{name: "picky", err: &api.InvalidError{Object: "pod web", Field: "spec", Err: errors.New("odd")}}, five},
			estimator.Combined{Cluster: "m", Estimate: estimator.Estimate{Replicas: 5}, By: "five"},
			"estimator picky: cluster m: pod web: spec: odd",
		},
		{
			"one fails",
			[]estimator.ClusterEstimator{broken, five},
			estimator.Combined{Cluster: "m", Estimate: estimator.Estimate{Replicas: 5}, By: "five"},
			"estimator broken: cluster m: no connection",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := estimator.Combine(c.estimators, &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "m"}}, nil)
			text := ""
			if got.Err != nil {
				text = got.Err.Error()
				var e *estimator.EstimatorError
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
	if got := estimator.Combine([]estimator.ClusterEstimator{five}, nil, nil); fmt.Sprint(got.Err) != `cluster: "null": is nil` {
		t.Errorf("Combine without a cluster: %v", got.Err)
	}
	// An error that names the cluster is not told twice.
	got := estimator.Combine([]estimator.ClusterEstimator{estimator.General{}}, withSummary(list("cpu", "-1"), nil), nil)
	if want := `estimator general-estimator: cluster m: status.resourceSummary.allocatable[cpu]: "-1": must not be negative`; got.Err.Error() != want {
		t.Errorf("Combine: %v, want %s", got.Err, want)
	}
}
