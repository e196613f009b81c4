package workload_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/workload"
)

// TestJobLabels: the pods of a Job have the labels that an API server gives its template, unless it has them, or the
// Job has a selector of its own.
func TestJobLabels(t *testing.T) {
	for _, x := range []struct {
		name     string
		uid      api.UID
		template map[string]string
		byHand   *bool
		want     map[string]string
	}{
		{"manifest", "", map[string]string{"app": "a"}, nil, map[string]string{"app": "a", "job-name": "j", "batch.kubernetes.io/job-name": "j"}},
		{"cluster", "u", nil, new(false), map[string]string{
			"job-name": "j", "batch.kubernetes.io/job-name": "j", "controller-uid": "u", "batch.kubernetes.io/controller-uid": "u",
		}},
		{"its own", "", map[string]string{"job-name": "x"}, nil, map[string]string{"job-name": "x", "batch.kubernetes.io/job-name": "j"}},
		{"by hand", "u", map[string]string{"app": "a"}, new(true), map[string]string{"app": "a"}},
	} {
		j := &api.Job{ObjectMeta: api.ObjectMeta{Name: "j", Namespace: "default", UID: x.uid}}
		j.Spec.Template.Labels, j.Spec.ManualSelector = x.template, x.byHand
		w := workload.Of(&api.Objects{Jobs: []*api.Job{j}})[0]
		pods, err := w.Pods(nil)
		if err != nil || len(pods) != 1 || !maps.Equal(pods[0].Labels, x.want) {
			t.Errorf("%s: labels %v, %v; want %v", x.name, pods[0].Labels, err, x.want)
		}
		if j.Spec.Template.Labels["job-name"] != x.template["job-name"] {
			t.Errorf("%s: the template has changed", x.name)
		}
	}
}

// TestTemplateHash: the pods of a Deployment have the hash of its template, or that of the ReplicaSet which has the
// template.
func TestTemplateHash(t *testing.T) {
	template := func(app, hash string) api.PodTemplateSpec {
		x := api.PodTemplateSpec{ObjectMeta: api.ObjectMeta{Labels: map[string]string{"app": app}}}
		if hash != "" {
			x.Labels["pod-template-hash"] = hash
		}
		return x
	}
	set := func(name, owner string, template api.PodTemplateSpec, age int) *api.ReplicaSet {
		x := &api.ReplicaSet{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default", CreationTimestamp: time.Unix(int64(1000-age), 0)}}
		x.OwnerReferences = []api.OwnerReference{{Kind: "Deployment", Name: owner, Controller: new(true)}}
		x.Spec.Template = template
		return x
	}
	for _, x := range []struct {
		name     string
		template api.PodTemplateSpec
		sets     []*api.ReplicaSet
		want     string
	}{
		{"no sets", template("web", ""), nil, "65f44fcd74"},
		{"another template", template("db", ""), nil, "5c94776896"},
		{"a hash in the template", template("web", "mine"), nil, "65f44fcd74"},
		{"its set", template("web", ""), []*api.ReplicaSet{set("web-a", "web", template("web", "a"), 1)}, "a"},
		{"the older of two sets", template("web", ""), []*api.ReplicaSet{
			set("web-a", "web", template("web", "a"), 1), set("web-b", "web", template("web", "b"), 2), set("web-c", "web", template("web", "c"), 1),
		}, "b"},
		{"a set of another template", template("web", ""), []*api.ReplicaSet{set("web-a", "web", template("db", "a"), 1)}, "65f44fcd74"},
		{"a set of another Deployment", template("web", ""), []*api.ReplicaSet{set("web-a", "db", template("web", "a"), 1)}, "65f44fcd74"},
		{"a set without a hash", template("web", ""), []*api.ReplicaSet{set("web-a", "web", template("web", ""), 1)}, "65f44fcd74"},
	} {
		d := &api.Deployment{ObjectMeta: api.ObjectMeta{Name: "web", Namespace: "default"}}
		d.Spec.Template, d.Spec.Replicas = x.template, new(int32(2))
		before := maps.Clone(x.template.Labels)
		w := workload.Of(&api.Objects{Deployments: []*api.Deployment{d}, ReplicaSets: x.sets})[0]
		pods, err := w.Pods(nil)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"app": before["app"], "pod-template-hash": x.want}
		for _, p := range pods {
			if !maps.Equal(p.Labels, want) {
				t.Errorf("%s: labels %v, want %v", x.name, p.Labels, want)
			}
		}
		if !maps.Equal(d.Spec.Template.Labels, before) {
			t.Errorf("%s: the template has changed", x.name)
		}
	}
}

