package framework

import (
	"maps"

	"github.com/berth-sched/berth/framework/api"
)

// Image returns the size of an image in bytes, and how many nodes have it; 0 and 0 if
// none has. The size is that reported by the first node that had the image; it stays
// until no node has the image. Names are normalized as in [api.PodImages].
func (s *Snapshot) Image(name string) (size int64, nodes int) {
	s.must()
	state := s.images.states[name]
	return state.size, state.nodes
}

type imageState struct {
	size  int64
	nodes int
}

// imageTable counts images over the nodes.
type imageTable struct {
	owner  *owner
	states map[string]imageState
}

func (t *imageTable) own(o *owner) *imageTable {
	if t.owner == o {
		return t
	}
	return &imageTable{owner: o, states: maps.Clone(t.states)}
}

func (t *imageTable) add(n *api.Node)    { t.count(n, 1) }
func (t *imageTable) remove(n *api.Node) { t.count(n, -1) }

// count counts each name that the node reports once, even if the node lists it twice.
func (t *imageTable) count(n *api.Node, by int) {
	seen := map[string]bool{}
	for _, image := range n.Status.Images {
		for _, name := range image.Names {
			if seen[name] {
				continue
			}
			seen[name] = true
			state, ok := t.states[name]
			if !ok {
				state.size = image.SizeBytes
			}
			if state.nodes += by; state.nodes > 0 {
				t.states[name] = state
			} else {
				delete(t.states, name)
			}
		}
	}
}
