package simulate

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// A checker follows a trace and refuses what cannot happen. Readers, runs and recorders
// share it.
type checker struct {
	text     lineDecoder
	recorded bool
	now      time.Duration
	line     int // of the trace
	known    map[Ref]bool
	left     map[Ref]bool               // what went at the present time
	lost     map[string]bool            // nodes that went and have not come back
	places   map[string]string          // nodes of pods, "" if they wait; not of pods that the run may move
	placed   map[string][]string        // pods by node that were there once, and perhaps are
	orphans  map[string]orphan          // pods of a recorded trace whose node has not come
	awaited  map[string]map[string]bool // these pods by node
	makes    bool                       // the run makes pods of its own

	// Events do not say where they are among the decisions of their time, so a decision is
	// checked when all of that time is known.
	undecided []numbered
}

// numbered is a decision with its line.
type numbered struct {
	Decision
	line int
}

// orphan is where a pod came, and the node that it waits for.
type orphan struct {
	node string
	line int
}

func newChecker() *checker {
	return &checker{
		known: map[Ref]bool{}, left: map[Ref]bool{}, lost: map[string]bool{}, places: map[string]string{}, placed: map[string][]string{},
		orphans: map[string]orphan{}, awaited: map[string]map[string]bool{},
	}
}

// atLine adds the line to an error that does not name one.
func atLine(line int, err error) error {
	var named *TraceError
	if errors.As(err, &named) {
		return err
	}
	return &TraceError{line, err}
}

func (c *checker) time(at time.Duration) error {
	if at < c.now {
		return field("at", at.String(), fmt.Errorf("time goes back from %v", c.now))
	}
	if at > longest {
		return field("at", at.String(), errTime)
	}
	if at > c.now {
		if err := c.settle(); err != nil {
			return err
		}
		clear(c.left)
	}
	c.now = at
	return nil
}

// settle checks the decisions of the present time.
func (c *checker) settle() error {
	for i := range c.undecided {
		if err := c.decide(&c.undecided[i].Decision); err != nil {
			return &TraceError{c.undecided[i].line, err}
		}
	}
	c.undecided = c.undecided[:0]
	return nil
}

// end checks what is left at the end of the trace.
func (c *checker) end() error {
	if err := c.settle(); err != nil {
		return err
	}
	var first *TraceError
	for pod, o := range c.orphans {
		if first == nil || o.line < first.Line {
			first = &TraceError{o.line, field("apply", "pod "+pod, fmt.Errorf("spec.nodeName: node %q never comes", short(o.node)))}
		}
	}
	if first != nil {
		return first
	}
	return nil
}

// come notes an object that came or changed.
func (c *checker) come(x item) {
	c.known[Ref{x.kind, x.name}] = true
	switch x.kind {
	case "Node":
		delete(c.lost, x.name)
		c.found(x.name)
	case "Pod":
		p := x.object.(*api.Pod)
		if p.Status.Phase.HasEnded() {
			return
		}
		if c.recorded || p.ControllerRef() == nil {
			c.place(x.name, p.Spec.NodeName)
		}
		if node := p.Spec.NodeName; node != "" && !c.known[Ref{"Node", node}] {
			c.await(x.name, node)
		}
	case "ReplicationController", "ReplicaSet", "StatefulSet", "Deployment", "DaemonSet", "Job":
		c.makes = true
	}
}

// place notes where a pod is.
func (c *checker) place(pod, node string) {
	c.places[pod] = node
	if node != "" && !c.recorded { // the pods of a recorded trace outlive their node
		c.placed[node] = append(c.placed[node], pod)
	}
}

// await lets a pod wait for its node.
func (c *checker) await(pod, node string) {
	c.adopt(pod)
	c.orphans[pod] = orphan{node, c.line}
	if c.awaited[node] == nil {
		c.awaited[node] = map[string]bool{}
	}
	c.awaited[node][pod] = true
}

// adopt ends the wait of a pod, if it waits for a node.
func (c *checker) adopt(pod string) {
	o, waits := c.orphans[pod]
	if !waits {
		return
	}
	delete(c.orphans, pod)
	if delete(c.awaited[o.node], pod); len(c.awaited[o.node]) == 0 {
		delete(c.awaited, o.node)
	}
}

// found ends the wait of pods for a node. It returns whether there were any.
func (c *checker) found(node string) (any bool) {
	for pod := range c.awaited[node] {
		delete(c.orphans, pod)
		any = true
	}
	delete(c.awaited, node)
	return any
}

// leave notes an object that went.
func (c *checker) leave(ref Ref) {
	delete(c.known, ref)
	c.left[ref] = true
	switch ref.Kind {
	case "Pod":
		delete(c.places, ref.Name)
		c.adopt(ref.Name)
	case "Node":
		c.lost[ref.Name] = true
		c.found(ref.Name) // it went before the recording began
		if c.recorded {
			return
		}
		for _, pod := range c.placed[ref.Name] {
			if c.places[pod] == ref.Name { // the run moves it
				delete(c.places, pod)
			}
		}
		delete(c.placed, ref.Name)
	}
}

// decide refuses a decision that cannot be true, and notes another one.
func (c *checker) decide(d *Decision) error {
	pod, node := Ref{"Pod", d.Pod}, Ref{"Node", d.Node}
	if d.Node != "" && !c.known[node] && !c.left[node] {
		if c.recorded || c.lost[d.Node] {
			if !d.Evicted { // a recorded pod may outlive its node
				return field("decision.node", d.Node, errors.New("there is no such node"))
			}
		}
		c.makes = true // an autoscaler adds nodes, with pods
	}
	if !c.known[pod] && !c.left[pod] && (c.recorded || !c.makes) {
		return field("decision.pod", d.Pod, errors.New("there is no such pod"))
	}
	place, sure := c.places[d.Pod]
	sure = sure && !c.left[pod] // otherwise it may be the one before
	switch {
	case d.Evicted && d.Node == "":
		return field("decision.node", "", errors.New("is missing: an evicted pod was on a node"))
	case d.Evicted && sure && place == "":
		return field("decision.evicted", "true", fmt.Errorf("pod %s is on no node", short(d.Pod)))
	case d.Evicted && sure && place != d.Node:
		return field("decision.node", d.Node, fmt.Errorf("pod %s is on node %s", short(d.Pod), short(place)))
	case d.Evicted:
		delete(c.places, d.Pod) // it may be evicted again until it goes, and be bound again
	case d.Node == "":
	case sure && place != "":
		return field("decision.node", d.Node, fmt.Errorf("pod %s is on node %s already", short(d.Pod), short(place)))
	case c.left[pod] || c.left[node] || !c.known[pod]:
		delete(c.places, d.Pod)
	default:
		if _, sure := c.places[d.Pod]; sure {
			c.place(d.Pod, d.Node)
		}
	}
	return nil
}
