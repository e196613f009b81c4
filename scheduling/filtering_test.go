package scheduling_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/internal/topo"
	"github.com/berth-sched/berth/scheduling"
)

// A Filtering that is held while the snapshot changes answers like one that is new.
func TestFilteringFollows(t *testing.T) {
	sched := made(scheduling.New(scheduling.Kubernetes137()))
	seen := map[string]int{}
	enough.Check(t, seen, map[string]int{"verdicts that change": 100}, func(t *rapid.T) {
		s := heldCluster()
		if rapid.Bool().Draw(t, "hardly any counts are kept") {
			topo.Lower(s)
		}
		var held []*scheduling.Filtering
		var pods []*framework.PodInfo
		for i := range 3 {
			pod := made(s.NewPodInfo(drawHeldPod(t, fmt.Sprint("asked-", i))))
			pods, held = append(pods, pod), append(held, made(sched.Filtering(s, pod)))
		}
		type placed struct {
			pod  *framework.PodInfo
			node string
		}
		var present, nominated []placed
		last := map[string]scheduling.NodeVerdict{}
		for step := range 12 {
			switch rapid.IntRange(0, 13).Draw(t, "change") {
			case 0:
				put(framework.Put(s, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "default", Labels: map[string]string{"team": rapid.SampledFrom([]string{"a", "b"}).Draw(t, "team")}}}))
			case 1:
				put(framework.Put(s, &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "s"}, Spec: api.ServiceSpec{Selector: map[string]string{"app": drawApp(t)}}}))
			case 2:
				put(framework.Put(s, heldClaim(rapid.SampledFrom([]string{"", "v"}).Draw(t, "volume"))))
			case 3, 4:
				if len(present) > 0 {
					i := rapid.IntRange(0, len(present)-1).Draw(t, "removed")
					put(s.RemovePod(present[i].pod, present[i].node))
					present = append(present[:i], present[i+1:]...)
				}
			case 5:
				p := placed{made(s.NewPodInfo(drawHeldPod(t, fmt.Sprint("p-", step)))), fmt.Sprint("n", rapid.IntRange(0, 3).Draw(t, "node"))}
				put(s.Nominate(p.pod, p.node, ""))
				nominated = append(nominated, p)
			case 6:
				if len(nominated) > 0 {
					s.ClearNomination(nominated[0].pod, nominated[0].node)
					nominated = nominated[1:]
				}
			case 7, 8:
				for i := range 40 {
					p := made(s.NewPodInfo(spreadHermit(fmt.Sprint("other-", step, "-", i))))
					made(sched.Filtering(s, p))
				}
			default:
				p := placed{made(s.NewPodInfo(drawHeldPod(t, fmt.Sprint("p-", step)))), fmt.Sprint("n", rapid.IntRange(0, 3).Draw(t, "node"))}
				put(s.AddPod(p.pod, p.node))
				present = append(present, p)
			}
			for i, f := range held {
				fresh := made(sched.Filtering(s, pods[i]))
				for _, n := range s.All() {
					got, want := made(f.Node(n)), made(fresh.Node(n))
					if !reflect.DeepEqual(got.Status.Reasons(), want.Status.Reasons()) || got.Plugin != want.Plugin {
						t.Fatalf("step %d: pod %d on %s: held %v, new %v", step, i, n.Name(), got, want)
					}
					leaving := rapid.SliceOfNDistinct(rapid.SampledFrom(append([]*framework.PodInfo{nil}, n.Pods...)), 0, 3, rapid.ID[*framework.PodInfo]).Draw(t, "leaving")
					leaving = slices.DeleteFunc(leaving, func(p *framework.PodInfo) bool { return p == nil })
					if len(nominated) > 0 || withPorts(n) > 1 || slices.ContainsFunc(leaving, (*framework.PodInfo).HasVolumes) {
						leaving = nil // nominated pods, and several with one port or claim, which no scheduler allows, count in another way in preemption
					}
					got = made(f.Without(leaving, n))
					mark := s.Begin()
					for _, p := range leaving {
						put(s.RemovePod(p, n.Name()))
					}
					want = made(made(sched.Filtering(s, pods[i])).Node(s.Node(n.Name())))
					s.Rollback(mark)
					if n = s.Node(n.Name()); !reflect.DeepEqual(got.Status.Reasons(), want.Status.Reasons()) || got.Plugin != want.Plugin {
						t.Fatalf("step %d: pod %d on %s without %d pods: %v, new %v", step, i, n.Name(), len(leaving), got, want)
					}
					if got, want := made(f.Rejections(n)), made(fresh.Rejections(n)); !reflect.DeepEqual(got, want) {
						t.Fatalf("step %d: pod %d on %s: held rejections %v, new %v", step, i, n.Name(), got, want)
					}
					at := fmt.Sprint(i, n.Name())
					if was, ok := last[at]; ok && was.Plugin != want.Plugin {
						seen["verdicts that change"]++
					}
					last[at] = want
				}
			}
		}
	})
}

