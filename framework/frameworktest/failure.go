package frameworktest

import (
	"fmt"
	"strings"
)

// A Failure says where a plugin does not keep the contract. Find it with
// errors.As.
type Failure struct {
	Plugin  string // its name
	Check   string // as listed in the package page
	Cluster uint64 // the seed
	// Clusters is the number of clusters, from Cluster on, that the failure is
	// about; 0 where it is about one.
	Clusters int
	Pod      string // the pod asked about, "" where no pod matters
	Node     string // the node asked about, "" where no node matters
	What     string // what was looked at, such as "raw score, asked again"
	Got      string // what the plugin answered
	Want     string // what it should have answered
}

// Error returns everything in one line:
//
//	Spare: bounds: cluster 3, pod prod/pod-02, node node-07: normalized score = 120, want 0 to 100
func (f *Failure) Error() string {
	var b strings.Builder
	if f.Plugin != "" {
		fmt.Fprintf(&b, "%s: ", f.Plugin)
	}
	if f.Clusters > 0 {
		fmt.Fprintf(&b, "%s: clusters %d to %d", f.Check, f.Cluster, f.Cluster+uint64(f.Clusters)-1)
	} else {
		fmt.Fprintf(&b, "%s: cluster %d", f.Check, f.Cluster)
	}
	if f.Pod != "" {
		fmt.Fprintf(&b, ", pod %s", f.Pod)
	}
	if f.Node != "" {
		fmt.Fprintf(&b, ", node %s", f.Node)
	}
	fmt.Fprintf(&b, ": %s = %s, want %s", f.What, f.Got, f.Want)
	return b.String()
}

// fail returns a failure at the place where the kit is.
func (k *kit) fail(what, got, want string) *Failure {
	f := &Failure{Check: k.check, Cluster: k.seed, What: what, Got: got, Want: want, Plugin: k.name, Node: k.node}
	if k.pod != nil {
		f.Pod = k.pod.Pod.Key()
	}
	return f
}

// panicked returns the failure of a call that panicked.
func (k *kit) panicked(v any, when string) *Failure {
	what := "a call"
	if k.calling != "" {
		what += " of " + k.calling
	}
	return k.fail(what+when, fmt.Sprintf("a panic: %v", v), "no panic")
}
