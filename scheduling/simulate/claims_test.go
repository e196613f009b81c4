package simulate_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/simulate"
	"github.com/google/go-cmp/cmp"
)

const oneDevice = `"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}]}}`

// claimed is a cluster of two nodes in two zones and a device, with claims of several kinds and what else is given.
func claimed(more string) *api.Objects {
	claim := func(name, class, mode string) string {
		return fmt.Sprintf(`{"kind": "PersistentVolumeClaim", "metadata": {"name": %q, "namespace": "default", "uid": %q, "resourceVersion": "7"}, "spec": {"storageClassName": %q, "accessModes": [%q], "resources": {"requests": {"storage": "1Gi"}}}},`, name, name, class, mode)
	}
	return decode(`{"kind": "List", "items": [
		{"kind": "Node", "metadata": {"name": "a", "labels": {"topology.kubernetes.io/zone": "z1", "kubernetes.io/hostname": "a"}}, "status": {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "110"}}},
		{"kind": "Node", "metadata": {"name": "b", "labels": {"topology.kubernetes.io/zone": "z2", "kubernetes.io/hostname": "b"}}, "status": {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "110"}}},
		{"kind": "DeviceClass", "metadata": {"name": "gpu"}},
		{"kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": {"driver": "d.x", "allNodes": true, "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}, "devices": [{"name": "d0"}]}},
		{"kind": "ResourceClaim", "metadata": {"name": "device", "namespace": "default", "uid": "device", "resourceVersion": "7"}, ` + oneDevice + `},
		{"kind": "StorageClass", "metadata": {"name": "late"}, "provisioner": "csi.example.com", "volumeBindingMode": "WaitForFirstConsumer"},
		{"kind": "StorageClass", "metadata": {"name": "now"}, "provisioner": "csi.example.com", "volumeBindingMode": "Immediate"},
		{"kind": "StorageClass", "metadata": {"name": "made"}, "provisioner": "csi.example.com", "volumeBindingMode": "WaitForFirstConsumer"},
		{"kind": "PersistentVolume", "metadata": {"name": "restored", "resourceVersion": "7"}, "spec": {"storageClassName": "made", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "csi": {"driver": "csi.example.com", "volumeHandle": "r"},
			"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["z2"]}]}]}}}, "status": {"phase": "Available"}},
		` + claim("many", "late", "ReadWriteMany") + claim("one", "late", "ReadWriteOnce") + claim("atonce", "now", "ReadWriteMany") + claim("free", "made", "ReadWriteOnce") + more + `]}`)
}

// replicas is a Deployment of pods with what is given in their spec.
func replicas(name string, n int, annotations, spec string) string {
	text := workload("Deployment", "apps/v1", name, fmt.Sprintf(`"replicas": %d,`, n), "2", annotations)
	return strings.Replace(text, `"containers"`, spec+`, "containers"`, 1)
}

func mounts(claim string) string {
	return fmt.Sprintf(`"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": %q}}]`, claim)
}

func ephemeral(class string) string {
	return fmt.Sprintf(`"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": %q, "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}}]`, class)
}

const sharesDevice = `"resourceClaims": [{"name": "e", "resourceClaimName": "device"}]`

