//go:build full

package scheduling

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scoring"
)

// variedPod has some parts of a pod, in one of several versions each.
func variedPod(r *rand.Rand) *api.Pod {
	p := api.MakePod(fmt.Sprint("p", r.IntN(1000))).Requests([]string{"100m", "200m"}[r.IntN(2)], "1Mi").Obj()
	spec := &p.Spec
	change := func(f func(second bool)) {
		if r.IntN(4) == 0 {
			f(r.IntN(2) == 0)
		}
	}
	pick := func(second bool, a, b string) string {
		if second {
			return b
		}
		return a
	}
	change(func(x bool) { spec.NodeName = pick(x, "a", "b") })
	change(func(x bool) { spec.NodeSelector = map[string]string{"k": pick(x, "a", "b")} })
	change(func(x bool) {
		spec.Tolerations = []api.Toleration{{Key: pick(x, "a", "b"), Operator: api.TolerationOpExists}}
	})
	change(func(x bool) { spec.Containers[0].Image = pick(x, "a", "b") })
	change(func(x bool) {
		spec.Containers[0].Ports = []api.ContainerPort{{HostPort: 80, Protocol: api.Protocol(pick(x, "TCP", "UDP"))}}
	})
	change(func(x bool) {
		spec.Containers[0].Resources.Requests[resource.Name("example.com/"+pick(x, "a", "b"))] = resource.MustParse("1")
	})
	change(func(x bool) {
		name := pick(x, "a", "b")
		spec.ResourceClaims = []api.PodResourceClaim{{Name: "c", ResourceClaimName: &name}}
	})
	change(func(x bool) {
		v := api.Volume{Name: "v"}
		if x {
			v.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: "d"}
		} else {
			v.PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: "c"}
		}
		spec.Volumes = []api.Volume{v}
	})
	change(func(x bool) {
		spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: api.UnsatisfiableConstraintAction(pick(x, "DoNotSchedule", "ScheduleAnyway")),
		}}
	})
	change(func(x bool) {
		term := api.PodAffinityTerm{TopologyKey: "zone", LabelSelector: &api.LabelSelector{
			MatchExpressions: []api.LabelSelectorRequirement{{Key: "k", Operator: api.LabelSelectorOperator(pick(x, "Exists", "malformed"))}},
		}}
		spec.Affinity = &api.Affinity{PodAffinity: &api.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{term}}}
	})
	return p
}

// Pods with the same parts that are equal in the fields of a fixed scope have the
// same scope.
func TestFixedScopes(t *testing.T) {
	spread := []api.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: api.ScheduleAnyway}}
	disks := []scoring.VolumeLimit{{Filter: "EBSLimits"}}
	type kind struct {
		parts framework.PodParts
		key   string
	}
	snapshot := framework.NewSnapshot(framework.ZoneInterleaved)
	var pods []*framework.PodInfo
	r := rand.New(rand.NewPCG(1, 19))
	for range 4000 {
		p, err := snapshot.NewPodInfo(variedPod(r))
		if err != nil {
			t.Fatal(err)
		}
		pods = append(pods, p)
	}
	for _, s := range []framework.Scoper{
		filter.DynamicResources{},
		filter.NodeName{},
		filter.NodePorts{},
		filter.NodeResourcesFit{},
		filter.NodeUnschedulable{},
		filter.TaintToleration{},
		scoring.DynamicResources{},
		scoring.ImageLocality{},
		scoring.NodeResourcesFit{},
		scoring.TaintToleration{},
		filter.InterPodAffinity{},
		scoring.InterPodAffinity{},
		scoring.InterPodAffinity{IgnorePreferredTermsOfExistingPods: true},
		filter.PodTopologySpread{},
		scoring.PodTopologySpread{},
		scoring.PodTopologySpread{DefaultConstraints: spread},
		scoring.NodeResourcesBalancedAllocation{},
		scoring.NodeResourcesBalancedAllocation{AttachedVolumes: disks},
		scoring.VolumeBinding{},
	} {
		var fixed []*framework.PodInfo
		fields := map[framework.PodFields]bool{}
		for _, p := range pods {
			if isFixed(s, allOf(p)) {
				fixed = append(fixed, p)
				fields[s.Scope(p).Pod] = true
			}
		}
		repeated := 0
		for some := range fields {
			known := map[kind][]framework.Scope{} // all that pods have which are equal in these fields
			for _, p := range fixed {
				k, scope := kind{p.Parts(), p.ClassKey(some)}, s.Scope(p)
				if scope.Reads&framework.ReadsCluster != 0 {
					t.Fatalf("%T: %s: has a fixed scope and reads the cluster", s, p.Pod.Name)
				}
				if slices.Contains(known[k], scope) {
					repeated++
				} else {
					known[k] = append(known[k], scope)
				}
			}
			for k, scopes := range known {
				if len(scopes) > 1 && slices.ContainsFunc(scopes, func(x framework.Scope) bool { return x.Pod == some }) {
					t.Fatalf("%T: pods with the parts %b that are equal in the fields %b, which one scope names, have the scopes %+v", s, k.parts, some, scopes)
				}
			}
		}
		if repeated < 100 {
			t.Errorf("%T: only %d pods were compared with others", s, repeated)
		}
	}
}

