package rival

import (
	"errors"
	"strings"

	v1 "k8s.io/api/core/v1"
	extender "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-sched/berth/internal/proof/golden/pipeline"
)

// cutter is an extender that only takes part in preemption, for pods with that
// annotation.
type cutter struct {
	fwk.Extender // nil, so that a call of any other method panics
	verb         string
	ignorable    bool
}

func (c cutter) Name() string                { return c.verb }
func (c cutter) IsInterested(_ *v1.Pod) bool { return true }
func (c cutter) SupportsPreemption() bool    { return true }
func (c cutter) IsIgnorable() bool           { return c.ignorable }
func (c cutter) IsBinder() bool              { return false }
func (c cutter) IsFilter() bool              { return false }
func (c cutter) IsPrioritizer() bool         { return false }

var errCut = errors.New(pipeline.ErrCut.Error())

func (c cutter) ProcessPreemption(_ *v1.Pod, victims map[string]*extender.Victims, _ fwk.NodeInfoLister) (map[string]*extender.Victims, error) {
	out := map[string]*extender.Victims{}
	for node, v := range victims {
		keep, kept, ok := pipeline.Cut(c.verb, node, len(v.Pods))
		if !ok {
			return nil, errCut
		}
		if !keep {
			continue
		}
		cut := &extender.Victims{NumPDBViolations: v.NumPDBViolations}
		for _, i := range kept {
			cut.Pods = append(cut.Pods, v.Pods[i])
		}
		out[node] = cut
	}
	return out, nil
}

// cut gives the profile the extenders of a pod. done removes them again.
func cut(profile framework.Framework, p *v1.Pod) (done func()) {
	list := field[[]fwk.Extender](profile, "extenders")
	before := *list
	for _, verb := range pipeline.Cutters(p.Annotations) {
		verb, ignorable := strings.CutSuffix(verb, "?")
		*list = append(*list, cutter{verb: verb, ignorable: ignorable})
	}
	return func() { *list = before }
}
