package shapes

import (
	"context"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/gen/workload"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// Shapes that are about the cluster: selectors, services, nominations, extenders,
// pools, and room that is not there.

func terms() Shape {
	return Shape{
		Name: "terms", About: "thousands of selectors: every third pod keeps away from its own label, every fifth spreads it",
		Present: func(n int) int { return atMost(max(2000, 2*n), n) },
		Pod: func(i, _ int) *api.Pod {
			app := fmt.Sprint("app-", i)
			p := pod(fmt.Sprint("pod-", i), map[string]string{"app": app, "tier": "front"})
			self := &api.LabelSelector{MatchLabels: map[string]string{"app": app}}
			if i%3 == 0 {
				p.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{{TopologyKey: api.LabelHostname, LabelSelector: self}},
				}}
			}
			if i%5 == 0 {
				action := api.DoNotSchedule
				if i%10 == 0 {
					action = api.ScheduleAnyway
				}
				p.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{
					{MaxSkew: 5, TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: action, LabelSelector: self},
				}
			}
			return p
		},
	}
}

func nominated() Shape {
	s := equal("nominated", scheduling.Heap)
	s.Name, s.About = "nominated", "equal pods while one pod of higher priority is nominated to a node"
	s.Ready = func(w *World) error {
		p := pod("waiting", map[string]string{"app": "waiting"})
		priority := int32(1000)
		p.Spec.Priority = &priority
		info, err := w.Snapshot.NewPodInfo(p)
		if err != nil {
			return err
		}
		return w.Snapshot.Nominate(info, w.Snapshot.At(0).Name(), "")
	}
	return s
}

// nominationsMost is how many nodes the shape nominations nominates pods to.
const nominationsMost = 100

func nominations() Shape {
	s := equal("nominations", scheduling.Heap)
	s.Name, s.About = "nominations", "equal pods while 100 nodes have a nominated pod of higher priority, which keeps away from its like"
	s.Ready = func(w *World) error {
		for i := range min(nominationsMost, w.nodes) {
			p := pod(fmt.Sprintf("waiting-%02d", i), map[string]string{"app": "waiting"})
			priority := int32(1000)
			p.Spec.Priority = &priority
			p.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{{
					TopologyKey: api.LabelHostname, LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "waiting"}},
				}},
			}}
			info, err := w.Snapshot.NewPodInfo(p)
			if err != nil {
				return err
			}
			if err := w.Snapshot.Nominate(info, w.Snapshot.At(i*w.nodes/min(nominationsMost, w.nodes)).Name(), ""); err != nil {
				return err
			}
		}
		return nil
	}
	return s
}

// namedPools is how many pools the shape named has.
const namedPools = 10

func named() Shape {
	s := equal("named", scheduling.Heap)
	s.Name, s.About = "named", "equal pods of ten tenants, for which a PreFilter names the tenant's nodes, one of ten"
	web := s.Pod
	s.Pod = func(i, n int) *api.Pod {
		p := web(i, n)
		p.Labels["tenant"] = fmt.Sprint("tenant-", i%namedPools)
		return p
	}
	s.Profile = func(p *scheduling.Profile) { p.Filter = append(p.Filter, new(tenants)) }
	return s
}

// tenants names the nodes of a pod's tenant. Nodes belong to tenants in turn.
type tenants struct {
	nodeSet uint64
	nodes   map[string][]string
}

// Name returns "Tenants".
func (*tenants) Name() string { return "Tenants" }

// PreFilter names the nodes. It lists them when nodes have changed.
func (x *tenants) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if x.nodeSet != c.Snapshot.NodeSet() {
		x.nodeSet, x.nodes = c.Snapshot.NodeSet(), map[string][]string{}
		for i, n := range c.Snapshot.All() {
			tenant := fmt.Sprint("tenant-", i%namedPools)
			x.nodes[tenant] = append(x.nodes[tenant], n.Name())
		}
		for _, list := range x.nodes {
			slices.Sort(list)
		}
	}
	return framework.PreFiltered{NodeNames: x.nodes[c.Pod.Pod.Labels["tenant"]]}, framework.Status{}
}

// Filter rejects nothing.
func (*tenants) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

func extended() Shape {
	s := equal("extender", scheduling.Heap)
	s.Name, s.About = "extender", "equal pods with an extender in the process, which keeps its answers: it leaves out one node of eight and scores the others"
	s.Profile = func(p *scheduling.Profile) {
		x := new(localExtender)
		p.Extenders = []scheduling.Extender{{Name: "local", Weight: 1, Filter: x.filter, Prioritize: x.prioritize}}
	}
	return s
}

// localExtender keeps its answers while it is asked about as many nodes: those of the shape
// stay feasible. To make them anew for each pod would cost more than the decision does. If
// the nodes were others, the verdict would name one that was not asked about: an error.
type localExtender struct {
	verdict scheduling.ExtenderVerdict
	asked   int
	scores  []scheduling.HostScore
}

func (x *localExtender) filter(_ context.Context, _ *framework.PodInfo, nodes []*framework.NodeInfo) (scheduling.ExtenderVerdict, error) {
	if x.asked == len(nodes) {
		return x.verdict, nil
	}
	x.asked = len(nodes)
	x.verdict = scheduling.ExtenderVerdict{Failed: map[string]string{}}
	for _, n := range nodes {
		if n.Slot()%8 == 7 {
			x.verdict.Failed[n.Name()] = "left out"
		} else {
			x.verdict.Nodes = append(x.verdict.Nodes, n.Name())
		}
	}
	return x.verdict, nil
}