// heldCluster has two zones with two nodes each.
func heldCluster() *framework.Snapshot {
	s := framework.NewSnapshot(framework.Arrival)
	for i := range 4 {
		name := fmt.Sprint("n", i)
		put(s.AddNode(api.MakeNode(name, "8", "8Gi").Labels(api.LabelHostname, name, "topology.kubernetes.io/zone", fmt.Sprint("z", i/2)).Obj()))
	}
	put(framework.Put(s, heldClaim("v")))
	put(framework.Put(s, &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "v"}}))
	return s
}

// heldClaim is a claim for one pod at a time, bound to a volume unless the name is empty.
func heldClaim(volume string) *api.PersistentVolumeClaim {
	return &api.PersistentVolumeClaim{
		ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "single", Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
		Spec:       api.PersistentVolumeClaimSpec{AccessModes: []api.PersistentVolumeAccessMode{api.ReadWriteOncePod}, VolumeName: volume},
	}
}

func drawApp(t *rapid.T) string { return rapid.SampledFrom([]string{"x", "y"}).Draw(t, "app") }

// drawHeldPod draws a pod with a few of the things that PreFilter plugins read.
func drawHeldPod(t *rapid.T, name string) *api.Pod {
	b := api.MakePod(name).Labels("app", drawApp(t))
	key := rapid.SampledFrom([]string{api.LabelHostname, "topology.kubernetes.io/zone"})
	if rapid.IntRange(0, 2).Draw(t, "anti") == 0 {
		b = b.PodAntiAffinity(key.Draw(t, "key"), "app="+drawApp(t))
	}
	if rapid.IntRange(0, 3).Draw(t, "affinity") == 0 {
		b = b.PodAffinity(key.Draw(t, "key"), "app="+drawApp(t))
	}
	if rapid.IntRange(0, 3).Draw(t, "spread") == 0 {
		b = b.Spread(1, key.Draw(t, "key"), api.DoNotSchedule, "app="+drawApp(t))
	}
	if rapid.IntRange(0, 3).Draw(t, "port") == 0 {
		b = b.HostPort(80)
	}
	if rapid.IntRange(0, 3).Draw(t, "claim") == 0 {
		b = b.Claim("single")
	}
	return b.Obj()
}

// spreadHermit is a pod with a term and a constraint that no other pod has.
func spreadHermit(name string) *api.Pod {
	return api.MakePod(name).PodAntiAffinity(api.LabelHostname, "own="+name).Spread(1, api.LabelHostname, api.DoNotSchedule, "own="+name).Obj()
}

