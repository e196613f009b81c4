package scheduling_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// A moody plugin reads the whole cluster in PreFilter, and fails there while it is in the mood. Its filter passes nodes
// without a label and keeps count of pods; it panics in the method that is named.
type moody struct {
	fails    *int
	panics   bool
	panicsIn string
}

func (moody) Name() string { return "moody" }

func (m moody) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	if *m.fails > 0 {
		*m.fails--
		if m.panics {
			panic("not today")
		}
		return framework.PreFiltered{}, framework.AsStatus(errors.New("not today"))
	}
	return framework.PreFiltered{Filter: m}, framework.Status{}
}

func (m moody) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if n.Node.Labels["moody"] != "" {
		return framework.UnschedulableStatus("it has a label")
	}
	return framework.Status{}
}

func (m moody) AddPod(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status {
	return m.or("AddPod")
}

func (m moody) RemovePod(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status {
	return m.or("RemovePod")
}

func (m moody) Fork() framework.FilterUpdater {
	m.or("Fork")
	return m
}

func (m moody) or(method string) framework.Status {
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
		profile.Filter = append(profile.Filter, moody{fails: &fails, panics: panics})
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
		put(s.AddNode(api.MakeNode("n", "4", "8Gi").Labels("moody", "yes").Obj()))
		put(s.AddPod(podInfo(t, s, api.MakePod("low").UID("low").Requests("3", "1Gi").Obj()), "n"))
		put(s.Nominate(podInfo(t, s, api.MakePod("nominated").UID("nominated").Priority(1000).Obj()), "n", ""))
		profile := scheduling.Kubernetes137()
		profile.Filter = append(profile.Filter, moody{fails: new(int), panicsIn: method})
		sched := build(t, profile)
		f := made(sched.Filtering(s, podInfo(t, s, api.MakePod("p").Requests("1", "1Gi").Obj())))
		_, without := f.Without(s.Node("n").Pods, s.Node("n"))
		_, rejections := f.Rejections(s.Node("n"))
		for question, err := range map[string]error{"Without": without, "Rejections": rejections} {
			if method == "AddPod" && question == "Without" || method == "RemovePod" && question == "Rejections" {
				continue // it may come to an answer
			}
			if err == nil || !strings.Contains(err.Error(), "moody") || !strings.Contains(err.Error(), "not in "+method) {
				t.Errorf("%s: %v, want the panic in %s, and the plugin's name", question, err, method)
			}
		}
		if s.Recording() {
			t.Errorf("panic in %s: a transaction is open", method)
		}
	}
}