func (x *localExtender) prioritize(_ context.Context, _ *framework.PodInfo, nodes []*framework.NodeInfo) ([]scheduling.HostScore, error) {
	if len(x.scores) == len(nodes) {
		return x.scores, nil
	}
	x.scores = nil
	for _, n := range nodes {
		x.scores = append(x.scores, scheduling.HostScore{Host: n.Name(), Score: int64(n.Slot() % 11)})
	}
	return x.scores, nil
}

func overload() Shape {
	return Shape{
		Name: "overload", About: "attempts for pods of priority 0 while the cluster is full of such pods",
		Cluster: func(n int) *api.Objects {
			o := nodes(n)
			for j := range 4 * n {
				p := workload.InitPod(j, n)
				o.Pods = append(o.Pods, request(p, milliMebi(1000, 1024)))
			}
			return o
		},
		Pod: func(i, _ int) *api.Pod {
			d := i % 50
			p := pod(fmt.Sprintf("late-%02d-%06d", d, i), map[string]string{"app": fmt.Sprintf("late-%02d", d)})
			return request(p, milliMebi(int64(100+d), 256))
		},
	}
}

func unschedulable() Shape {
	return Shape{
		Name: "unschedulable", About: "equal pods, of which one in ten requests more than any node has",
		Pod: func(i, _ int) *api.Pod {
			p := pod(fmt.Sprintf("web-%06d", i), map[string]string{"app": "web"})
			if i%10 == 9 {
				request(p, milliMebi(64_000, 256))
			}
			return p
		},
	}
}

// service returns a service that selects the pods of an app.
func service(namespace, app string) *api.Service {
	s := &api.Service{ObjectMeta: api.ObjectMeta{Name: app, Namespace: namespace}}
	s.Spec.Selector = map[string]string{"app": app}
	return s
}

// spaces is the number of namespaces of the shape namespaces.
const spaces = 500

func namespaces() Shape {
	return Shape{
		Name: "namespaces", About: "500 namespaces, each with two apps and their services",
		Cluster: func(n int) *api.Objects {
			o := new(Shape).Objects(n)
			for k := range spaces {
				name := fmt.Sprintf("team-%03d", k)
				o.Namespaces = append(o.Namespaces, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: name, Labels: map[string]string{"team": name}}})
				o.Services = append(o.Services, service(name, "front"), service(name, "back"))
			}
			return o
		},
		Pod: func(i, _ int) *api.Pod {
			app := []string{"front", "back"}[i/spaces%2]
			p := pod(fmt.Sprintf("%s-%s-%05x", app, hash(i%spaces), i), map[string]string{"app": app, "pod-template-hash": hash(i % spaces)})
			p.Namespace = fmt.Sprintf("team-%03d", i%spaces)
			return own(p, "apps/v1", "ReplicaSet", app+"-"+hash(i%spaces))
		},
	}
}

func defaultSpread() Shape {
	return Shape{
		Name: "defaultspread", About: "50 Deployments with services, so that the default constraints spread their pods",
		Cluster: func(n int) *api.Objects {
			o := new(Shape).Objects(n)
			for d := range 50 {
				o.Services = append(o.Services, service("default", fmt.Sprintf("app-%02d", d)))
			}
			return o
		},
		Pod: deployments().Pod,
	}
}

// gpu is the resource of the pool.
const gpu = resource.Name("nvidia.com/gpu")

// poolOf is the number of nodes with GPUs in a cluster of n nodes.
func poolOf(n int) int { return max(1, min(40, n/4)) }

func gpuPool() Shape {
	return Shape{
		Name: "gpupool", About: "a tainted pool of 40 nodes with eight GPUs each, in a large cluster",
		Cluster: func(n int) *api.Objects {
			o := new(Shape).Objects(n)
			for i := range poolOf(n) {
				node := o.Nodes[i*n/poolOf(n)]
				node.Labels["pool"] = "gpu"
				node.Spec.Taints = []api.Taint{{Key: "nvidia.com/gpu", Value: "present", Effect: api.TaintEffectNoSchedule}}
				for _, list := range []resource.List{node.Status.Capacity, node.Status.Allocatable} {
					list[gpu] = resource.New(8, resource.DecimalSI)
				}
			}
			return o
		},
		Present: func(n int) int { return 5 * poolOf(n) },
		Home:    func(i, n int) int { return i % poolOf(n) * n / poolOf(n) },
		Pod: func(i, _ int) *api.Pod {
			p := pod(fmt.Sprintf("train-%06d", i), map[string]string{"app": "train"})
			list := milliMebi(200, 1024)
			list[gpu] = resource.New(1, resource.DecimalSI)
			p.Spec.NodeSelector = map[string]string{"pool": "gpu"}
			p.Spec.Tolerations = []api.Toleration{{Key: "nvidia.com/gpu", Operator: api.TolerationOpExists, Effect: api.TaintEffectNoSchedule}}
			return request(p, list)
		},
	}
}
