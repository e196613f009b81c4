package whatif

import (
	"fmt"
	"io"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// A Comparison is what becomes of a list of pods under two profiles.
type Comparison struct {
	// A is the Planner's profile, B the other.
	A ProfileResult `json:"a"`
	B ProfileResult `json:"b"`
	// Differ holds the pods that do not go to the same node, in the order of the list.
	Differ []Difference `json:"differ"`
}

// A ProfileResult is what a profile makes of the pods.
type ProfileResult struct {
	// Placed and Unplaced count pods.
	Placed   int `json:"placed"`
	Unplaced int `json:"unplaced"`
	// Capacity says how well the cluster is used afterwards, by resource: CPU, memory,
	// and others that any of the pods requests.
	Capacity []Capacity `json:"capacity"`
}

// A Difference is a pod that two profiles do not treat alike.
type Difference struct {
	// Pod is "namespace/name".
	Pod string `json:"pod"`
	// A and B are its nodes, "" for none.
	A string `json:"a,omitempty"`
	B string `json:"b,omitempty"`
}

// A Capacity says how the nodes' amounts of one resource are used, as shares of their
// sum, from 0 to 1.
type Capacity struct {
	Resource resource.Name `json:"resource"`
	// Utilization is what pods request.
	Utilization float64 `json:"utilization"`
	// Fragmentation is what is free, but on nodes without room for a pod of the list:
	// the mean over the pods of the list.
	Fragmentation float64 `json:"fragmentation"`
	// Stranded is what is free on nodes with room for none of the pods of the list.
	Stranded float64 `json:"stranded"`
}

// Compare places the pods under the Planner's profile and under another one, each in
// the cluster as it is, and compares the results. Room for a pod means its requests
// alone: the free amounts of a node, and a place for one more pod.
func (p *Planner) Compare(other scheduling.Profile, pods []*framework.PodInfo) (*Comparison, error) {
	if err := p.check(pods); err != nil {
		return nil, err
	}
	q, err := New(other, p.snapshot)
	if err != nil {
		return nil, err
	}
	q.Seek(p.start)
	c := &Comparison{Differ: []Difference{}}
	a, err := p.result(pods, &c.A)
	if err != nil {
		return nil, fmt.Errorf("profile %q: %w", p.profile.Name, err)
	}
	b, err := q.result(pods, &c.B)
	if err != nil {
		return nil, fmt.Errorf("profile %q: %w", other.Name, err)
	}
	for i, pod := range pods {
		if a[i] != b[i] {
			c.Differ = append(c.Differ, Difference{pod.Pod.Key(), a[i], b[i]})
		}
	}
	return c, nil
}

// result places the pods and returns the node of each.
func (p *Planner) result(pods []*framework.PodInfo, r *ProfileResult) (nodes []string, err error) {
	nodes = make([]string, len(pods))
	err = p.try(func(s *framework.Snapshot) error {
		for i, pod := range pods {
			node, miss, err := p.placeReady(s, pod)
			switch {
			case err != nil:
				return err
			case miss != nil:
				r.Unplaced++
			default:
				r.Placed++
				nodes[i] = node
			}
		}
		r.Capacity = capacityOf(s, pods)
		return nil
	})
	return nodes, err
}

// shape is what equal pods of a list request.
type shape struct {
	requests []request
	pods     int
}

// request is an amount of a resource, by its index in the schema.
type request struct {
	index  int
	amount int64
}

// requestsOf are the amounts of a vector that are not 0.
func requestsOf(v resource.Vector) (list []request) {
	for i, amount := range v {
		if amount > 0 {
			list = append(list, request{i, amount})
		}
	}
	return list
}

// shapesOf groups pods by their requests, in the order of their first pods.
func shapesOf(pods []*framework.PodInfo) (list []shape) {
	index := map[string]int{}
	for _, pod := range pods {
		key := pod.ClassKey(framework.FieldRequests)
		i, known := index[key]
		if !known {
			i = len(list)
			index[key] = i
			list = append(list, shape{requests: requestsOf(pod.Requests)})
		}
		list[i].pods++
	}
	return list
}

func (x *shape) fits(n *framework.NodeInfo) bool {
	if int64(len(n.Pods)) >= n.AllowedPods {
		return false
	}
	for _, r := range x.requests {
		if r.amount > n.Allocatable.At(r.index)-n.Requested.At(r.index) {
			return false
		}
	}
	return true
}

// capacityOf measures a cluster by the shapes of the pods.
func capacityOf(s *framework.Snapshot, pods []*framework.PodInfo) []Capacity {
	shapes := shapesOf(pods)
	schema := s.Schema()
	type sums struct{ total, used, split, stranded float64 }
	all, wanted := make([]sums, schema.Len()), make([]bool, schema.Len())
	wanted[resource.IndexCPU], wanted[resource.IndexMemory] = true, true
	for i := range shapes {
		for _, r := range shapes[i].requests {
			if r.index < len(wanted) {
				wanted[r.index] = true
			}
		}
	}
	for _, n := range s.All() {
		homeless := 0
		for i := range shapes {
			if !shapes[i].fits(n) {
				homeless += shapes[i].pods
			}
		}
		for i := range all {
			x, has, used := &all[i], float64(n.Allocatable.At(i)), float64(n.Requested.At(i))
			free := max(0, has-used)
			x.total, x.used = x.total+has, x.used+used
			if len(pods) > 0 {
				x.split += float64(free * (float64(homeless) / float64(len(pods))))
				if homeless == len(pods) {
					x.stranded += free
				}
			}
		}
	}
	list := []Capacity{}
	for i, x := range all {
		if x.total > 0 && wanted[i] {
			list = append(list, Capacity{schema.Name(i), x.used / x.total, x.split / x.total, x.stranded / x.total})
		}
	}
	return list
}

// WriteTable writes the comparison as text for people.
func (c *Comparison) WriteTable(w io.Writer) error {
	var t table
	t.line("%d pods go elsewhere or fit only under one profile", len(c.Differ))
	t.row("PROFILE", "PLACED", "UNPLACED", "RESOURCE", "USED", "FRAGMENTED", "STRANDED")
	percent := func(x float64) string { return fmt.Sprintf("%.1f%%", float64(100*x)) }
	for _, side := range []struct {
		name   string
		result *ProfileResult
	}{{"a", &c.A}, {"b", &c.B}} {
		for _, x := range side.result.Capacity {
			t.row(side.name, side.result.Placed, side.result.Unplaced, x.Resource, percent(x.Utilization), percent(x.Fragmentation), percent(x.Stranded))
		}
	}
	t.end()
	if len(c.Differ) > 0 {
		t.row("POD", "A", "B")
	}
	for _, d := range c.Differ {
		t.row(d.Pod, d.A, d.B)
	}
	return t.write(w)
}
