package framework

import (
	"maps"

	"github.com/berth-sched/berth/framework/api"
)

// An ImageState is what the snapshot knows about an image.
type ImageState struct {
	// Size is in bytes, as the first node that had the image reported it. It stays
	// until no node has the image.
	Size int64
	// Nodes is how many nodes have the image.
	Nodes int
}

// Image returns what the snapshot knows about an image, the zero value if no node has
// it. Names are normalized as in [api.PodImages].
func (s *Snapshot) Image(name string) ImageState {
	s.must()
	return s.images.states[name]
}

// imageTable counts images over the nodes.
type imageTable struct {
	owner  *owner
	states map[string]ImageState
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
				state.Size = image.SizeBytes
			}
			if state.Nodes += by; state.Nodes > 0 {
				t.states[name] = state
			} else {
				delete(t.states, name)
			}
		}
	}
}
