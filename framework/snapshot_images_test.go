package framework_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

func nodeWithImage(name, image string, size int64) *api.Node {
	n := plainNode(name)
	n.Status.Images = []api.ContainerImage{{Names: []string{image, image + "-alias"}, SizeBytes: size}}
	return n
}

// The size is that of the first node, until no node has the image.
func TestImage(t *testing.T) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	check := func(step string, want framework.ImageState) {
		t.Helper()
		for _, name := range []string{"app:1", "app:1-alias"} {
			if got := s.Image(name); got != want {
				t.Errorf("%s: Image(%s) = %+v, want %+v", step, name, got, want)
			}
		}
	}
	check("empty", framework.ImageState{})
	must(t, s.AddNode(nodeWithImage("a", "app:1", 100)))
	check("one", framework.ImageState{Size: 100, Nodes: 1})
	must(t, s.AddNode(nodeWithImage("b", "app:1", 200)))
	check("two", framework.ImageState{Size: 100, Nodes: 2})
	must(t, s.RemoveNode("a"))
	check("the first one left", framework.ImageState{Size: 100, Nodes: 1})
	must(t, s.UpdateNode(nodeWithImage("b", "app:1", 300)))
	check("the only one registers again", framework.ImageState{Size: 300, Nodes: 1})
	must(t, s.UpdateNode(plainNode("b")))
	check("nobody", framework.ImageState{})
}

// A node that lists an image several times has it once.
func TestImageListedTwice(t *testing.T) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	n := plainNode("a")
	n.Status.Images = []api.ContainerImage{
		{Names: []string{"app:1", "app:1"}, SizeBytes: 100},
		{Names: []string{"app:1", "app:2"}, SizeBytes: 200},
	}
	must(t, s.AddNode(n))
	if got, want := s.Image("app:1"), (framework.ImageState{Size: 100, Nodes: 1}); got != want {
		t.Errorf("Image(app:1) = %+v, want %+v", got, want)
	}
	if got, want := s.Image("app:2"), (framework.ImageState{Size: 200, Nodes: 1}); got != want {
		t.Errorf("Image(app:2) = %+v, want %+v", got, want)
	}
	must(t, s.RemoveNode("a"))
	if got := s.Image("app:1"); got != (framework.ImageState{}) {
		t.Errorf("Image(app:1) on no node = %+v, want none", got)
	}
}
