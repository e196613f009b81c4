package shapes

import (
	"fmt"
	"strconv"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/gen/workload"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// Shapes whose pods controllers make, each with the labels that its controller sets.

// pod returns the plain pod of package workload with a name of its own, and labels.
func pod(name string, labels map[string]string) *api.Pod {
	p := workload.Pod(workload.Basic, 0)
	p.Name, p.UID, p.Labels = name, api.UID("uid-"+name), labels
	return p
}

// own makes the pod one of its controller's.
func own(p *api.Pod, version, kind, name string) *api.Pod {
	yes := true
	p.OwnerReferences = []api.OwnerReference{{APIVersion: version, Kind: kind, Name: name, UID: api.UID("uid-" + kind + "-" + name), Controller: &yes}}
	return p
}

// request sets the requests of the pod's container.
func request(p *api.Pod, list resource.List) *api.Pod {
	p.Spec.Containers[0].Resources.Requests = list
	return p
}

func milliMebi(cpu, memory int64) resource.List {
	return resource.List{resource.CPU: resource.Milli(cpu), resource.Memory: resource.New(memory<<20, resource.BinarySI)}
}

// hash is a revision's hash, as a Deployment writes it.
func hash(n int) string { return fmt.Sprintf("%08x", uint32(n)*2654435761) }

func equal(name string, rule scheduling.TieRule) Shape {
	s := Shape{
		Name: "equal-" + name, About: "equal pods of one template, tie rule " + rule.String(),
		Pod: func(i, _ int) *api.Pod {
			return own(pod(fmt.Sprintf("web-%s-%05x", hash(0), i), map[string]string{"app": "web", "pod-template-hash": hash(0)}), "apps/v1", "ReplicaSet", "web-"+hash(0))
		},
	}
	if rule != scheduling.Kubernetes137().TieRule {
		s.Profile = func(p *scheduling.Profile) { p.TieRule = rule }
	}
	return s
}

func deployments() Shape {
	return Shape{
		Name: "deployments", About: "50 Deployments of ten sizes in turn",
		Pod: func(i, _ int) *api.Pod {
			d := i % 50
			set := fmt.Sprintf("app-%02d-%s", d, hash(d))
			p := pod(fmt.Sprintf("%s-%05x", set, i), map[string]string{"app": fmt.Sprintf("app-%02d", d), "pod-template-hash": hash(d)})
			size := int64(d%10 + 1)
			return own(request(p, milliMebi(25*size, 64*size)), "apps/v1", "ReplicaSet", set)
		},
	}
}

func statefulSet() Shape {
	return Shape{
		Name: "statefulset", About: "20 StatefulSets: each pod has its name and its index as labels",
		Pod: func(i, _ int) *api.Pod {
			set := fmt.Sprintf("db-%02d", i%20)
			name := fmt.Sprintf("%s-%d", set, i/20)
			return own(pod(name, map[string]string{
				"app": set, "controller-revision-hash": set + "-" + hash(i%20),
				"statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": strconv.Itoa(i / 20),
			}), "apps/v1", "StatefulSet", set)
		},
	}
}

func job() Shape {
	return Shape{
		Name: "job", About: "indexed Jobs of 1,000 pods: each has its index as a label and an annotation",
		Present: func(n int) int { return n },
		Pod: func(i, _ int) *api.Pod {
			name, index := fmt.Sprintf("job-%d", i/1000), strconv.Itoa(i%1000)
			p := pod(fmt.Sprintf("%s-%s-%05x", name, index, i), map[string]string{
				"batch.kubernetes.io/controller-uid": "uid-Job-" + name, "batch.kubernetes.io/job-name": name,
				"batch.kubernetes.io/job-completion-index": index, "controller-uid": "uid-Job-" + name, "job-name": name,
			})
			p.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": index}
			return own(p, "batch/v1", "Job", name)
		},
	}
}

func bare() Shape {
	return Shape{
		Name: "bare", About: "pods without a controller: each has a label of its own",
		Pod: func(i, _ int) *api.Pod {
			name := fmt.Sprintf("run-%06d", i)
			return pod(name, map[string]string{"run": name})
		},
	}
}

func distinct() Shape {
	return Shape{
		Name: "distinct", About: "each pod has requests of its own",
		Pod: func(i, _ int) *api.Pod {
			p := pod(fmt.Sprintf("sized-%06d", i), map[string]string{"app": "sized"})
			return request(p, resource.List{
				resource.CPU: resource.Milli(int64(20 + i%80)), resource.Memory: resource.New(int64(64<<20+i<<10), resource.BinarySI),
			})
		},
	}
}

// Of the shapes rollout and rolloutspread: each Deployment keeps rolloutPods pods.
const (
	rolloutSets = 20
	rolloutPods = 100
)

func rollout() Shape {
	return Shape{
		Name: "rollout", About: "rolling updates of 20 Deployments: every revision has its hash",
		Present: func(n int) int { return atMost(rolloutSets*rolloutPods, n) },
		Pod: func(i, _ int) *api.Pod {
			d, revision := i%rolloutSets, i/(rolloutSets*rolloutPods)
			app, template := fmt.Sprintf("svc-%02d", d), hash(d+rolloutSets*revision)
			p := pod(fmt.Sprintf("%s-%s-%05x", app, template, i), map[string]string{"app": app, "pod-template-hash": template})
			return own(p, "apps/v1", "ReplicaSet", app+"-"+template)
		},
	}
}

// rolloutSpread is rollout with constraints that tell the revisions of a Deployment apart.
func rolloutSpread() Shape {
	s := rollout()
	s.Name, s.About = "rolloutspread", "the same, and every second Deployment spreads each revision over zones"
	plain := s.Pod
	s.Pod = func(i, n int) *api.Pod {
		p := plain(i, n)
		if i%rolloutSets%2 == 0 {
			p.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{{
				MaxSkew: 2, TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: api.ScheduleAnyway,
				LabelSelector:  &api.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}},
				MatchLabelKeys: []string{"pod-template-hash"},
			}}
		}
		return p
	}
	return s
}

