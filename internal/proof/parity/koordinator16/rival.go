package koordinator16

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/koordinator-sh/koordinator/apis/extension"
	slov1alpha1 "github.com/koordinator-sh/koordinator/apis/slo/v1alpha1"
	"github.com/koordinator-sh/koordinator/pkg/scheduler/apis/config"
	"github.com/koordinator-sh/koordinator/pkg/scheduler/apis/config/scheme"
	plugin "github.com/koordinator-sh/koordinator/pkg/scheduler/plugins/loadaware"
	"github.com/koordinator-sh/koordinator/pkg/scheduler/plugins/loadaware/estimator"
	corev1 "k8s.io/api/core/v1"
	k8sframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/replay/loadaware"
	"github.com/berth-sched/berth/resource"
)

// Rival plays the case with the real plugin and returns its answer, without the
// defaulted arguments. The process's clock must stand at the case's time; it
// advances by the time that passes in the case. Rival returns an error if the case
// could not be played.
func Rival(c *loadaware.Case) (*loadaware.Answer, error) {
	if now := time.Now(); !now.Equal(c.Now) {
		return nil, fmt.Errorf("the clock stands at %v, not at %v", now, c.Now)
	}
	object, _, err := scheme.Codecs.UniversalDecoder().Decode(c.Args, nil, nil)
	if err != nil {
		return nil, err
	}
	args := object.(*config.LoadAwareSchedulingArgs)
	r := rival{handle: newHandle()}
	p, err := plugin.New(args, r.handle)
	if err != nil {
		return &loadaware.Answer{ArgsError: err.Error()}, nil
	}
	r.plugin = p.(*plugin.Plugin)
	if r.estimator, err = estimator.NewEstimator(args, r.handle); err != nil {
		return nil, err
	}
	if err := r.play(c); err != nil {
		return nil, err
	}
	answer := &loadaware.Answer{Questions: r.questions}
	if err := r.classify(c, answer); err != nil {
		return nil, err
	}
	answer.Nodes, err = r.ask(c.Pod)
	return answer, err
}

// rival is a case being played with the real plugin.
type rival struct {
	handle    *handle
	plugin    *plugin.Plugin
	estimator estimator.Estimator
	nodes     []string // in the order of the case
	questions [][]loadaware.NodeAnswer
}

// convert returns v as the type of the other side, by way of JSON.
func convert[T any](v any) (*T, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	t := new(T)
	return t, json.Unmarshal(text, t)
}

