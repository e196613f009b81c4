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

type imageState struct {
	Size  int64
	Nodes int
}

func stateOf(s *framework.Snapshot, image string) imageState {
	size, nodes := s.Image(image)
	return imageState{size, nodes}
}

// The size is that of the first node, until no node has the image.
func TestImage(t *testing.T) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	check := func(step string, want imageState) {
		t.Helper()
		for _, name := range []string{"app:1", "app:1-alias"} {
			if got := stateOf(s, name); got != want {
				t.Errorf("%s: Image(%s) = %+v, want %+v", step, name, got, want)
			}
		}
	}
	check("empty", imageState{})
	must(t, s.AddNode(nodeWithImage("a", "app:1", 100)))
	check("one", imageState{Size: 100, Nodes: 1})
	must(t, s.AddNode(nodeWithImage("b", "app:1", 200)))
	check("two", imageState{Size: 100, Nodes: 2})
	must(t, s.RemoveNode("a"))
	check("the first one left", imageState{Size: 100, Nodes: 1})
	must(t, s.UpdateNode(nodeWithImage("b", "app:1", 300)))
	check("the only one registers again", imageState{Size: 300, Nodes: 1})
	must(t, s.UpdateNode(plainNode("b")))
	check("nobody", imageState{})
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
	if got, want := stateOf(s, "app:1"), (imageState{Size: 100, Nodes: 1}); got != want {
		t.Errorf("Image(app:1) = %+v, want %+v", got, want)
	}
	if got, want := stateOf(s, "app:2"), (imageState{Size: 200, Nodes: 1}); got != want {
		t.Errorf("Image(app:2) = %+v, want %+v", got, want)
	}
	must(t, s.RemoveNode("a"))
	if got := stateOf(s, "app:1"); got != (imageState{}) {
		t.Errorf("Image(app:1) on no node = %+v, want none", got)
	}
}
