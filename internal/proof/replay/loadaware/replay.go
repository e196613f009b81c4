package loadaware

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/args"
	"github.com/berth-sched/berth/scoring"
)

// Run plays the case by the rules of a version and returns the library's answer. It
// returns an error if the case could not be played.
func Run(c *Case, rules estimator.Rules) (*Answer, error) {
	decoded, fieldErrs := args.LoadAware(rules)(c.Args)
	if err := args.Join(fieldErrs); err != nil {
		return nil, fmt.Errorf("args: %w", err)
	}
	a := decoded.(*args.LoadAwareScheduling)
	text := *a
	text.TypeMeta = api.TypeMeta{}
	answer := &Answer{}
	var err error
	if answer.DefaultedArgs, err = json.Marshal(text); err != nil {
		return nil, err
	}
	if err := args.Join(a.Validate("")); err != nil {
		answer.ArgsError = err.Error()
		return answer, nil
	}
	// Koordinator takes the default estimator for unknown names.
	config := a.Config()
	config.Arithmetic = estimator.Wrapping
	if refused(c) {
		config.Estimator = asWritten{estimator.NewDefaultEstimator(config), c}
	}
	load, err := estimator.NewLoad(config)
	if err != nil {
		return nil, err
	}
	r := newReplay(load)
	r.lists = rules != "" && rules != estimator.Koordinator18
	if err := r.play(c); err != nil {
		return nil, err
	}
	if err := r.classify(c, answer); err != nil {
		return nil, err
	}
	answer.Questions = r.questions
	answer.Nodes, err = r.ask(c.Pod)
	return answer, err
}

// replay is a case being played.
type replay struct {
	snapshot  *framework.Snapshot
	ledger    *estimator.Ledger
	load      *estimator.Load
	placed    map[api.UID]map[string]*framework.PodInfo // pods in the snapshot, by node
	nodes     []string                                  // in the order of the case
	questions [][]NodeAnswer

	// lists is set if the rules need to know which pods exist. seen holds the
	// existing pods that are on no node or have finished.
	lists bool
	seen  map[api.UID]*framework.PodInfo
}

func newReplay(load *estimator.Load) *replay {
	r := &replay{
		snapshot: framework.NewSnapshot(framework.ZoneInterleaved), load: load,
		placed: map[api.UID]map[string]*framework.PodInfo{}, seen: map[api.UID]*framework.PodInfo{},
	}
	r.ledger = estimator.LedgerOf(r.snapshot)
	return r
}

func (r *replay) play(c *Case) error {
	r.snapshot.SetNow(c.Now)
	for _, n := range c.Nodes {
		if err := r.snapshot.AddNode(n); err != nil {
			return err
		}
		r.nodes = append(r.nodes, n.Name)
	}
	for _, p := range c.Pods {
		if err := r.event(&Event{Type: PodAdd, Pod: p}); err != nil {
			return err
		}
	}
	for _, m := range c.NodeMetrics {
		if err := r.ledger.SetMetric(m); err != nil {
			return err
		}
	}
	for _, e := range c.Reserve {
		if err := r.event(&Event{Type: PodReserve, Node: e.Node, Pod: e.Pod}); err != nil {
			return err
		}
	}
	for _, e := range c.Unreserve {
		if err := r.event(&Event{Type: PodUnreserve, Node: e.Node, Pod: e.Pod}); err != nil {
			return err
		}
	}
	for i := range c.Events {
		if err := r.event(&c.Events[i]); err != nil {
			return err
		}
	}
	return nil
}

// event plays an event as Koordinator's handlers would handle it.
func (r *replay) event(e *Event) error {
	if r.lists && e.Pod != nil {
		if err := r.list(e); err != nil {
			return err
		}
	}
	switch e.Type {
	case PodAdd:
		if r.lists {
			return r.podUpdate(e.Pod) // which has the same effect
		}
		return r.podAdd(e.Pod)
	case PodUpdate:
		return r.podUpdate(e.Pod)
	case PodDelete:
		return r.podDelete(e.Pod)
	case MetricApply:
		return r.ledger.SetMetric(e.Metric)
	case MetricDelete:
		r.ledger.RemoveMetric(e.Node)
		return nil
	case PodReserve, PodUnreserve:
		info, err := r.info(e.Pod)
		if err != nil {
			return err
		}
		if e.Type == PodReserve {
			return r.ledger.Assign(info, r.snapshot.Node(e.Node))
		}
		return r.ledger.Unassign(info, r.snapshot.Node(e.Node))
	case NodeUpdate:
		return r.snapshot.UpdateNode(e.Object)
	case Question:
		nodes, err := r.ask(e.Pod)
		r.questions = append(r.questions, nodes)
		return err
	case TimePass:
		r.snapshot.SetNow(r.snapshot.Now().Add(e.Passed.Duration))
		return nil
	}
	return fmt.Errorf("unknown event %q", e.Type)
}

