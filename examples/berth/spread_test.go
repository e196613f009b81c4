//go:build full

package main

import (
	"fmt"
	"strings"
	"testing"
)

// The pods of a Deployment are spread over zones as those of a ReplicaSet, also if only the manifest is there, and if the
// question is about the Deployment. Beside a ReplicaSet of it, they count the pods of the ReplicaSet.
func TestDeploymentsSpread(t *testing.T) {
	const spec = `"spec": {"replicas": 4, "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}},
		"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}}}]}}}}`
	const deployment = `, {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web", "namespace": "default"}, ` + spec
	node := func(name string, cpu int) string {
		return fmt.Sprintf(`{"kind": "Node", "apiVersion": "v1", "metadata": {"name": %q, "labels": {"kubernetes.io/hostname": %[1]q, "topology.kubernetes.io/zone": %[1]q}},
			"status": {"allocatable": {"cpu": "%d", "memory": "%[2]dGi", "pods": "110"}}}`, name, cpu)
	}
	nodes := `{"kind": "List", "apiVersion": "v1", "items": [` + node("a", 64) + "," + node("b", 16)
	set := strings.Replace(deployment, `"metadata": {"labels": {"app": "web"`, `"metadata": {"labels": {"pod-template-hash": "x", "app": "web"`, 1)
	set = strings.Replace(set, `"matchLabels": {`, `"matchLabels": {"pod-template-hash": "x", `, 1)
	set = strings.Replace(set, `"kind": "Deployment"`, `"kind": "ReplicaSet"`, 1)
	set = strings.Replace(set, `"name": "web"`, `"name": "web-x", "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": true}]`, 1)
	for i := range 4 {
		set += fmt.Sprintf(`, {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web-x-%d", "namespace": "default", "labels": {"app": "web", "pod-template-hash": "x"},
			"ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-x", "controller": true}]}, "spec": {"nodeName": "a", "containers": [{"name": "c"}]}}`, i)
	}
	for _, test := range []struct {
		name, objects string
		args          []string
		a, b          int
	}{
		{"all that wait", nodes + deployment, nil, 2, 2},
		{"the Deployment", nodes + deployment, []string{"deployment/web"}, 2, 2},
		{"replicas", nodes + deployment, []string{"-replicas", "4", "deployment/web"}, 2, 2},
		{"beside its ReplicaSet", nodes + deployment + set, []string{"-replicas", "4", "deployment/web"}, 0, 4},
	} {
		status, out, stderr := berthWith(test.objects+"]}", append([]string{"place", "-o", "json"}, test.args...)...)
		placed, _, _ := strings.Cut(out, `"unplaced"`)
		a, b := strings.Count(placed, `"node": "a"`), strings.Count(placed, `"node": "b"`)
		if status != 0 || a != test.a || b != test.b {
			t.Errorf("%s: status %d, %d pods on a and %d on b, want %d and %d: %s%s", test.name, status, a, b, test.a, test.b, out, stderr)
		}
	}
}