// TestClaimsAreBound: of six replicas that share a claim, or have claims of their own, all run that fit where
// the volume or the device can be reached.
func TestClaimsAreBound(t *testing.T) {
	for _, x := range []struct {
		name, spec string
		want       map[string]int // by node, "" for those that wait
	}{
		{"device", sharesDevice, map[string]int{"a": 3, "b": 3}},
		{"volume for many", mounts("many"), map[string]int{"a": 3, "b": 3}},
		{"volume at once", mounts("atonce"), map[string]int{"a": 3, "b": 3}},
		{"volume that is free in zone z2", mounts("free") + `, "nodeSelector": {"kubernetes.io/hostname": "b"}`, map[string]int{"b": 4, "": 2}},
		{"ephemeral volumes", ephemeral("late"), map[string]int{"a": 3, "b": 3}},
		{"ephemeral volumes at once", ephemeral("now"), map[string]int{"a": 3, "b": 3}},
	} {
		for _, off := range []bool{false, true} {
			c := config(claimed(replicas("web", 6, "", x.spec)))
			c.Profiles[0].Cache.Off = off
			got := map[string]int{}
			for _, p := range run(c).Pods {
				got[p.Node]++
			}
			if diff := cmp.Diff(x.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", x.name, diff)
			}
		}
	}
	r := run(config(claimed(replicas("web", 6, "", mounts("one")))))
	zones := map[string]int{}
	for _, p := range r.Pods {
		zones[p.Node]++
	}
	if r.Waiting != 2 || len(zones) != 2 {
		t.Errorf("a volume for one: %v; want 4 pods in the zone of the first, and 2 that wait", zones)
	}
}

// TestDeviceIsFreeAgain: a pod of a dump runs with the only device, for an hour. Another one waits for it.
func TestDeviceIsFreeAgain(t *testing.T) {
	const status = `, "status": {"reservedFor": [{"resource": "pods", "name": "old", "uid": "old"}], "allocation": {"devices": {"results": [{"request": "r", "driver": "d.x", "pool": "p", "device": "d0"}]}}}`
	for _, made := range []bool{false, true} {
		meta, ref, made2 := `"name": "q", "namespace": "default", "uid": "q", "resourceVersion": "7"`, `"resourceClaimName": "q"`, ""
		if made {
			meta += `, "annotations": {"resource.kubernetes.io/pod-claim-name": "c"}, "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "old", "uid": "old", "controller": true}]`
			ref, made2 = `"resourceClaimTemplateName": "t"`, `, "resourceClaimStatuses": [{"name": "c", "resourceClaimName": "q"}]`
		}
		r := run(config(claimed(`
			{"kind": "ResourceClaim", "metadata": {` + meta + `}, ` + oneDevice + status + `},
			{"kind": "Pod", "metadata": {"name": "old", "namespace": "default", "uid": "old", "annotations": {"berth-sched.github.io/run-time": "1h"}},
				"spec": {"nodeName": "a", "containers": [{"name": "c"}], "resourceClaims": [{"name": "c", ` + ref + `}]}, "status": {"phase": "Running"` + made2 + `}},
			{"kind": "Pod", "metadata": {"name": "new", "namespace": "default", "uid": "new", "annotations": {"berth-sched.github.io/run-time": "1h"}}, "spec": {"containers": [{"name": "c"}], ` + sharesDevice + `}}`)))
		if p := r.Pods[1]; p.Pod != "default/new" || p.Bound == nil || *p.Bound < 3600 || *p.Bound > 3660 || r.Waiting != 0 {
			t.Errorf("made from a template: %t: %+v; want it bound after an hour", made, p)
		}
	}
}

// TestUsersOfOneTime: pods that share a device end at one time, and then the next pod gets it.
func TestUsersOfOneTime(t *testing.T) {
	more := `{"kind": "ResourceClaim", "metadata": {"name": "next", "namespace": "default", "uid": "next"}, ` + oneDevice + `},
		{"kind": "Pod", "metadata": {"name": "next", "namespace": "default", "annotations": {"berth-sched.github.io/arrival": "1m"}}, "spec": {"containers": [{"name": "c"}], "resourceClaims": [{"name": "e", "resourceClaimName": "next"}]}}`
	for i := range 3 {
		more += fmt.Sprintf(`, {"kind": "Pod", "metadata": {"name": "p%d", "namespace": "default", "annotations": {"berth-sched.github.io/run-time": "1h"}}, "spec": {"containers": [{"name": "c"}], %s}}`, i, sharesDevice)
	}
	r := run(config(claimed(more)))
	for _, p := range r.Pods {
		if p.Pod == "default/next" && (p.Bound == nil || *p.Bound < 3600 || *p.Bound > 3660) {
			t.Errorf("%+v; want it bound when the three others have ended", p)
		}
	}
}