func cron() Shape {
	return Shape{
		Name: "cron", About: "100 CronJobs: each run is a Job of its own with one pod, and soon over",
		Present: func(n int) int { return atMost(500, n) },
		Pod: func(i, _ int) *api.Pod {
			name := fmt.Sprintf("cron-%02d-%d", i%100, 28_000_000+i/100)
			return own(pod(fmt.Sprintf("%s-%05x", name, i), map[string]string{
				"batch.kubernetes.io/controller-uid": "uid-Job-" + name, "batch.kubernetes.io/job-name": name,
				"controller-uid": "uid-Job-" + name, "job-name": name,
			}), "batch/v1", "Job", name)
		},
	}
}

func daemonSet() Shape {
	return Shape{
		Name: "daemonset", About: "DaemonSet pods: each may run on one node, which its affinity names",
		Pod: func(i, n int) *api.Pod {
			set := fmt.Sprintf("agent-%d", i/n)
			p := pod(fmt.Sprintf("%s-%05x", set, i%n), map[string]string{"app": set, "controller-revision-hash": hash(i / n), "pod-template-generation": "1"})
			p.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
					MatchFields: []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{workload.NodeName(i % n)}}},
				}}},
			}}
			for _, key := range []string{"not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"} {
				effect := api.TaintEffectNoSchedule
				if key == "not-ready" || key == "unreachable" {
					effect = api.TaintEffectNoExecute
				}
				p.Spec.Tolerations = append(p.Spec.Tolerations, api.Toleration{Key: "node.kubernetes.io/" + key, Operator: api.TolerationOpExists, Effect: effect})
			}
			return own(request(p, milliMebi(10, 20)), "apps/v1", "DaemonSet", set)
		},
	}
}
