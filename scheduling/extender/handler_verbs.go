package extender

import (
	"context"
	"errors"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/resource"
)

// unknownNode is the reason against a node that the snapshot does not have. An answer gives it for
// unknownMost nodes; the others are not feasible, without a reason.
const (
	unknownNode = "node(s) unknown to the extender"
	unknownMost = 1000
)

// filter answers with the feasible nodes. An error that is not the client's fault
// stands in the result, as the protocol wants it.
func (h *Handler) filter(ctx context.Context, body []byte) ([]byte, error) {
	args := new(Args)
	result, err := h.ask(ctx, body, args, func(q question) (any, error) { return h.feasible(q, args) })
	if malformed := (*requestError)(nil); err == nil || errors.As(err, &malformed) {
		return result, err
	}
	return encode(&FilterResult{Error: h.text(err)})
}

// feasible sorts the nodes of a request by what the filters say of them.
func (h *Handler) feasible(q question, args *Args) (*FilterResult, error) {
	nodes, unknown, err := q.find(args.names())
	if err != nil {
		return nil, err
	}
	verdicts, err := h.Scheduler.FilterNodes(q.snap, q.pod, nodes)
	if err != nil {
		return nil, err
	}
	result := &FilterResult{FailedNodes: map[string]string{}, FailedAndUnresolvableNodes: map[string]string{}}
	for _, name := range unknown {
		result.FailedNodes[name] = unknownNode
	}
	feasible := make(map[string]bool)
	why := reasons{most: min(maxReason, max(minReason, maxReasons/max(1, len(nodes))))}
	for i, n := range nodes {
		switch status := verdicts[i].Status; status.Code() {
		case framework.Success:
			feasible[n.Name()] = true
		case framework.UnschedulableAndUnresolvable:
			result.FailedAndUnresolvableNodes[n.Name()] = why.of(status)
		default:
			result.FailedNodes[n.Name()] = why.of(status)
		}
	}
	result.keep(args, feasible)
	return result, nil
}

// The reasons for one node have maxReason bytes at most, and those for all nodes maxReasons,
// unless each then had less than minReason. They may repeat what is in the pod, and each node
// has them.
const (
	maxReason  = 8 << 10
	minReason  = 256
	maxReasons = 4 << 20
)

// reasons makes the texts of statuses. Equal ones are one string.
type reasons struct {
	most int // bytes of one
	last string
}

// of returns the reasons of a status.
func (r *reasons) of(s framework.Status) string {
	if text := errtext.Cut(s.Message(), r.most); text != r.last {
		r.last = text
	}
	return r.last
}

// keep answers with the feasible nodes, in their given form and order.
func (r *FilterResult) keep(args *Args, feasible map[string]bool) {
	if args.NodeNames != nil {
		names := []string{}
		for _, name := range *args.NodeNames {
			if feasible[name] {
				names = append(names, name)
			}
		}
		r.NodeNames = &names
		return
	}
	r.Nodes = &NodeList{Items: []Node{}}
	for _, n := range args.Nodes.Items {
		if feasible[n.Name] {
			r.Nodes.Items = append(r.Nodes.Items, n)
		}
	}
}

func (h *Handler) prioritize(ctx context.Context, body []byte) ([]byte, error) {
	args := new(Args)
	return h.ask(ctx, body, args, func(q question) (any, error) {
		nodes, _, err := q.find(args.names())
		if err != nil {
			return nil, err
		}
		totals, err := h.Scheduler.ScoreNodes(q.snap, q.pod, nodes)
		if err != nil {
			return nil, err
		}
		highest := h.Scheduler.MaxScore()
		list := make([]HostPriority, len(nodes))
		for i, n := range nodes {
			list[i] = HostPriority{n.Name(), scale(totals[i], highest)}
		}
		return list, nil
	})
}

// scale maps a total from 0 to highest to a score from 0 to MaxPriority, rounded
// half up.
func scale(total, highest int64) int64 {
	if total <= 0 || highest <= 0 {
		return 0
	}
	// The quotient of (2*MaxPriority*total + highest) / (2*highest) is small,
	// however large the weights are.
	return int64(resource.MulDiv(uint64(min(total, highest)), 2*MaxPriority, uint64(highest), 2*uint64(highest)))
}

func (h *Handler) bind(ctx context.Context, body []byte) ([]byte, error) {
	args, err := h.binding(ctx, body)
	if err != nil {
		return nil, err
	}
	if err := h.Bind(ctx, args); err != nil {
		return encode(&BindingResult{Error: h.text(err)})
	}
	return encode(&BindingResult{})
}

// binding decodes a request to bind. Nothing waits for Bind, which may take its time.
func (h *Handler) binding(ctx context.Context, body []byte) (args BindingArgs, err error) {
	err = h.decoded(ctx, body, func() error {
		if err := read(body, &args); err != nil {
			return err
		}
		if err := bindable(args.PodName, args.Node); err != nil {
			return &requestError{err}
		}
		return nil
	})
	return args, err
}