// A term that is known, but that no pod has, keeps nobody away until one has it again.
func TestFilteringMeetsTermAgain(t *testing.T) {
	s, sched := heldCluster(), made(scheduling.New(scheduling.Kubernetes137()))
	other := made(s.NewPodInfo(api.MakePod("other").PodAntiAffinity(api.LabelHostname, "app=x").Obj()))
	pod := made(s.NewPodInfo(api.MakePod("asked").Labels("app", "x").Obj()))
	put(s.AddPod(other, "n0"))
	made(sched.Filtering(s, pod))
	put(s.RemovePod(other, "n0"))
	held := made(sched.Filtering(s, pod))
	if v := made(held.Node(s.Node("n0"))); !v.Status.IsSuccess() {
		t.Fatalf("alone: %v", v)
	}
	put(s.AddPod(other, "n0"))
	if v := made(held.Node(s.Node("n0"))); v.Plugin != "InterPodAffinity" {
		t.Errorf("%v, want a rejection by InterPodAffinity", v)
	}
}

// Terms of nominated pods count while a pod on some node keeps the pod away, as in kube-scheduler, which does
// not ask the filter otherwise; and then no longer.
func TestFilteringForgetsNominatedTerms(t *testing.T) {
	s, sched := heldCluster(), made(scheduling.New(scheduling.Kubernetes137()))
	hermit := func(name string) *framework.PodInfo {
		return made(s.NewPodInfo(api.MakePod(name).UID(api.UID(name)).Priority(9).PodAntiAffinity(api.LabelHostname, "app=x").Obj()))
	}
	there := hermit("there")
	put(s.AddPod(there, "n1"))
	put(s.Nominate(hermit("nominated"), "n0", ""))
	held := made(sched.Filtering(s, made(s.NewPodInfo(api.MakePod("asked").Labels("app", "x").Obj()))))
	if v := made(held.Node(s.Node("n0"))); v.Plugin != "InterPodAffinity" {
		t.Errorf("%v, want a rejection by InterPodAffinity", v)
	}
	put(s.RemovePod(there, "n1"))
	if v := made(held.Node(s.Node("n0"))); !v.Status.IsSuccess() {
		t.Errorf("once the pod on a node has left: %v", v)
	}
}

// The tables of affinity and spread give up what nobody asks for. A Filtering that is held
// meanwhile finds it again.
func TestFilteringHeldThroughQuestions(t *testing.T) {
	for name, pod := range map[string]*api.Pod{
		"few terms of others":  api.MakePod("web").Labels("app", "few").Obj(),
		"many terms of others": api.MakePod("web").Labels("app", "many").Obj(),
		"own terms":            api.MakePod("web").Labels("app", "web").PodAntiAffinity(api.LabelHostname, "x=y").Obj(),
		"spread":               api.MakePod("web").Labels("app", "web").Spread(1, api.LabelHostname, api.DoNotSchedule, "x=y").Obj(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := heldCluster()
			var present []*framework.PodInfo
			for i := range 40 {
				b := api.MakePod(fmt.Sprint("p", i)).Labels("x", "y").PodAntiAffinity(api.LabelHostname, fmt.Sprintf("app=many,n!=%d", i))
				if i < 3 {
					b = b.PodAntiAffinity(api.LabelHostname, fmt.Sprintf("app=few,n!=%d", i))
				}
				present = append(present, made(s.NewPodInfo(b.Obj())))
				put(s.AddPod(present[i], "n0"))
			}
			sched := made(scheduling.New(scheduling.Kubernetes137()))
			info := made(s.NewPodInfo(pod))
			held := made(sched.Filtering(s, info))
			told := made(held.Rejections(s.Node("n0")))
			if len(told) != 1 {
				t.Fatalf("%v, want one rejection", told)
			}
			for i := range 10_000 {
				made(sched.Schedule(s, made(s.NewPodInfo(api.MakePod(fmt.Sprint("q", i)).Labels("z", fmt.Sprint(i)).Obj()))))
			}
			for _, p := range present { // what is given up follows no changes
				put(s.RemovePod(p, "n0"))
			}
			if v := made(held.Node(s.Node("n0"))); !v.Status.IsSuccess() {
				t.Errorf("without these pods: %v", v)
			}
			if list := made(held.Rejections(s.Node("n0"))); len(list) > 0 {
				t.Errorf("without these pods: %v", list)
			}
		})
	}
}