// selective reads labels of pods that have some, and lets these pods go to one node only.
type selective struct{ asked *int }

func (selective) Name() string { return "Selective" }

func (s selective) Scope(p *framework.PodInfo) framework.Scope {
	*s.asked++
	if len(p.Pod.Labels) == 0 {
		return framework.Scope{}
	}
	return framework.Scope{Pod: framework.FieldLabels, Reads: framework.ReadsNode}
}

func (selective) Filter(p *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if want := p.Pod.Labels["node"]; want != "" && want != n.Name() {
		return framework.UnschedulableStatus("another node")
	}
	return framework.Status{}
}

// A plugin that reads some pods only is asked about each pod, and the class of a pod that is
// read in another way is not guessed.
func TestGuessedClass(t *testing.T) {
	asked := 0
	p := Kubernetes137()
	p.Filter = append(p.Filter, selective{&asked})
	p.Cache.Verify = true
	s, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	snapshot := framework.NewSnapshot(framework.ZoneInterleaved)
	for _, name := range []string{"a", "b", "c"} {
		if err := snapshot.AddNode(api.MakeNode(name, "64", "64Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	guessed := 0
	for i, want := range []string{"", "", "", "b", "", "b", "b", "b", "c", "b", "", "c", "c"} {
		pod := api.MakePod(fmt.Sprint("p", i)).Requests("100m", "1Mi").Obj()
		if want != "" {
			pod.Labels = map[string]string{"node": want}
		}
		info, err := snapshot.NewPodInfo(pod)
		if err != nil {
			t.Fatal(err)
		}
		if g := s.incremental.guesses.of(allOf(info)); g != nil && g.sure && g.holds(info) {
			guessed++
		}
		asked = 0
		d, err := s.Place(snapshot, info)
		if err != nil {
			t.Fatal(err)
		}
		if want != "" && d.Node != want {
			t.Errorf("pod %d is on %s, want %s", i, d.Node, want)
		}
		if asked == 0 {
			t.Errorf("pod %d: the plugin was not asked for its scope", i)
		}
	}
	if want := 4; guessed != want {
		t.Errorf("%d readings were guessed right, want %d", guessed, want)
	}
}

// A guess is forgotten with the classes.
func TestForgottenGuesses(t *testing.T) {
	var f incrementalPath
	parts := podParts{framework.PartClaims, framework.PartClaims}
	f.guesses.list = append(f.guesses.list, guess{parts: parts, class: new(class), sure: true})
	if f.guesses.of(parts) == nil || f.guesses.of(podParts{}) != nil {
		t.Error("a guess is found by the wrong parts")
	}
	if f.forgetClasses(); f.guesses.of(parts) != nil {
		t.Error("a guess stays although the classes are forgotten")
	}
}
