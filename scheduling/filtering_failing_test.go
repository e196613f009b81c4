package scheduling_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/topo"
	"github.com/berth-sched/berth/scheduling"
)

// A touchy plugin reads the whole cluster in PreFilter, and fails there while it is in the mood. Its filter passes nodes
// without a label and keeps count of pods; it panics in the method that is named.
type touchy struct {
	fails    *int
	panics   bool
	panicsIn string
}

func (touchy) Name() string { return "touchy" }

func (m touchy) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	if *m.fails > 0 {
		*m.fails--
		if m.panics {
			panic("not today")
		}
		return framework.PreFiltered{}, framework.AsStatus(errors.New("not today"))
	}
	return framework.PreFiltered{Filter: m}, framework.Status{}
}

func (m touchy) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if n.Node.Labels["touchy"] != "" {
		return framework.UnschedulableStatus("it has a label")
	}
	return framework.Status{}
}

func (m touchy) AddPod(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status {
	return m.or("AddPod")
}

func (m touchy) RemovePod(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status {
	return m.or("RemovePod")
}

func (m touchy) Fork() framework.FilterUpdater {
	m.or("Fork")
	return m
}

func (m touchy) or(method string) framework.Status {
	if m.panicsIn == method {
		panic("not in " + method)
	}
	return framework.Status{}
}

// TestFilteringAfterAFailure: a Filtering whose PreFilter plugin fails after a change answers with the error, and
// with the truth once the plugin does not fail any more.
func TestFilteringAfterAFailure(t *testing.T) {
	for _, panics := range []bool{false, true} {
		fails := 0
		s := framework.NewSnapshot(framework.Arrival)
		put(s.AddNode(api.MakeNode("small", "1", "1Gi").Obj()))
		profile := scheduling.Kubernetes137()
		profile.Filter = append(profile.Filter, touchy{fails: &fails, panics: panics})
		f := made(build(t, profile).Filtering(s, podInfo(t, s, api.MakePod("large").Requests("4", "1Gi").Obj())))
		for failures := range 4 {
			fails = failures
			put(s.AddPod(podInfo(t, s, api.MakePod("other").Obj()), "small"))
			for question := range 6 {
				v, err := f.Node(s.Node("small"))
				if failed := question < failures; failed != (err != nil) {
					t.Errorf("%d failures, question %d: error %v", failures, question, err)
				}
				if err == nil && v.Plugin != "NodeResourcesFit" {
					t.Errorf("%d failures, question %d: %+v, want a rejection by NodeResourcesFit", failures, question, v)
				}
			}
			put(s.RemovePod(podInfo(t, s, api.MakePod("other").Obj()), "small"))
		}
	}
}

// TestFilteringFollowsAClaimWithoutAClass: the owner of a claim takes its device class away, which makes
// DynamicResources fail.
func TestFilteringFollowsAClaimWithoutAClass(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	put(s.AddNode(api.MakeNode("small", "1", "1Gi").Obj()))
	put(framework.Put(s, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}))
	claim := func(class string) {
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "c", UID: "c"}}
		c.Spec.Devices.Requests = []api.DeviceRequest{{Name: "r", Exactly: &api.ExactDeviceRequest{DeviceClassName: class, Count: 1}}}
		put(framework.Put(s, c))
	}
	claim("gpu")
	pod := api.MakePod("large").UID("large").Requests("4", "1Gi").Obj()
	pod.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimName: new("c")}}
	f := made(build(t, scheduling.Kubernetes137()).Filtering(s, podInfo(t, s, pod)))
	for _, class := range []string{"gpu", "", "gpu", ""} {
		claim(class)
		for range 3 {
			if v, err := f.Node(s.Node("small")); err == nil && v.Status.IsSuccess() {
				t.Errorf("class %q: the pod of 4 CPUs fits on 1", class)
			}
		}
	}
}

