package api_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
)

func TestPodImages(t *testing.T) {
	p := plainPod("web")
	p.Spec.InitContainers = []api.Container{{Image: "registry.example:5000/setup"}}
	p.Spec.Containers = []api.Container{
		{Image: "app"},
		{Image: "app:1.2"},
		{Image: "registry.example:5000/team/app:1.2"},
		{Image: "app@sha256:0123"},
		{Image: ""},
		{Image: "app"},
	}
	p.Spec.Volumes = []api.Volume{
		{Name: "plain"},
		{Name: "model", VolumeSource: api.VolumeSource{Image: &api.ImageVolumeSource{Reference: "models/small"}}},
	}
	want := []string{
		"registry.example:5000/setup:latest",
		"app:latest",
		"app:1.2",
		"registry.example:5000/team/app:1.2",
		"app@sha256:0123",
		":latest",
		"app:latest",
		"models/small:latest",
	}
	if diff := cmp.Diff(want, api.PodImages(p)); diff != "" {
		t.Errorf("PodImages (-want +got):\n%s", diff)
	}
}
