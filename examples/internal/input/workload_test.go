//go:build full

package input

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// nodesYAML holds a plain node, a tainted one, and a cordoned one.
const nodesYAML = `
apiVersion: v1
kind: List
items:
- {kind: Node, apiVersion: v1, metadata: {name: n1}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "10"}}}
- {kind: Node, apiVersion: v1, metadata: {name: n2}, spec: {taints: [{key: gpu, effect: NoSchedule}]}, status: {capacity: {cpu: "4", pods: "10"}}}
- {kind: Node, apiVersion: v1, metadata: {name: n3, labels: {disk: ssd}}, spec: {unschedulable: true}, status: {capacity: {cpu: "4", pods: "10"}}}
`

func TestWorkloads(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string // pending pods
	}{
		{"replicas by default", workloadYAML("apps/v1", "Deployment", ""), []string{"default/w-0"}},
		{"deployment", workloadYAML("apps/v1", "Deployment", "replicas: 2"), []string{"default/w-0", "default/w-1"}},
		{"no replicas", workloadYAML("apps/v1", "ReplicaSet", "replicas: 0"), nil},
		{"stateful set", workloadYAML("apps/v1", "StatefulSet", "replicas: 1"), []string{"default/w-0"}},
		{"replication controller", workloadYAML("v1", "ReplicationController", "replicas: 1"), []string{"default/w-0"}},
		{"replication controller without template", `{kind: ReplicationController, apiVersion: v1, metadata: {name: w}}`, nil},
		{"job", workloadYAML("batch/v1", "Job", ""), []string{"default/w-0"}},
		{"job with completions", workloadYAML("batch/v1", "Job", "completions: 3"), []string{"default/w-0"}},
		{"job in parallel", workloadYAML("batch/v1", "Job", "completions: 5, parallelism: 2"), []string{"default/w-0", "default/w-1"}},
		{"job near its end", workloadYAML("batch/v1", "Job", "completions: 1, parallelism: 2"), []string{"default/w-0"}},
		{"daemon set", workloadYAML("apps/v1", "DaemonSet", ""), []string{"default/w-n1", "default/w-n3"}},
		{
			"names that are taken",
			workloadYAML("apps/v1", "Deployment", "replicas: 2") + "\n---\n" + workloadYAML("apps/v1", "StatefulSet", "") +
				"\n---\n{kind: Pod, apiVersion: v1, metadata: {name: w-1}}",
			[]string{"default/w-1", "default/w-deployment-0", "default/w-deployment-1", "default/w-0"},
		},
		{
			"a name that is taken",
			workloadYAML("apps/v1", "Deployment", "replicas: 2") + "\n---\n{kind: Pod, apiVersion: v1, metadata: {name: w-1}}",
			[]string{"default/w-1", "default/w-0", "default/w-2"},
		},
		{
			"a pod is there",
			workloadYAML("apps/v1", "Deployment", "replicas: 3") +
				"\n---\n{kind: ReplicaSet, apiVersion: apps/v1, metadata: {name: w-x, ownerReferences: [{kind: Deployment, name: w, controller: true}]}, spec: {replicas: 3}}" +
				"\n---\n{kind: Pod, apiVersion: v1, metadata: {name: w-x-y, ownerReferences: [{kind: ReplicaSet, name: w-x, controller: true}]}}",
			[]string{"default/w-x-y"},
		},
		{
			"owner of one name in another namespace",
			workloadYAML("apps/v1", "ReplicaSet", "replicas: 1") +
				"\n---\n{kind: Pod, apiVersion: v1, metadata: {name: p, namespace: other, ownerReferences: [{kind: ReplicaSet, name: w, controller: true}]}}",
			[]string{"other/p", "default/w-0"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var c Cluster
			if err := c.Read("nodes.yaml", strings.NewReader(nodesYAML)); err != nil {
				t.Fatal(err)
			}
			if err := c.Read("w.yaml", strings.NewReader(test.text)); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time must add nothing
				if diff := cmp.Diff(test.want, waiting(t, &c)); diff != "" {
					t.Errorf("pods that wait (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// workloadYAML is a workload named w with more fields in its spec.
func workloadYAML(apiVersion, kind, spec string) string {
	return "{apiVersion: " + apiVersion + ", kind: " + kind + ", metadata: {name: w}, spec: {" + spec + strings.Repeat(", ", min(len(spec), 1)) +
		"template: {metadata: {labels: {app: w}}, spec: {containers: [{name: main, resources: {limits: {cpu: 100m}}}]}}}}"
}

func waiting(t *testing.T, c *Cluster) []string {
	t.Helper()
	_, pending, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range pending {
		names = append(names, p.Pod.Key())
	}
	return names
}

// TestTemplate checks which fields pods take over, and that setting the API server's
// defaults does not touch the template.
func TestTemplate(t *testing.T) {
	var c Cluster
	if err := c.Read("w.yaml", strings.NewReader(nodesYAML+"\n---\n"+workloadYAML("apps/v1", "Deployment", ""))); err != nil {
		t.Fatal(err)
	}
	_, pending, err := c.Snapshot()
	if err != nil || len(pending) != 1 {
		t.Fatalf("Snapshot: %d pods, error %v; want 1 pod", len(pending), err)
	}
	if got := pending[0].Requests[0]; got != 100 {
		t.Errorf("requests of CPU = %d, want 100, from the limit", got)
	}
	p := pending[0].Pod
	if owner := p.ControllerRef(); owner == nil || owner.Kind != "Deployment" || owner.Name != "w" {
		t.Errorf("controller = %v, want Deployment w", owner)
	}
	if p.Labels["app"] != "w" {
		t.Errorf("labels = %v, want app=w", p.Labels)
	}
	if r := c.Objects.Deployments[0].Spec.Template.Spec.Containers[0].Resources.Requests; r != nil {
		t.Errorf("the template has requests %v, want none as before", r)
	}
}

// TestDaemons checks that each pod of a DaemonSet requires its node, in place of the
// template's requirements. It also checks the tolerations that the controller adds.
func TestDaemons(t *testing.T) {
	var c Cluster
	text := `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: w}
spec:
  template:
    spec:
      hostNetwork: true
      containers: [{name: main}]
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}]
`
	if err := c.Read("w.yaml", strings.NewReader(nodesYAML+"\n---\n"+text)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"default/w-n3"}, waiting(t, &c)); diff != "" {
		t.Fatalf("pods that wait (-want +got):\n%s", diff)
	}
	spec := c.Objects.Pods[0].Spec
	terms := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if len(terms) != 1 || len(terms[0].MatchFields) != 1 || terms[0].MatchFields[0].Values[0] != "n3" || terms[0].MatchExpressions != nil {
		t.Errorf("node selector terms = %v, want metadata.name in (n3) alone", terms)
	}
	if len(spec.Tolerations) != 7 {
		t.Errorf("%d tolerations, want 7: six of every daemon, and one for the host's network", len(spec.Tolerations))
	}
}
