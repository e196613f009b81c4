package scoring

import "fmt"

// Rules names the release of kube-scheduler whose formulas a plugin follows. Every
// plugin whose formula has changed accepts all of them; the empty value means the
// plugin's default, which its field documents.
type Rules string

// The rules. A release between two of them has the rules of the next later one,
// unless a constant says otherwise.
const (
	// Kubernetes137 are the rules of kube-scheduler 1.37.
	//
	// NodeResourcesBalancedAllocation has them since 1.36: [BalancedAllocationScore].
	// NodeResourcesFit has them since 1.22.
	Kubernetes137 Rules = "1.37"
	// Kubernetes134 are the rules of kube-scheduler 1.34.
	//
	// NodeResourcesBalancedAllocation had them from 1.22 to 1.35: [BalanceScore] with
	// the pod. ImageLocality does not count image volumes.
	Kubernetes134 Rules = "1.34"
	// Kubernetes118 are the rules of kube-scheduler 1.18.
	//
	// NodeResourcesBalancedAllocation compares CPU and memory only:
	// [BalancedAllocationScoreKubernetes118]. ImageLocality counts containers only,
	// and reaches 100 at 1000 MiB, however many containers there are.
	//
	// In NodeResourcesFit and the plugins that it replaced, a resource that a node
	// does not have takes part: it scores 0, and counts as used up for
	// RequestedToCapacityRatio. MostAllocated scores 0 if requests exceed the
	// allocatable amount. Both it and LeastAllocated read cpu and memory only, with
	// weight 1. The utilization is 100 minus the free percentage, so it is one more
	// if that was truncated. CPU overhead counts as the number of cores, rounded up,
	// in thousandths of a core.
	Kubernetes118 Rules = "1.18"
)

// check reports unknown rules, for the plugin of the given name.
func (r Rules) check(plugin string) error {
	switch r {
	case "", Kubernetes137, Kubernetes134, Kubernetes118:
		return nil
	}
	return fmt.Errorf("%s: rules: unknown rules %q; leave the field empty, or take %q, %q or %q",
		plugin, string(r), Kubernetes137, Kubernetes134, Kubernetes118)
}
