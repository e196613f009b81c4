package koordinator

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/koordinator-sh/koordinator/apis/extension"
	slov1alpha1 "github.com/koordinator-sh/koordinator/apis/slo/v1alpha1"
	"github.com/koordinator-sh/koordinator/pkg/scheduler/apis/config"
	v1 "github.com/koordinator-sh/koordinator/pkg/scheduler/apis/config/v1"
	plugin "github.com/koordinator-sh/koordinator/pkg/scheduler/plugins/loadaware"
	"github.com/koordinator-sh/koordinator/pkg/scheduler/plugins/loadaware/estimator"
	corev1 "k8s.io/api/core/v1"
	fwktype "k8s.io/kube-scheduler/framework"
	k8sframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/replay/loadaware"
	"github.com/berth-sched/berth/resource"
)

// Rival plays the case with the real plugin and returns its answer. The process's
// clock must stand at the case's time; it advances by the time that passes in the
// case. Rival returns an error if the case could not be played.
func Rival(c *loadaware.Case) (*loadaware.Answer, error) {
	if now := time.Now(); !now.Equal(c.Now) {
		return nil, fmt.Errorf("the clock stands at %v, not at %v", now, c.Now)
	}
	var given v1.LoadAwareSchedulingArgs
	if err := json.Unmarshal(c.Args, &given); err != nil {
		return nil, err
	}
	v1.SetDefaults_LoadAwareSchedulingArgs(&given)
	answer := &loadaware.Answer{}
	var err error
	if answer.DefaultedArgs, err = json.Marshal(given); err != nil {
		return nil, err
	}
	var args config.LoadAwareSchedulingArgs
	if err := v1.Convert_v1_LoadAwareSchedulingArgs_To_config_LoadAwareSchedulingArgs(&given, &args, nil); err != nil {
		return nil, err
	}
	r := rival{handle: newHandle()}
	p, err := plugin.New(context.Background(), &args, r.handle)
	if err != nil {
		answer.ArgsError = err.Error()
		return answer, nil
	}
	r.plugin = p.(*plugin.Plugin)
	if r.estimator, err = estimator.NewEstimator(&args, r.handle); err != nil {
		return nil, err
	}
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
	for _, node := range c.Nodes {
		if err := r.setNode(node); err != nil {
			return err
		}
		r.nodes = append(r.nodes, node.Name)
	}
	for i := range c.Pods {
		if err := r.event(&loadaware.Event{Type: loadaware.PodAdd, Pod: c.Pods[i]}); err != nil {
			return err
		}
	}
	for _, m := range c.NodeMetrics {
		if err := r.event(&loadaware.Event{Type: loadaware.MetricApply, Metric: m}); err != nil {
			return err
		}
	}
	for _, e := range c.Reserve {
		if err := r.event(&loadaware.Event{Type: loadaware.PodReserve, Node: e.Node, Pod: e.Pod}); err != nil {
			return err
		}
	}
	for _, e := range c.Unreserve {
		if err := r.event(&loadaware.Event{Type: loadaware.PodUnreserve, Node: e.Node, Pod: e.Pod}); err != nil {
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

func (r *rival) setNode(node *api.Node) error {
	n, err := convert[corev1.Node](node)
	if err != nil {
		return err
	}
	info := k8sframework.NewNodeInfo()
	info.SetNode(n)
	r.handle.nodes[n.Name] = info
	return nil
}

func (r *rival) event(e *loadaware.Event) error {
	var pod *corev1.Pod
	if e.Pod != nil {
		var err error
		if pod, err = convert[corev1.Pod](e.Pod); err != nil {
			return err
		}
	}
	switch e.Type {
	case loadaware.PodAdd:
		r.handle.pods.handler.OnAdd(pod, false)
	case loadaware.PodUpdate:
		r.handle.pods.handler.OnUpdate(pod, pod)
	case loadaware.PodDelete:
		r.handle.pods.handler.OnDelete(pod)
	case loadaware.PodReserve:
		if s := r.plugin.Reserve(context.Background(), k8sframework.NewCycleState(), pod, e.Node); !s.IsSuccess() {
			return s.AsError()
		}
	case loadaware.PodUnreserve:
		r.plugin.Unreserve(context.Background(), k8sframework.NewCycleState(), pod, e.Node)
	case loadaware.MetricApply:
		m, err := convert[slov1alpha1.NodeMetric](e.Metric)
		if err != nil {
			return err
		}
		r.handle.metrics.handler.OnUpdate(m, m)
	case loadaware.MetricDelete:
		m := new(slov1alpha1.NodeMetric)
		m.Name = e.Node
		r.handle.metrics.handler.OnDelete(m)
	case loadaware.NodeUpdate:
		return r.setNode(e.Object)
	case loadaware.Question:
		nodes, err := r.ask(e.Pod)
		r.questions = append(r.questions, nodes)
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

// ask filters and scores the pod on every node.
func (r *rival) ask(p *api.Pod) ([]loadaware.NodeAnswer, error) {
	pod, err := convert[corev1.Pod](p)
	if err != nil {
		return nil, err
	}
	ctx, state := context.Background(), k8sframework.NewCycleState()
	if _, s := r.plugin.PreFilter(ctx, state, pod, nil); !s.IsSuccess() {
		return nil, s.AsError()
	}
	var answers []loadaware.NodeAnswer
	for _, name := range r.nodes {
		info := r.handle.nodes[name]
		verdict := r.plugin.Filter(ctx, state, pod, info)
		score, s := r.plugin.Score(ctx, state, pod, info)
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
		answers = append(answers, loadaware.NodeAnswer{
			Name: name, FilterCode: verdict.Code().String(), FilterReason: verdict.Message(),
			Score: max(fwktype.MinNodeScore, min(score, fwktype.MaxNodeScore)), EstimateNode: *list,
		})
	}
	return answers, nil
}
