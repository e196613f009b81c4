package karmada

import (
	"math/rand/v2"

	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/estimator/pb"
	nodeutil "github.com/karmada-io/karmada/pkg/estimator/server/nodes"
	lifted "github.com/karmada-io/karmada/pkg/util/lifted/scheduler/framework"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling/multicluster"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/live"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/random"
)

// nodes compares the accurate estimator. Karmada's server needs a cluster to talk
// to, so nodes calls its working parts in the same way as the server.
func nodes(r *rand.Rand) live.Outcome {
	l, c := random.Request(r), random.Claim(r)
	requirements := pb.ReplicaRequirements{ResourceRequest: l, NodeClaim: &pb.NodeClaim{
		NodeAffinity: c.HardNodeAffinity, NodeSelector: c.NodeSelector, Tolerations: c.Tolerations,
	}}
	want := estimate{}
	s := framework.NewSnapshot(framework.Arrival)
	var input []any
	for i := range 1 + r.IntN(8) {
		n, pods := random.Node(r, random.Name(i))
		input = append(input, n, pods)
		want.add(theirNode(n, pods, requirements))
		if err := s.AddNode(live.Convert[*api.Node](n)); err != nil {
			panic(err)
		}
		for _, p := range pods {
			info, err := s.NewPodInfo(live.Convert[*api.Pod](p))
			if err != nil {
				panic(err)
			}
			if err := s.AddPod(info, n.Name); err != nil {
				panic(err)
			}
		}
	}
	estimators := multicluster.Nodes{
		Snapshots: map[string]*framework.Snapshot{"m": s},
		Filter:    []framework.Plugin{filter.NodeUnschedulable{}, filter.TaintToleration{}, filter.NodeAffinity{}},
	}
	report, err := estimators.Explain(&api.Cluster{ObjectMeta: api.ObjectMeta{Name: "m"}}, &capacity.Replica{Pod: ourPod(l, c)})
	if err != nil {
		return live.Differ("Nodes", want, err.Error(), input)
	}
	got := estimate{}
	for _, n := range report.Nodes {
		if n.Plugin != "" {
			got.PerNode = append(got.PerNode, -1)
		} else {
			got.PerNode = append(got.PerNode, n.Replicas)
		}
	}
	got.Replicas = report.Replicas
	if string(live.Encode(got)) != string(live.Encode(want)) {
		return live.Differ("Nodes", want, got, append(input, l, c))
	}
	return live.Outcome{}
}

type estimate struct {
	PerNode  []int64
	Replicas int64
}

func (e *estimate) add(n int64) {
	e.PerNode = append(e.PerNode, n)
	e.Replicas += max(0, n)
}

// theirNode returns -1 for a node that the replica may not run on.
func theirNode(n *corev1.Node, pods []*corev1.Pod, requirements pb.ReplicaRequirements) int64 {
	affinity := nodeutil.GetRequiredNodeAffinity(requirements)
	if !nodeutil.IsNodeAffinityMatched(n, affinity) || !nodeutil.IsTolerationMatched(n, requirements.NodeClaim.Tolerations) {
		return -1
	}
	info := lifted.NewNodeInfo(pods...)
	info.SetNode(n)
	rest := info.Allocatable.Clone().SubResource(info.Requested)
	rest.AllowedPodNumber = max(0, rest.AllowedPodNumber-int64(len(info.Pods)))
	return rest.MaxDivided(requirements.ResourceRequest)
}

func ourPod(l corev1.ResourceList, c *workv1.NodeClaim) *api.Pod {
	p := &corev1.Pod{}
	p.Name = "replica"
	p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: l}}}
	p.Spec.NodeSelector, p.Spec.Tolerations = c.NodeSelector, c.Tolerations
	if c.HardNodeAffinity != nil {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: c.HardNodeAffinity}}
	}
	return live.Convert[*api.Pod](p)
}