func (r *rival) play(c *loadaware.Case) error {
	var events []loadaware.Event
	for _, n := range c.Nodes {
		r.nodes = append(r.nodes, n.Name)
		events = append(events, loadaware.Event{Type: loadaware.NodeUpdate, Object: n})
	}
	for _, p := range c.Pods {
		events = append(events, loadaware.Event{Type: loadaware.PodAdd, Pod: p})
	}
	for _, m := range c.NodeMetrics {
		events = append(events, loadaware.Event{Type: loadaware.MetricApply, Metric: m})
	}
	for _, e := range c.Reserve {
		events = append(events, loadaware.Event{Type: loadaware.PodReserve, Node: e.Node, Pod: e.Pod})
	}
	for _, e := range c.Unreserve {
		events = append(events, loadaware.Event{Type: loadaware.PodUnreserve, Node: e.Node, Pod: e.Pod})
	}
	events = append(events, c.Events...)
	for i := range events {
		if err := r.event(&events[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *rival) event(e *loadaware.Event) error {
	pod := new(corev1.Pod)
	if e.Pod != nil {
		var err error
		if pod, err = convert[corev1.Pod](e.Pod); err != nil {
			return err
		}
	}
	switch e.Type {
	case loadaware.PodAdd, loadaware.PodUpdate:
		if err := r.handle.pods.Update(pod); err != nil {
			return err
		}
		r.handle.informer.handler.OnUpdate(pod, pod)
	case loadaware.PodDelete:
		if err := r.handle.pods.Delete(pod); err != nil {
			return err
		}
		r.handle.informer.handler.OnDelete(pod)
	case loadaware.PodReserve:
		return r.plugin.Reserve(context.Background(), k8sframework.NewCycleState(), pod, e.Node).AsError()
	case loadaware.PodUnreserve:
		r.plugin.Unreserve(context.Background(), k8sframework.NewCycleState(), pod, e.Node)
	case loadaware.MetricApply:
		m, err := convert[slov1alpha1.NodeMetric](e.Metric)
		if err != nil {
			return err
		}
		return r.handle.metrics.Update(m)
	case loadaware.MetricDelete:
		m := new(slov1alpha1.NodeMetric)
		m.Name = e.Node
		return r.handle.metrics.Delete(m)
	case loadaware.NodeUpdate:
		n, err := convert[corev1.Node](e.Object)
		if err != nil {
			return err
		}
		info := k8sframework.NewNodeInfo()
		info.SetNode(n)
		r.handle.nodes[n.Name] = info
	case loadaware.Question:
		answers, err := r.ask(e.Pod)
		r.questions = append(r.questions, answers)
		return err
	case loadaware.TimePass:
		time.Sleep(e.Passed.Duration)
	default:
		return fmt.Errorf("unknown event %q", e.Type)
	}
	return nil
}

// classify answers the questions about pods alone.
func (r *rival) classify(c *loadaware.Case, a *loadaware.Answer) error {
	a.PodClasses = map[api.UID]string{}
	a.PodEstimates = map[api.UID]map[resource.Name]int64{}
	pods := append([]*api.Pod(nil), c.Pods...)
	for _, e := range c.Reserve {
		pods = append(pods, e.Pod)
	}
	for _, p := range pods {
		class, use, err := r.judge(p)
		if err != nil {
			return err
		}
		a.PodClasses[p.UID], a.PodEstimates[p.UID] = class, use
	}
	var err error
	a.PriorityClass, a.EstimatePod, err = r.judge(c.Pod)
	return err
}

func (r *rival) judge(p *api.Pod) (class string, use map[resource.Name]int64, err error) {
	pod, err := convert[corev1.Pod](p)
	if err != nil {
		return "", nil, err
	}
	estimated, err := r.estimator.EstimatePod(pod)
	if err != nil {
		return "", nil, err
	}
	use = map[resource.Name]int64{}
	for name, x := range estimated {
		use[resource.Name(name)] = x
	}
	return string(extension.GetPodPriorityClassWithDefault(pod)), use, nil
}

// ask filters and scores the pod on every node. If several resources exceed their
// thresholds, the plugin names any of them, so ask repeats until it has named them
// all.
func (r *rival) ask(p *api.Pod) ([]loadaware.NodeAnswer, error) {
	const tries = 40
	pod, err := convert[corev1.Pod](p)
	if err != nil {
		return nil, err
	}
	ctx, state := context.Background(), k8sframework.NewCycleState()
	var answers []loadaware.NodeAnswer
	for _, name := range r.nodes {
		info := r.handle.nodes[name]
		score, s := r.plugin.Score(ctx, state, pod, name)
		if !s.IsSuccess() {
			return nil, s.AsError()
		}
		allocatable, err := r.estimator.EstimateNode(info.Node())
		if err != nil {
			return nil, err
		}
		list, err := convert[resource.List](allocatable)
		if err != nil {
			return nil, err
		}
		a := loadaware.NodeAnswer{
			Name: name, Score: max(k8sframework.MinNodeScore, min(score, k8sframework.MaxNodeScore)), EstimateNode: *list,
		}
		for range tries {
			verdict := r.plugin.Filter(ctx, state, pod, info)
			a.FilterCode, a.FilterReason = verdict.Code().String(), verdict.Message()
			a.FilterReasons = append(a.FilterReasons, a.FilterReason)
			if verdict.IsSuccess() {
				break
			}
		}
		answers = append(answers, a)
	}
	return answers, nil
}