// TestRecordedClaims: a run with claims that come, are shared and go, on nodes that fail, decides the same when it is
// replayed. At its end the claims of all ephemeral volumes are those of pods that are there.
func TestRecordedClaims(t *testing.T) {
	more := replicas("device", 2, `"berth-sched.github.io/run-time": "7m"`, sharesDevice) + "," +
		replicas("many", 2, `"berth-sched.github.io/run-time": "11m"`, mounts("many")) + "," +
		replicas("scratch", 2, `"berth-sched.github.io/run-time": "13m"`, ephemeral("late")) + "," + replicas("swap", 1, "", ephemeral("now"))
	lonely := job("lonely", "1", 5*time.Minute, 2*time.Hour).Namespace("default").UID("l").Obj()
	lonely.Spec.Volumes = decode(`{"kind": "Pod", "metadata": {"name": "x"}, "spec": {"containers": [{"name": "c"}], ` + ephemeral("now") + `}}`).Pods[0].Spec.Volumes
	o := claimed(more)
	c := config(o)
	c.Until = 2 * time.Hour
	c.Trace.Events = append(c.Trace.Events, simulate.Event{At: 5 * time.Minute, Apply: objects(nil, lonely)})
	for i := range 6 {
		at := time.Duration(10+15*i) * time.Minute
		c.Trace.Events = append(c.Trace.Events, simulate.Event{At: at, Delete: simulate.Ref{Kind: "Node", Name: "a"}}, simulate.Event{At: at + 3*time.Minute, Apply: objects(o.Nodes[:1])})
	}
	want, trace, text := recorded(t, c)
	again := c
	again.Trace = trace
	if _, differences, err := simulate.Replay(context.Background(), again); err != nil || len(differences) > 0 {
		t.Fatalf("%v, %d differences, the first %+v", err, len(differences), differences[:min(1, len(differences))])
	}
	if _, _, text2 := recorded(t, again); untilLast(text) != untilLast(text2) {
		t.Errorf("the replay is recorded as another trace:\n%s", cmp.Diff(strings.Split(text, "\n"), strings.Split(text2, "\n")))
	}
	there, wanted := map[string]bool{}, map[string]bool{}
	for _, e := range trace.Events {
		if e.Apply == nil {
			delete(there, e.Delete.Kind+" "+e.Delete.Name)
			continue
		}
		for _, x := range e.Apply.PersistentVolumeClaims {
			there["PersistentVolumeClaim "+x.Key()] = true
		}
	}
	maps.DeleteFunc(there, func(name string, _ bool) bool { return !strings.HasSuffix(name, "-v") })
	for _, p := range want.Pods {
		if p.Ended == nil && !strings.Contains(p.Pod, "/device") && !strings.Contains(p.Pod, "/many") {
			wanted["PersistentVolumeClaim "+p.Pod+"-v"] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(wanted)), slices.Sorted(maps.Keys(there))); diff != "" || len(there) == 0 {
		t.Errorf("claims at the end (-want +got):\n%s", diff)
	}
	if want.Waiting != 0 || len(want.Pods) < 40 {
		t.Errorf("%d pods, %d wait", len(want.Pods), want.Waiting)
	}
}

