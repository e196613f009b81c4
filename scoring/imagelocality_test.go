package scoring_test

import (
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scoring"
)

func TestImageLocality(t *testing.T) {
	s := snapshotOf(t, []*api.Node{
		api.MakeNode("none", "4", "4Gi").Obj(),
		api.MakeNode("web", "4", "4Gi").Image("400Mi", "example.com/web:1", "example.com/web@sha256:00").Obj(),
		api.MakeNode("web again", "4", "4Gi").Image("800Mi", "example.com/web:1").Obj(), // the first size counts
		api.MakeNode("both", "4", "4Gi").Image("400Mi", "example.com/web:1").Image("1000Mi", "db:latest").Obj(),
	})
	withVolume := api.MakePod("p").Image("none:1").Volume(api.Volume{
		Name: "v", VolumeSource: api.VolumeSource{Image: &api.ImageVolumeSource{Reference: "db"}},
	}).Obj()
	tests := []struct {
		name string
		pod  *api.Pod
		want []int64
	}{
		// 3 of 4 nodes have web: 300 MiB. (300-23)/(1000-23) = 28.3%
		{"an image", api.MakePod("p").Image("example.com/web:1").Obj(), []int64{0, 28, 28, 28}},
		{"by another name, on one node", api.MakePod("p").Image("example.com/web@sha256:00").Obj(), []int64{0, 7, 0, 0}}, // 100 MiB
		{"without a tag", api.MakePod("p").Image("db").Obj(), []int64{0, 0, 0, 23}},                                      // 250 MiB
		{"a port is no tag", api.MakePod("p").Image("host:5000/db").Obj(), []int64{0, 0, 0, 0}},
		// (600-23)/(2000-23) = 29.1%
		{"twice", api.MakePod("p").Image("example.com/web:1").InitContainer("i").Image("example.com/web:1").Obj(), []int64{0, 29, 29, 29}},
		{"an image volume", withVolume, []int64{0, 0, 0, 11}}, // (250-23)/(2000-23)
		{"unknown", api.MakePod("p").Image("x").Obj(), []int64{0, 0, 0, 0}},
	}
	for _, test := range []struct {
		version scoring.Rules
		name    string
		pod     *api.Pod
		want    []int64
	}{
		{scoring.Kubernetes137, "an image volume", withVolume, []int64{0, 0, 0, 11}},
		{scoring.Kubernetes134, "an image volume", withVolume, []int64{0, 0, 0, 0}},
		{scoring.Kubernetes118, "an image volume", withVolume, []int64{0, 0, 0, 0}},
		{scoring.Kubernetes134, "an init container", api.MakePod("p").Image("x").InitContainer("i").Image("db").Obj(), []int64{0, 0, 0, 11}},
		{scoring.Kubernetes118, "an init container", api.MakePod("p").Image("x").InitContainer("i").Image("db").Obj(), []int64{0, 0, 0, 0}},
		{scoring.Kubernetes134, "two containers", api.MakePod("p").Image("x").Container("2").Image("db").Obj(), []int64{0, 0, 0, 11}},
		{scoring.Kubernetes118, "two containers", api.MakePod("p").Image("x").Container("2").Image("db").Obj(), []int64{0, 0, 0, 23}}, // (250-23)/(1000-23)
		{scoring.Kubernetes118, "twice", api.MakePod("p").Image("example.com/web:1").Container("2").Image("example.com/web:1").Obj(), []int64{0, 59, 59, 59}},
	} {
		t.Run(string(test.version)+" "+test.name, func(t *testing.T) {
			wantScores(t, s, scoring.ImageLocality{Rules: test.version}, test.pod, test.want, nil)
		})
	}
	if err := (scoring.ImageLocality{Rules: "v1.2"}).Validate(); err == nil {
		t.Error("Validate took the version v1.2")
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { wantScores(t, s, scoring.ImageLocality{}, test.pod, test.want, nil) })
	}
}