// TestUpdatersThatPanic: panics of a filter that counts pods are errors, which name it, of all questions.
func TestUpdatersThatPanic(t *testing.T) {
	for _, method := range []string{"AddPod", "RemovePod", "Fork"} {
		s := framework.NewSnapshot(framework.Arrival)
		put(s.AddNode(api.MakeNode("n", "4", "8Gi").Labels("touchy", "yes").Obj()))
		put(s.AddPod(podInfo(t, s, api.MakePod("low").UID("low").Requests("3", "1Gi").Obj()), "n"))
		put(s.Nominate(podInfo(t, s, api.MakePod("nominated").UID("nominated").Priority(1000).Obj()), "n", ""))
		profile := scheduling.Kubernetes137()
		profile.Filter = append(profile.Filter, touchy{fails: new(int), panicsIn: method})
		sched := build(t, profile)
		f := made(sched.Filtering(s, podInfo(t, s, api.MakePod("p").Requests("1", "1Gi").Obj())))
		_, without := f.Without(s.Node("n").Pods, s.Node("n"))
		_, rejections := f.Rejections(s.Node("n"))
		for question, err := range map[string]error{"Without": without, "Rejections": rejections} {
			if method == "AddPod" && question == "Without" || method == "RemovePod" && question == "Rejections" {
				continue // it may come to an answer
			}
			if err == nil || !strings.Contains(err.Error(), "touchy") || !strings.Contains(err.Error(), "not in "+method) {
				t.Errorf("%s: %v, want the panic in %s, and the plugin's name", question, err, method)
			}
		}
		if s.Recording() {
			t.Errorf("panic in %s: a transaction is open", method)
		}
	}
}

// TestFilteringFollowsTime: a claim whose binding conditions are not met in time is to be allocated anew, which a Filtering that
// is held notices.
func TestFilteringFollowsTime(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	s := framework.NewSnapshot(framework.Arrival)
	put(s.AddNode(api.MakeNode("n", "10", "10Gi").Obj()))
	put(framework.Put(s, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}))
	claim := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "c", UID: "c"}}
	claim.Spec.Devices.Requests = []api.DeviceRequest{{Name: "r", Exactly: &api.ExactDeviceRequest{DeviceClassName: "gpu", Count: 1}}}
	claim.Status.Allocation = &api.AllocationResult{AllocationTimestamp: new(start)}
	claim.Status.Allocation.Devices.Results = []api.DeviceRequestAllocationResult{{Request: "r", Driver: "d", Pool: "p", Device: "x", BindingConditions: []string{"Ready"}}}
	put(framework.Put(s, claim))
	pod := api.MakePod("p").Requests("1", "1Gi").Obj()
	pod.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimName: new("c")}}
	sched, p := build(t, scheduling.Kubernetes137()), podInfo(t, s, pod)
	s.SetNow(start)
	held, answers := made(sched.Filtering(s, p)), map[string]bool{}
	for minutes := range 16 {
		s.SetNow(start.Add(time.Duration(minutes) * time.Minute))
		got, want := made(held.Node(s.At(0))), made(made(sched.Filtering(s, p)).Node(s.At(0)))
		if !got.Status.Same(want.Status) {
			t.Errorf("after %d minutes: %v, want %v", minutes, got.Status, want.Status)
		}
		answers[want.Status.String()] = true
	}
	if len(answers) != 2 {
		t.Errorf("the answers are %v, want two", answers)
	}
}

// An announcer reads, when PreFilter runs, what its scope says, and its filter passes nodes with that label.
type announcer struct {
	reads framework.Reads
	label framework.Text
}

func (announcer) Name() string { return "announcer" }

func (a announcer) Scope(*framework.PodInfo) framework.Scope { return framework.Scope{Reads: a.reads} }

func (a announcer) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	label := fmt.Sprint(c.Snapshot.Len(), " ", c.Snapshot.Now().Unix())
	if a.reads == framework.ReadsNodeSet {
		label = fmt.Sprint(c.Snapshot.Len(), " ", c.Snapshot.NodeSet())
	}
	return framework.PreFiltered{Filter: announcer{a.reads, framework.Text(label)}}, framework.Status{}
}

func (a announcer) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.UnschedulableStatus(a.label)
}

