package whatif

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/workload"
)

// maxHeadroom bounds the replicas that Headroom places by default.
const maxHeadroom = 1_000_000

// affordable is how many replicas Headroom places only to know their nodes.
const affordable = 1000

// A Headroom is how many more replicas of a pod fit.
type Headroom struct {
	// Pod is "namespace/name" of the pattern.
	Pod string `json:"pod"`
	// Gates are the scheduling gates of the pod: replicas wait until all are removed. The
	// rest of the answer is as without them.
	Gates []string `json:"gates,omitempty"`
	// Total is how many replicas fit, all together.
	Total int `json:"total"`
	// Stopped is set if there is room for more than were asked for.
	Stopped bool `json:"stopped,omitempty"`
	// Limits says what rejects the next replica, the most frequent reason first.
	Limits []Reason `json:"limits,omitempty"`
	// Domains are those of a spread constraint or anti-affinity term, by name, if it keeps
	// replicas off nodes that have room for them. They are left out if more replicas fit
	// than were asked for, or cannot be counted; see [Planner.Headroom].
	Domains []DomainHeadroom `json:"domains,omitempty"`
	// Nodes holds every node in the snapshot's order.
	Nodes []NodeHeadroom `json:"nodes"`
}

// A NodeHeadroom is how many of the replicas go to one node, and what keeps the next
// one off.
type NodeHeadroom struct {
	Node string `json:"node"`
	Pods int    `json:"pods"`
	// Shared is set if the node's domain takes fewer replicas than its nodes have room
	// for, and more than a thousand replicas fit in all. Pods is then what the node has room
	// for. Scores say which nodes of the domain get the replicas; see [Planner.Place].
	Shared  bool     `json:"shared,omitempty"`
	Plugin  string   `json:"plugin,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
}

// A DomainHeadroom is how many of the replicas go to the nodes of one topology domain.
type DomainHeadroom struct {
	// Key and Value are the label of its nodes.
	Key   string `json:"key"`
	Value string `json:"value"`
	Pods  int    `json:"pods"`
	// Room is how many the nodes have room for. If it is Pods, the domain is full; then
	// more room in it may let replicas into others.
	Room int `json:"room"`
}

// Headroom counts how many more replicas of the pod fit: what placing one after the
// other comes to before the first fails, but at most the given number; 0 means a
// million, or fewer pods that take more memory ([workload.WeightOf]). The pod itself need not be placed.
//
// Replicas are counted if nothing but the room of nodes, and rules that spread them over
// domains, decides how many fit: spread constraints, anti-affinity and affinity of the pod.
// Only one rule may have domains of several nodes, such as zones. Where the scores of the
// nodes could change the number, as they may if zones of very different sizes have a
// constraint on hosts too, and for pods with volumes, the scheduler places every replica.
// It also does so if the given number is too low, and to find which nodes of a domain get
// the replicas, if there are few. A plugin that has nothing to do for the pod, neither now
// nor with a node full of replicas, is taken to have nothing to do at all.
func (p *Planner) Headroom(pod *framework.PodInfo, atMost int) (*Headroom, error) {
	if err := p.snapshot.CheckPod(pod); err != nil {
		return nil, err
	}
	if atMost < 0 {
		return nil, &api.InvalidError{Object: "pod " + pod.Pod.Key(), Field: "atMost", Value: strconv.Itoa(atMost), Err: errors.New("must not be negative")}
	}
	if atMost == 0 {
		atMost = maxHeadroom
		if weight := workload.WeightOf(templateOf(pod.Pod)); weight > 1 { // its replicas share less than those of a template
			atMost /= 4 * weight
		}
	}
	h := newHeadroom(p, pod, atMost)
	counted := false
	err := p.try(func(s *framework.Snapshot) (err error) {
		counted, err = h.counted(s)
		return err
	})
	counted = counted && h.Total <= h.atMost && (h.Domains == nil || h.Total > p.affordable)
	if err == nil && !counted {
		domains := h.Domains // holds on: only which of their nodes get the replicas is open
		if h.Total > h.atMost {
			domains = nil
		}
		err = p.try(h.together)
		h.Domains = domains
	}
	if err != nil {
		return nil, err
	}
	return &h.Headroom, nil
}

func newHeadroom(p *Planner, pod *framework.PodInfo, atMost int) *headroom {
	pod = pod.Pending()
	return &headroom{Headroom: Headroom{Pod: pod.Pod.Key(), Gates: pod.Gates()}, planner: p, pod: pod, atMost: atMost}
}

// headroom is the work on a Headroom.
type headroom struct {
	Headroom
	planner *Planner
	pod     *framework.PodInfo
	atMost  int
	seen    []seenReason
	perNode bool // if counted: what a node takes does not depend on other nodes

	// anyOrder is set if counted and no other replicas or pods, placed in whatever order,
	// let more replicas fit.
	anyOrder bool

	replicas []*framework.PodInfo // of one node; nodes are filled one after the other
}

// seenReason shares the texts of equal rejections.
type seenReason struct {
	plugin string
	status framework.Status
	texts  []string
	nodes  int
}

// capacities counts the replicas that each node takes, or fills it and empties it again:
// all nodes, or those whose places are open. For the others it only asks. It returns what
// rejects the next replica; false if that is not the answer.
func (h *headroom) capacities(s *framework.Snapshot, f *scheduling.Filtering, open []bool) (verdicts []scheduling.NodeVerdict, ok bool, err error) {
	verdicts = make([]scheduling.NodeVerdict, s.Len())
	checked, awaits := false, devices.AwaitsShared(s, h.pod)
	for i, slot := range s.Slots() {
		if !open[i] {
			if verdicts[i], err = f.Node(s.AtSlot(slot)); err != nil {
				return nil, false, err
			}
			continue
		}
		if checked { // by one node that was filled
			count, v, ok, err := f.Count(s.AtSlot(slot))
			if err != nil {
				return nil, false, err
			}
			if ok {
				h.Nodes[i].Pods, verdicts[i] = count, v
				continue
			}
		}
		if awaits { // the first replica chooses for all
			return nil, false, nil
		}
		mark := s.Begin()
		ok, err := h.fill(s, f, slot, i, &verdicts[i])
		if ok && err == nil && h.Nodes[i].Pods > 0 && !checked {
			checked = true
			ok = f.Rebind() == nil && f.NodeOnly()
		}
		s.Rollback(mark)
		if !ok || err != nil {
			return nil, false, err
		}
	}
	return verdicts, true, nil
}

// fill places replicas on a node until one is rejected. It returns false if there are
// enough before: which nodes get the last ones is for the scheduler to say.
func (h *headroom) fill(s *framework.Snapshot, f *scheduling.Filtering, slot, i int, v *scheduling.NodeVerdict) (ok bool, err error) {
	node := &h.Nodes[i]
	objects := s.Objects()
	for {
		if *v, err = f.Node(s.AtSlot(slot)); err != nil {
			return false, err
		}
		if !v.Status.IsSuccess() {
			return s.Objects() == objects, nil
		}
		if node.Pods == h.atMost {
			return false, nil
		}
		if node.Pods == len(h.replicas) {
			pod, err := unnamed(h.pod, node.Pods+1) // 0 may have a place
			if err != nil {
				return false, err
			}
			h.replicas = append(h.replicas, pod)
		}
		err = f.Place(h.replicas[node.Pods], s.AtSlot(slot))
		var fit *scheduling.FitError
		switch {
		case errors.As(err, &fit):
			*v = scheduling.NodeVerdict{Plugin: fit.Rejections[0].Plugin, Status: fit.Rejections[0].Status}
			return s.Objects() == objects, nil
		case err != nil:
			return false, err
		}
		node.Pods++
	}
}

// unnamed is a replica under a name that no pod of a cluster can have.
func unnamed(pod *framework.PodInfo, i int) (*framework.PodInfo, error) {
	return pod.Named(pod.Pod.Name + "~" + strconv.Itoa(i))
}

// together places one replica after the other.
func (h *headroom) together(s *framework.Snapshot) error {
	h.reset(s)
	places := make(map[string]int, s.Len())
	for i, n := range s.All() {
		places[n.Name()] = i
	}
	var last *framework.PodInfo
	for {
		pod, err := unnamed(h.pod, h.Total)
		if err != nil {
			return err
		}
		last = pod
		if h.Total == h.atMost {
			if err := h.planner.makeClaims(s, pod); err != nil {
				return err
			}
			_, err := h.planner.sched.Schedule(s, pod)
			if h.Stopped = err == nil; h.Stopped {
				return nil
			}
			_, err = unplaced(pod, err)
			if err != nil {
				return err
			}
			break
		}
		name, miss, err := h.planner.place(s, pod)
		if err != nil {
			return err
		}
		if miss != nil {
			break
		}
		h.Total++
		h.Nodes[places[name]].Pods++
	}
	f, err := h.planner.sched.Filtering(s, last)
	if err != nil {
		return err
	}
	for i, n := range s.All() {
		v, err := f.Node(n)
		if err != nil {
			return err
		}
		if !v.Status.IsSuccess() {
			h.rejected(i, v)
		}
	}
	h.finish()
	return nil
}

func (h *headroom) reset(s *framework.Snapshot) {
	h.Total, h.Stopped, h.Limits, h.Domains, h.seen = 0, false, nil, nil, nil
	h.Nodes = make([]NodeHeadroom, s.Len())
	for i, n := range s.All() {
		h.Nodes[i].Node = n.Name()
	}
}

// rejected notes what keeps the next replica off a node.
func (h *headroom) rejected(i int, v scheduling.NodeVerdict) {
	for k := range h.seen {
		if r := &h.seen[k]; r.plugin == v.Plugin && r.status.Same(v.Status) {
			r.nodes++
			h.Nodes[i].Plugin, h.Nodes[i].Reasons = r.plugin, r.texts
			return
		}
	}
	h.seen = append(h.seen, seenReason{v.Plugin, v.Status, v.Status.Reasons(), 1})
	h.Nodes[i].Plugin, h.Nodes[i].Reasons = v.Plugin, h.seen[len(h.seen)-1].texts
}

func (h *headroom) finish() {
	list := reasons{}
	for _, r := range h.seen {
		for _, text := range r.texts {
			list.add(r.plugin, text, r.nodes)
		}
	}
	h.Limits = list.sorted()
}

// heading is the first line of a table.
func (h *Headroom) heading() string {
	more := ""
	if h.Stopped {
		more = " and more"
	}
	return fmt.Sprintf("%d%s replicas of %s fit", h.Total, more, h.Pod)
}

// templateOf returns the template of a pod.
func templateOf(p *api.Pod) *api.PodTemplateSpec {
	return &api.PodTemplateSpec{ObjectMeta: p.ObjectMeta, Spec: p.Spec}
}
