package input

import (
	"fmt"
	"strings"
	"testing"
)

// Templates of workloads have the priority that pods of the class have, if the class is not there: that of
// the youngest. A class that is there counts.
func TestClassesOfPods(t *testing.T) {
	pod := func(name, created string, priority int) string {
		return fmt.Sprintf(`{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": %q, "namespace": "default", "creationTimestamp": %q},
			"spec": {"nodeName": "n", "priorityClassName": "high", "priority": %d, "preemptionPolicy": "Never", "containers": [{"name": "c"}]}}`, name, created, priority)
	}
	const (
		node  = `{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "8", "pods": "110"}}}`
		web   = `{"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web", "namespace": "default"}, "spec": {"template": {"spec": {"priorityClassName": "high", "containers": [{"name": "c"}]}}}}`
		class = `{"kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1", "metadata": {"name": "high"}, "value": 7}`
	)
	older, younger := pod("a", "2030-01-01T00:00:00Z", 500), pod("b", "2030-01-02T00:00:00Z", 1000)
	for _, tt := range []struct {
		items []string
		want  string
	}{
		{[]string{node, web, younger, older}, "1000 Never"},
		{[]string{node, web, older, class}, "7 PreemptLowerPriority"},
		{[]string{node, web}, "kubectl get priorityclasses"},
	} {
		c := new(Cluster)
		if err := c.Read("dump", strings.NewReader(`{"kind": "List", "items": [`+strings.Join(tt.items, ",")+`]}`)); err != nil {
			t.Fatal(err)
		}
		_, pending, err := c.Snapshot()
		got := fmt.Sprint(err)
		if err == nil {
			spec := &pending[0].Pod.Spec
			got = fmt.Sprint(*spec.Priority, " ", *spec.PreemptionPolicy)
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%d objects: %s, want %s", len(tt.items), got, tt.want)
		}
	}
}
