package whatif

import (
	"io"

	"github.com/berth-sched/berth/framework"
)

// A Placed is a pod and its node.
type Placed struct {
	// Pod is "namespace/name".
	Pod  string `json:"pod"`
	Node string `json:"node"`
}

// A Placement is where the pods of a list would go.
type Placement struct {
	// Placed holds the pods that fit, in the order of the list.
	Placed []Placed `json:"placed"`
	// Unplaced holds the others, with what the cluster said when their turn came.
	Unplaced []Unplaced `json:"unplaced"`
}

// Place places the pods one after the other, each with those before it in place. A pod
// that fits nowhere is left out and the next one tried. For the pods of a Deployment,
// StatefulSet or Job see [Replicas] and package workload. It is an error to list a pod twice.
// A pod that runs in the snapshot stays on its node, too. One with scheduling gates is not
// tried.
func (p *Planner) Place(pods []*framework.PodInfo) (*Placement, error) {
	if err := p.check(pods); err != nil {
		return nil, err
	}
	var result *Placement
	err := p.try(func(s *framework.Snapshot) (err error) {
		result, err = p.placeAll(s, pods)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// placeAll places the pods and keeps them in the snapshot.
func (p *Planner) placeAll(s *framework.Snapshot, pods []*framework.PodInfo) (*Placement, error) {
	result := &Placement{Placed: make([]Placed, 0, len(pods)), Unplaced: []Unplaced{}}
	for _, pod := range pods {
		node, miss, err := p.placeReady(s, pod)
		switch {
		case err != nil:
			return nil, err
		case miss != nil:
			result.Unplaced = append(result.Unplaced, *miss)
		default:
			result.Placed = append(result.Placed, Placed{pod.Pod.Key(), node})
		}
	}
	return result, nil
}

// WriteTable writes the placement as text for people.
func (r *Placement) WriteTable(w io.Writer) error {
	var t table
	t.line("%d of %d pods fit", len(r.Placed), len(r.Placed)+len(r.Unplaced))
	if len(r.Placed) > 0 {
		t.row("POD", "NODE")
	}
	for _, x := range r.Placed {
		t.row(x.Pod, x.Node)
	}
	t.end()
	if len(r.Unplaced) > 0 {
		t.row("POD", "FITS NOWHERE")
	}
	for _, x := range r.Unplaced {
		t.row(x.Pod, x.Message)
	}
	return t.write(w)
}