// TestNumberPod: a pod has the name of its number, and what its kind of workload adds.
func TestNumberPod(t *testing.T) {
	meta := api.ObjectMeta{Name: "w", Namespace: "default"}
	spec := api.PodTemplateSpec{ObjectMeta: api.ObjectMeta{Labels: map[string]string{"app": "a"}, Annotations: map[string]string{"note": "n"}}}
	job := func(mode api.CompletionMode) *api.Objects {
		return &api.Objects{Jobs: []*api.Job{{ObjectMeta: meta, Spec: api.JobSpec{Template: spec, CompletionMode: &mode, ManualSelector: new(true)}}}}
	}
	const index = "batch.kubernetes.io/job-completion-index"
	for _, x := range []struct {
		name        string
		objects     *api.Objects
		labels      map[string]string // besides app
		annotations map[string]string // besides note
	}{
		{
			"StatefulSet", &api.Objects{StatefulSets: []*api.StatefulSet{{ObjectMeta: meta, Spec: api.StatefulSetSpec{Template: spec}}}},
			map[string]string{"statefulset.kubernetes.io/pod-name": "w-7", "apps.kubernetes.io/pod-index": "7"},
			nil,
		},
		{"ReplicaSet", &api.Objects{ReplicaSets: []*api.ReplicaSet{{ObjectMeta: meta, Spec: api.ReplicaSetSpec{Template: spec}}}}, nil, nil},
		{"indexed Job", job(api.IndexedCompletion), map[string]string{index: "7"}, map[string]string{index: "7"}},
		{"other Job", job(api.NonIndexedCompletion), nil, nil},
		{"Job", job(""), nil, nil},
	} {
		w := workload.Of(x.objects)[0]
		p := w.Pod()
		w.NumberPod(p, 3)
		w.NumberPod(p, 7)
		labels, annotations := map[string]string{"app": "a"}, map[string]string{"note": "n"}
		maps.Copy(labels, x.labels)
		maps.Copy(annotations, x.annotations)
		if p.Name != "w-7" || !maps.Equal(p.Labels, labels) || !maps.Equal(p.Annotations, annotations) {
			t.Errorf("%s: %s with labels %v and annotations %v, want %v and %v", x.name, p.Name, p.Labels, p.Annotations, labels, annotations)
		}
		if len(spec.Labels) != 1 || len(spec.Annotations) != 1 {
			t.Fatalf("%s: the template has changed", x.name)
		}
	}
}

// podOf is a pod of a ReplicaSet of the Deployment web.
func podOf(name, hash string) *api.Pod {
	p := api.MakePod(name).Labels("app", "web", "pod-template-hash", hash).Obj()
	p.OwnerReferences = []api.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-" + hash, Controller: new(true)}}
	return p
}

// TestHashOfPods: without ReplicaSets, the pods that are there say which hash they have, if they agree.
func TestHashOfPods(t *testing.T) {
	d := &api.Deployment{ObjectMeta: api.ObjectMeta{Name: "web", Namespace: "default"}}
	d.Spec.Template.Labels = map[string]string{"app": "web"}
	hash := func(o *api.Objects, old ...workload.Workload) string {
		w := workload.Of(o)[0]
		if len(old) > 0 {
			w.Replace(&old[0])
		}
		return w.Pod().Labels["pod-template-hash"]
	}
	own := hash(&api.Objects{Deployments: []*api.Deployment{d}})
	with := func(pods ...*api.Pod) *api.Objects {
		return &api.Objects{Deployments: []*api.Deployment{d}, Pods: pods}
	}
	elsewhere := podOf("c", "y")
	elsewhere.Namespace = "other"
	for _, x := range []struct {
		name string
		of   *api.Objects
		want string
	}{
		{"one hash", with(podOf("a", "x"), podOf("b", "x"), elsewhere), "x"},
		{"two hashes", with(podOf("a", "x"), podOf("b", "y"), podOf("c", "z")), own},
		{"of another Deployment", with(elsewhere), own},
	} {
		if got := hash(x.of); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
	old := workload.Of(with(podOf("a", "x")))[0]
	if got := hash(with(), old); got != "x" {
		t.Errorf("a new version with the same template: %q, want x", got)
	}
	changed := *d
	changed.Spec.Template.Labels = map[string]string{"app": "web", "v": "2"}
	if got := hash(&api.Objects{Deployments: []*api.Deployment{&changed}}, old); got == "x" {
		t.Error("a new version with another template has the hash of the old one")
	}
}

// TestTwins: a StatefulSet has the names with numbers.
func TestTwins(t *testing.T) {
	meta := func(name string) api.ObjectMeta { return api.ObjectMeta{Name: name, Namespace: "default"} }
	o := &api.Objects{
		Deployments:  []*api.Deployment{{ObjectMeta: meta("db")}, {ObjectMeta: meta("web")}},
		StatefulSets: []*api.StatefulSet{{ObjectMeta: meta("db")}},
	}
	var got []string
	for _, w := range workload.Of(o) {
		p := w.Pod()
		w.NumberPod(p, 0)
		got = append(got, p.Name)
	}
	if want := []string{"db-deployment-0", "web-0", "db-0"}; !slices.Equal(got, want) {
		t.Errorf("the pods are %v, want %v", got, want)
	}
}