// list tracks the existing pods that are on no node or have finished, as far as the
// event shows.
func (r *replay) list(e *Event) error {
	p := e.Pod
	switch e.Type {
	case PodAdd, PodUpdate, PodDelete:
	default:
		return nil
	}
	if old := r.seen[p.UID]; old != nil {
		r.ledger.Unobserve(old)
		delete(r.seen, p.UID)
	}
	if e.Type == PodDelete || p.Spec.NodeName != "" && !p.Status.Phase.HasEnded() {
		return nil
	}
	info, err := r.info(p)
	if err != nil {
		return err
	}
	r.seen[p.UID] = info
	r.ledger.Observe(info)
	return nil
}

// podAdd adds the pod, even if it is already there.
func (r *replay) podAdd(p *api.Pod) error {
	node := p.Spec.NodeName
	if node == "" {
		return nil
	}
	info, err := r.info(p)
	if err != nil {
		return err
	}
	if r.placed[p.UID][node] != nil {
		if p.Status.Phase.HasEnded() {
			return nil
		}
		return r.ledger.Assign(info, r.snapshot.Node(node))
	}
	return r.add(info, node)
}

func (r *replay) add(info *framework.PodInfo, node string) error {
	if r.placed[info.Pod.UID] == nil {
		r.placed[info.Pod.UID] = map[string]*framework.PodInfo{}
	}
	r.placed[info.Pod.UID][node] = info
	return r.snapshot.AddPod(info, node)
}

func (r *replay) remove(uid api.UID, node string) error {
	info := r.placed[uid][node]
	if info == nil {
		return nil
	}
	delete(r.placed[uid], node)
	return r.snapshot.RemovePod(info, node)
}

// podUpdate replaces the pod on its node. An earlier node of the pod keeps a stale
// copy, as in Koordinator.
func (r *replay) podUpdate(p *api.Pod) error {
	node := p.Spec.NodeName
	if node == "" {
		return nil
	}
	info, err := r.info(p)
	if err != nil {
		return err
	}
	if p.Status.Phase.HasEnded() {
		if err := r.remove(p.UID, node); err != nil {
			return err
		}
		return r.ledger.Unassign(info, r.snapshot.Node(node))
	}
	if err := r.remove(p.UID, node); err != nil {
		return err
	}
	return r.add(info, node)
}

func (r *replay) podDelete(p *api.Pod) error {
	node := p.Spec.NodeName
	if node == "" {
		return nil
	}
	if err := r.remove(p.UID, node); err != nil {
		return err
	}
	info, err := r.info(p)
	if err != nil {
		return err
	}
	return r.ledger.Unassign(info, r.snapshot.Node(node))
}

// classify answers the questions about pods alone.
func (r *replay) classify(c *Case, a *Answer) (err error) {
	e := r.load.Config().Estimator
	if a.PriorityClass, err = r.class(c.Pod); err != nil {
		return err
	}
	if a.EstimatePod, err = e.EstimatePod(c.Pod); err != nil {
		return err
	}
	a.PodClasses = map[api.UID]string{}
	a.PodEstimates = map[api.UID]map[resource.Name]int64{}
	pods := slices.Clone(c.Pods)
	for _, e := range c.Reserve {
		pods = append(pods, e.Pod)
	}
	for _, p := range pods {
		if a.PodClasses[p.UID], err = r.class(p); err != nil {
			return err
		}
		if a.PodEstimates[p.UID], err = e.EstimatePod(p); err != nil {
			return err
		}
	}
	return nil
}

func (r *replay) class(p *api.Pod) (string, error) {
	info, err := r.info(p)
	if err != nil {
		return "", err
	}
	return string(r.load.Pod(info).Class), nil
}

// ask filters and scores the pod on every node.
func (r *replay) ask(p *api.Pod) ([]NodeAnswer, error) {
	info, err := r.info(p)
	if err != nil {
		return nil, err
	}
	cycle := new(framework.Cycle)
	cycle.Reset(info, r.snapshot, 0, 0)
	pre, status := filter.LoadAware{Load: r.load}.PreFilter(cycle)
	if !status.IsSuccess() && !status.IsSkip() {
		return nil, status.Err()
	}
	cycle.Runner().At = 1
	scorer, status := scoring.LoadAware{Load: r.load}.PreScore(cycle, nil)
	if !status.IsSuccess() {
		return nil, status.Err()
	}
	var answers []NodeAnswer
	for _, name := range r.nodes {
		n := r.snapshot.Node(name)
		var verdict framework.Status
		if pre.Filter != nil {
			verdict = pre.Filter.Filter(info, n)
		}
		estimate, err := r.load.Config().Estimator.EstimateNode(n.Node)
		if err != nil {
			return nil, err
		}
		answers = append(answers, NodeAnswer{
			Name: name, FilterCode: verdict.Code().String(), FilterReason: verdict.Message(),
			Score: scorer.Score(info, n), EstimateNode: estimate,
		})
	}
	return answers, nil
}