// TestRandomClaims: random days with claims of all kinds, and nodes that fail, go the same way without kept answers, and
// when they are replayed. At the end, the users of a claim for devices are there, and one without users has no device.
func TestRandomClaims(t *testing.T) {
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 3))
		specs := []string{sharesDevice, mounts("many"), mounts("one"), mounts("atonce"), mounts("free"), ephemeral("late"), ephemeral("now"), ephemeral("made"), `"resourceClaims": [{"name": "e", "resourceClaimTemplateName": "t"}]`}
		more := []string{`{"kind": "ResourceClaimTemplate", "metadata": {"name": "t", "namespace": "default"}, "spec": {` + oneDevice + `}}`, `{"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 10}`}
		for i := range 2 + r.IntN(4) {
			kind := []string{"Deployment", "StatefulSet", "Job"}[r.IntN(3)]
			v, f := "apps/v1", fmt.Sprintf(`"replicas": %d,`, 1+r.IntN(4))
			if kind == "Job" {
				v, f = "batch/v1", fmt.Sprintf(`"parallelism": %d, "completions": %d,`, 1+r.IntN(4), 4+r.IntN(9))
			}
			a := fmt.Sprintf(`"berth-sched.github.io/run-time": "%dm"`, 1+r.IntN(20))
			if r.IntN(3) == 0 && kind != "Job" {
				a = ""
			}
			text := workload(kind, v, fmt.Sprint("w", i), f, fmt.Sprint(1+r.IntN(3)), a)
			spec := specs[r.IntN(len(specs))]
			if r.IntN(3) == 0 {
				spec += `, "priorityClassName": "high"`
			}
			more = append(more, strings.Replace(text, `"containers"`, spec+`, "containers"`, 1))
		}
		o := claimed(strings.Join(more, ","))
		c := config(o)
		c.Until = 90 * time.Minute
		if r.IntN(2) == 0 {
			c.Groups = new(gang.Rules)
		}
		p := job("lonely", "1", 0, time.Duration(1+r.IntN(60))*time.Minute).Namespace("default").Obj()
		p.Spec.Volumes = decode(`{"kind": "Pod", "metadata": {"name": "x"}, "spec": {"containers": [{"name": "c"}], ` + ephemeral([]string{"now", "made", "late"}[r.IntN(3)]) + `}}`).Pods[0].Spec.Volumes
		if r.IntN(2) == 0 {
			p.UID = "l"
		}
		c.Trace.Events = append(c.Trace.Events, simulate.Event{At: time.Second, Apply: objects(nil, p)})
		for i := range 4 {
			at := time.Duration(10+15*i) * time.Minute
			k := r.IntN(2)
			c.Trace.Events = append(c.Trace.Events, simulate.Event{At: at, Delete: simulate.Ref{Kind: "Node", Name: o.Nodes[k].Name}}, simulate.Event{At: at + 3*time.Minute, Apply: objects(o.Nodes[k : k+1])})
		}
		c.Profiles[0].Cache.Verify = seed%2 == 0
		want, trace, text := recorded(t, c)
		off := c
		off.Profiles = append(off.Profiles[:0:0], c.Profiles...)
		off.Profiles[0].Cache.Verify, off.Profiles[0].Cache.Off = false, true
		plain, _, _ := recorded(t, off)
		if diff := cmp.Diff(want.Pods, plain.Pods); diff != "" {
			t.Fatalf("seed %d: without kept answers (-with +without):\n%s", seed, diff)
		}
		again := c
		again.Trace = trace
		if _, differences, err := simulate.Replay(context.Background(), again); err != nil || len(differences) > 0 {
			t.Errorf("seed %d: %v, %d differences, the first %+v", seed, err, len(differences), differences[:min(1, len(differences))])
		}
		if _, _, text2 := recorded(t, again); untilLast(text) != untilLast(text2) {
			t.Errorf("seed %d: the replay is recorded as another trace:\n%s", seed, cmp.Diff(strings.Split(text, "\n"), strings.Split(text2, "\n")))
		}
		there := map[string]bool{}
		for _, p := range want.Pods {
			there[p.Pod] = p.Ended == nil
		}
		claims := map[string]*api.ResourceClaim{}
		for _, e := range trace.Events {
			if e.Apply != nil {
				for _, x := range e.Apply.ResourceClaims {
					claims[x.Name] = x
				}
			}
		}
		for _, x := range claims {
			if (x.Status.Allocation == nil) != (len(x.Status.ReservedFor) == 0) {
				t.Errorf("seed %d: claim %s has status %+v", seed, x.Name, x.Status)
			}
			for _, u := range x.Status.ReservedFor {
				if !there["default/"+u.Name] {
					t.Errorf("seed %d: claim %s is reserved for %s, which has gone", seed, x.Name, u.Name)
				}
			}
		}
	}
}
