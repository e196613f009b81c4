//go:build full

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// undecidable is a cluster with a pod whose claim selects devices by an attribute that they do
// not have: an API server stores it, and kube-scheduler fails that pod's attempts.
const undecidable = `
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "8", memory: 8Gi, pods: "110"}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec: {nodeName: n1, driver: d.example.com, pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: [{name: d0}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: bad, namespace: default}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, selectors: [{cel: {expression: 'device.attributes["a"].b > 1'}}]}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: other, namespace: default}
spec: {resourceClaims: [{name: c, resourceClaimName: bad}], containers: [{name: c, resources: {claims: [{name: c}], requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: new, namespace: default}
spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
`

// A pod about which a plugin cannot decide takes no answer about other pods away.
func TestUndecidedPod(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(file, []byte(undecidable), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   []string
		status int
		want   []string
	}{
		{[]string{"place"}, 1, []string{"1 of 2 pods fit; 1 fit nowhere", "no such key: b", "default/new"}},
		{[]string{"compare", "-with", "1.34"}, 0, []string{"all 2 pods go to the same nodes"}},
		{[]string{"sweep", "-weight", "NodeResourcesFit=0..2"}, 0, []string{"0 of 3 weightings send some of 2 pods elsewhere"}},
		{[]string{"nodes-needed", "-like", "n1"}, 1, []string{"1 of 2 pods fit then", "no such key: b"}},
		{[]string{"simulate"}, 1, []string{"1 bound", "1 wait at the end"}},
		{[]string{"why-not", "other", "n1"}, 2, []string{"no such key: b"}},
	} {
		status, stdout, stderr := berth(append(tt.args, "-f", file)...)
		if status != tt.status {
			t.Errorf("%v: status %d, want %d: %s", tt.args, status, tt.status, stderr)
		}
		for _, text := range tt.want {
			if !strings.Contains(stdout+stderr, text) {
				t.Errorf("%v: does not say %q:\n%s%s", tt.args, text, stdout, stderr)
			}
		}
	}
}

// A pod whose remedies take too long to find takes no answer about other pods away, and its row says so.
func TestPlaceUnsearchedPod(t *testing.T) {
	selector := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprintf("key-%d: v", i))
		}
		return list
	}
	pod := "\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: default}\nspec: {nodeSelector: {%s}, containers: [{name: c, resources: {requests: {cpu: %q}}}]}"
	text := "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: \"8\", memory: 8Gi, pods: \"110\"}}" +
		fmt.Sprintf(pod, "fits", "", "1") + fmt.Sprintf(pod, "large", "", "20") + fmt.Sprintf(pod, "long", strings.Join(selector(600), ", "), "1")
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := berth("place", "-f", file)
	if status != 1 {
		t.Errorf("status %d, want 1: %s", status, stderr)
	}
	for _, want := range []string{
		"1 of 3 pods fit; 2 fit nowhere", "default/large on n1: ", "nothing found: the search for remedies took more than 20000000 steps", "default/fits",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("does not say %q:\n%s", want, stdout)
		}
	}
}