// put and made end the test if the cluster cannot be made.
func put(err error) {
	if err != nil {
		panic(err)
	}
}

func made[T any](x T, err error) T {
	put(err)
	return x
}

func withPorts(n *framework.NodeInfo) (count int) {
	for _, p := range n.Pods {
		if len(p.HostPorts) > 0 {
			count++
		}
	}
	return count
}

// A Filtering of a pod whose claim another pod takes rejects the nodes, until that pod has gone.
func TestFilteringFollowsClaimsInFlight(t *testing.T) {
	s := gpuCluster(t, 2)
	_, claim := own("shared")
	if err := framework.Put(s, claim); err != nil {
		t.Fatal(err)
	}
	sharing := func(name string) *framework.PodInfo {
		p := claiming(name, "one")
		p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimName: new(claim.Name)}}
		return info(t, s, p)
	}
	sched := build(t, scheduling.Kubernetes137())
	first, second := sharing("first"), sharing("second")
	held, err := sched.Filtering(s, second)
	if err != nil {
		t.Fatal(err)
	}
	want := func(when, message string) {
		t.Helper()
		for _, n := range s.All() {
			if v, err := held.Node(n); err != nil || v.Status.Message() != message {
				t.Errorf("%s, on %s: %q, %v; want %q", when, n.Name(), v.Status.Message(), err, message)
			}
		}
	}
	want("at first", "")
	d, err := sched.Place(s, first)
	if err != nil {
		t.Fatal(err)
	}
	want("in flight", "resource claim default/"+claim.Name+" is in the process of being allocated")
	if err := sched.Release(s, first, d.Node); err != nil {
		t.Fatal(err)
	}
	want("after the pod has gone", "")
}

// What the snapshot learns of services, namespaces and nominations when a Filtering is made does not hide that a
// selector is matched by the first pod later.
func TestFilteringSeesTheFirstPod(t *testing.T) {
	for name, change := range map[string]func(s *framework.Snapshot){
		"nothing": func(*framework.Snapshot) {},
		"service": func(s *framework.Snapshot) {
			put(framework.Put(s, &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "s"}, Spec: api.ServiceSpec{Selector: map[string]string{"app": "x"}}}))
		},
		"namespace": func(s *framework.Snapshot) {
			put(framework.Put(s, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "default", Labels: map[string]string{"team": "a"}}}))
		},
		"nomination": func(s *framework.Snapshot) {
			p := made(s.NewPodInfo(api.MakePod("nominated").Priority(9).Obj()))
			put(s.Nominate(p, "n3", ""))
		},
		"nomination taken back": func(s *framework.Snapshot) {
			p := made(s.NewPodInfo(api.MakePod("nominated").Priority(9).Obj()))
			put(s.Nominate(p, "n3", ""))
			made(made(scheduling.New(scheduling.Kubernetes137())).Filtering(s, p))
			s.ClearNomination(p, "n3")
		},
	} {
		for kind, b := range map[string]api.PodBuilder{
			"spread":        api.MakePod("web").Labels("app", "web").Spread(1, api.LabelHostname, api.DoNotSchedule, "app=web"),
			"anti-affinity": api.MakePod("web").Labels("app", "web").PodAntiAffinity(api.LabelHostname, "app=web"),
		} {
			s, sched := heldCluster(), made(scheduling.New(scheduling.Kubernetes137()))
			pod := made(s.NewPodInfo(b.Obj()))
			put(s.AddPod(made(s.NewPodInfo(api.MakePod("other").PodAntiAffinity(api.LabelHostname, "app=z").Obj())), "n1"))
			made(sched.Filtering(s, pod))
			change(s)
			held := made(sched.Filtering(s, pod))
			first := made(s.NewPodInfo(api.MakePod("first").Labels("app", "web").Obj()))
			put(s.AddPod(first, "n0"))
			if v := made(held.Node(s.Node("n0"))); v.Status.IsSuccess() {
				t.Errorf("%s after %s: %v, want a rejection because of the first pod", kind, name, v)
			}
		}
	}
}