// TestFilteringFollowsWhatIsDeclared: a Filtering that is held follows nodes for a plugin of your own that reads them in
// PreFilter, and time and all else for one that reads the cluster or declares nothing.
func TestFilteringFollowsWhatIsDeclared(t *testing.T) {
	for _, reads := range []framework.Reads{framework.ReadsNodeSet, framework.ReadsCluster} {
		s, now := framework.NewSnapshot(framework.Arrival), time.Unix(1_700_000_000, 0)
		put(s.AddNode(api.MakeNode("n", "10", "10Gi").Obj()))
		s.SetNow(now)
		profile := scheduling.Kubernetes137()
		profile.Filter = append(profile.Filter, announcer{reads: reads})
		sched, p := build(t, profile), podInfo(t, s, api.MakePod("p").Requests("1", "1Gi").Obj())
		held := made(sched.Filtering(s, p))
		for i, change := range []func(){
			func() {},
			func() { put(s.AddNode(api.MakeNode("other", "10", "10Gi").Obj())) },
			func() { put(s.UpdateNode(api.MakeNode("other", "20", "10Gi").Obj())) },
			func() { put(s.RemoveNode("other")) },
			func() { s.SetNow(now.Add(time.Minute)) },
			func() { s.SetNow(now) },
		} {
			change()
			got := made(held.Node(s.Node("n")))
			want := made(made(sched.Filtering(s, p)).Node(s.Node("n")))
			if got.Plugin != "announcer" || !got.Status.Same(want.Status) {
				t.Errorf("reads %b, change %d: %v of %s, want %v", reads, i, got.Status, got.Plugin, want.Status)
			}
		}
	}
}

// TestSpreadWithoutDomains: a term whose topology key no node has any more spreads nothing, whatever was asked while
// some node had it, and after the counts were given up.
func TestSpreadWithoutDomains(t *testing.T) {
	node := func(labels ...string) *api.Node {
		return api.MakeNode("a", "16", "64Gi").Labels(append(labels, api.LabelHostname, "a")...).Obj()
	}
	for _, asked := range []bool{false, true} {
		for _, lower := range []bool{false, true} {
			s, sched := framework.NewSnapshot(framework.Arrival), build(t, scheduling.Kubernetes137())
			put(s.AddNode(node("odd", "1")))
			put(s.AddNode(api.MakeNode("b", "16", "64Gi").Labels(api.LabelHostname, "b").Obj()))
			for i := range 10 {
				put(s.AddPod(podInfo(t, s, api.MakePod(fmt.Sprint("z", i)).Labels("app", "z").Obj()), "a"))
			}
			pod := podInfo(t, s, api.MakePod("p").Labels("app", "z").PodAntiAffinity("odd", "app=z").PodAntiAffinity(api.LabelHostname, "app=z").Obj())
			if asked {
				made(made(sched.Filtering(s, pod)).Node(s.At(1)))
			}
			put(s.UpdateNode(node()))
			if lower {
				topo.Lower(s)
			}
			parts, ok, err := made(sched.Filtering(s, pod)).Spread()
			if !ok || err != nil || len(parts.Spreads) != 1 || len(parts.Spreads[0].Rules) != 1 {
				t.Fatalf("asked %v, low limits %v: %+v, %v, %v, want one rule", asked, lower, parts.Spreads, ok, err)
			}
			for i := range 300 { // others try something, and take it back
				mark := s.Begin()
				other := api.MakePod(fmt.Sprint("o", i)).Labels("app", "z").Spread(1, api.LabelHostname, api.ScheduleAnyway, fmt.Sprint("app in (z,o", i, ")"))
				made(sched.Place(s, podInfo(t, s, other.PreferPodAntiAffinity(1, api.LabelHostname, fmt.Sprint("app=q", i)).Obj())))
				for len(s.At(0).Pods) > 0 {
					put(s.RemovePodAt(s.At(0).Pods[0], s.At(0)))
				}
				s.Rollback(mark)
			}
			rule := parts.Spreads[0].Rules[0]
			if a, b := rule.Place(s.At(0)), rule.Place(s.At(1)); a.Pods != 10 || b.Pods != 0 || a.Domain == b.Domain {
				t.Errorf("asked %v, low limits %v: places %+v and %+v, want 10 pods and 0", asked, lower, a, b)
			}
		}
	}
}
