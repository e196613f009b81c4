package workload

import (
	"maps"
	"strconv"
	"strings"

	"github.com/berth-sched/berth/framework/api"
)

// NumberPod makes p, a pod that the workload has made, its pod of number n: it gives it the name, "web-0" for
// example. A pod of a StatefulSet or of an indexed Job gets the labels and annotations with its number, too. Number the
// pods of a StatefulSet from w.Start on. A pod may get another number later. If a StatefulSet among the objects of [Of] has the
// name of another workload, the names of that one's pods have its kind, "web-deployment-0".
//
// Source: k8s.io/kubernetes 1.37, updateIdentity and addCompletionIndexLabel.
func (w *Workload) NumberPod(p *api.Pod, n int) {
	text := strconv.Itoa(n)
	p.Name = w.Name + "-" + text
	if w.twin {
		p.Name = w.Name + "-" + strings.ToLower(w.Kind) + "-" + text
	}
	switch {
	case w.Kind == "StatefulSet":
		p.Labels = with(p.Labels, "apps.kubernetes.io/pod-index", text)
		p.Labels["statefulset.kubernetes.io/pod-name"] = p.Name
	case w.Indexed:
		const key = "batch.kubernetes.io/job-completion-index"
		p.Labels, p.Annotations = with(p.Labels, key, text), with(p.Annotations, key, text)
	}
}

// NameApart gives the names of the pods that w makes its kind, as if a StatefulSet of its name were among the objects of
// [Of]. Those of a StatefulSet keep theirs.
func (w *Workload) NameApart() { w.twin = w.Kind != "StatefulSet" }

// with returns a copy of the labels with one more. The copy has space for two.
func with(labels map[string]string, key, value string) map[string]string {
	more := make(map[string]string, len(labels)+2)
	maps.Copy(more, labels)
	more[key] = value
	return more
}
