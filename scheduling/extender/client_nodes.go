package extender

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

var (
	errNil   = errors.New("is nil")
	errEmpty = errors.New("must not be empty")
)

// lacks returns an error if the pod or a node is missing, so that no call is
// possible.
func lacks(pod *framework.PodInfo, nodes []*framework.NodeInfo) error {
	if pod == nil || pod.Pod == nil {
		return &api.InvalidError{Object: "pod", Err: errNil}
	}
	if i := slices.IndexFunc(nodes, func(n *framework.NodeInfo) bool { return n == nil || n.Node == nil }); i >= 0 {
		return &api.InvalidError{Object: fmt.Sprintf("nodes[%d]", i), Err: errNil}
	}
	return nil
}

// args returns the request about nodes.
func (c *Client) args(pod *framework.PodInfo, nodes []*framework.NodeInfo) (*Args, error) {
	if err := lacks(pod, nodes); err != nil {
		return nil, err
	}
	a := &Args{Pod: pod.Pod}
	if c.config.NodeCacheCapable {
		names := make([]string, len(nodes))
		for i, n := range nodes {
			names[i] = n.Name()
		}
		a.NodeNames = &names
		return a, nil
	}
	a.Nodes = &NodeList{Items: make([]Node, len(nodes))}
	for i, n := range nodes {
		item, err := NodeOf(n.Node)
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", n.Name(), err)
		}
		a.Nodes.Items[i] = item
	}
	return a, nil
}

// Filter asks which of the nodes are feasible.
func (c *Client) Filter(ctx context.Context, pod *framework.PodInfo, nodes []*framework.NodeInfo) (scheduling.ExtenderVerdict, error) {
	args, err := c.args(pod, nodes)
	if err != nil {
		return scheduling.ExtenderVerdict{}, err
	}
	var result FilterResult
	if err := c.call(ctx, c.config.FilterVerb, args, &result, len(nodes)); err != nil {
		return scheduling.ExtenderVerdict{}, err
	}
	if result.Error != "" {
		return scheduling.ExtenderVerdict{}, errors.New(shown(result.Error))
	}
	show(result.FailedNodes)
	show(result.FailedAndUnresolvableNodes)
	v := scheduling.ExtenderVerdict{Failed: result.FailedNodes, Unresolvable: result.FailedAndUnresolvableNodes}
	switch {
	case c.config.NodeCacheCapable && result.NodeNames != nil:
		v.Nodes = *result.NodeNames
	case result.Nodes != nil:
		for _, n := range result.Nodes.Items {
			v.Nodes = append(v.Nodes, n.Name)
		}
		v.Emptied = c.config.EmptyNodes
	}
	return v, nil
}

// show makes reasons such as people may see. They stand in conditions of pods, and commands
// print them.
func show(reasons map[string]string) {
	for node, text := range reasons {
		if s := shown(text); s != text {
			reasons[node] = s
		}
	}
}

// Prioritize asks for scores.
func (c *Client) Prioritize(ctx context.Context, pod *framework.PodInfo, nodes []*framework.NodeInfo) ([]scheduling.HostScore, error) {
	args, err := c.args(pod, nodes)
	if err != nil {
		return nil, err
	}
	var result []HostPriority
	if err := c.call(ctx, c.config.PrioritizeVerb, args, &result, len(nodes)); err != nil {
		return nil, err
	}
	scores := make([]scheduling.HostScore, len(result))
	for i, p := range result {
		scores[i] = scheduling.HostScore(p)
	}
	return scores, nil
}

// bindable returns an error unless the pod and the node of a binding have names.
func bindable(pod, node string) error {
	switch {
	case pod == "":
		return &api.InvalidError{Object: "pod", Field: "metadata.name", Err: errEmpty}
	case node == "":
		return &api.InvalidError{Object: "pod " + pod, Field: "spec.nodeName", Err: errEmpty}
	}
	return nil
}

// Bind asks to bind the pod.
func (c *Client) Bind(ctx context.Context, pod *api.Pod, node string) error {
	if pod == nil {
		return &api.InvalidError{Object: "pod", Err: errNil}
	}
	if err := bindable(pod.Name, node); err != nil {
		return err
	}
	args := BindingArgs{PodName: pod.Name, PodNamespace: pod.Namespace, PodUID: pod.UID, Node: node}
	var result BindingResult
	if err := c.call(ctx, c.config.BindVerb, args, &result, 0); err != nil {
		return err
	}
	if result.Error != "" {
		return errors.New(shown(result.Error))
	}
	return nil
}
