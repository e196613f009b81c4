package filter

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
)

// DynamicResources rejects a node that has no devices for the pod's resource claims, or
// for the extended resources that device classes stand behind. It also rejects a node
// that cannot use the devices that a claim already has. Rejections are unresolvable:
// removing pods frees no devices.
//
// On each node, it looks for devices depth first, in the order of claims, requests, pools,
// slices and devices, and takes the first solution. It follows selectors, alternatives
// (firstAvailable), constraints, taints and taint rules, shared counters and consumable
// capacity.
//
// As a Reserve plugin it gives the chosen node's devices to the claims, in the snapshot.
// They are in flight until the snapshot gets the claims with their allocation ([framework.Put]):
// no other pod gets the devices, and other pods of the same claims wait. Forks and
// transactions cover this. Unreserve gives the devices back. So does the departure of the
// pod, also with its node; in a transaction, once that is committed. A pod keeps them if it
// is replaced by a newer version ([framework.Snapshot.ReplacePod]), or if its node is missing
// for some time ([framework.Snapshot.LoseNode]). [DeviceClaimsKey] of the cycle holds what a
// driver must write to the API server before it binds the pod; [DeviceClaim] says what it must
// see to.
//
// In a transaction, the devices of a pod that has left are still in use, as kube-scheduler's
// preemption takes those of its victims. To place such a pod again, take it off its node with
// the scheduler's Release, which frees them at once.
//
// If the snapshot has the [api.ResourceClaimTemplate] that a pod names, and the claim has
// not been made, the pod is placed as if it had been made. Leave templates out of the
// snapshot to let such pods wait, as kube-scheduler does.
//
// Source: kube-scheduler 1.37, plugin DynamicResources, and
// k8s.io/dynamic-resource-allocation/structured 0.37 with the feature gates at their
// defaults.
//
// Differs: PreBind, which writes claims and waits for binding conditions.
// Original: it is part of kube-scheduler's plugin.
// Here: it is left to the driver, which finds what to write under [DeviceClaimsKey].
// Why: the library has no API client.
//
// Differs: Unreserve, for claims that were reserved for the pod before, or made for its
// extended resources in an earlier cycle.
// Original: kube-scheduler takes the reservation back, and deletes the claim of the earlier
// cycle.
// Here: they stay; the driver may do that.
// Why: the library has no API client.
//
// Differs: claims that have the same device, and one of them loses it.
// Original: kube-scheduler keeps devices in a set, and so holds the device for free.
// Here: the device stays in use.
// Why: another claim has it.
//
// Differs: a pod that was placed by the devices of its claim, which has lost them and got other ones when it is to be bound.
// Original: if the claim has changed since it was read, the pod is bound to the node of the earlier devices.
// Here: DeviceClaim.Write returns an error, so that the pod is tried again.
// Why: it could not start there, and would keep the claim.
//
// Differs: a bound of the search.
// Original: kube-scheduler gives up after filterTimeout.
// Here: the search gives up after MaxSteps, which count devices and what selectors cost.
// Why: the answer must not depend on the speed of the machine.
//
// Differs: a search for devices that takes long, where more than 4 nodes have devices.
// Original: each node has the whole filterTimeout, and a search that is given up ends the
// attempt with an error.
// Here: the nodes share the steps of 4, and each has a hundredth of MaxSteps at least, or more
// with many devices. A node where the search takes more is rejected.
// Why: one claim would keep all other pods waiting for minutes.
//
// Differs: selectors that the built-in compiler does not take.
// Original: kube-scheduler compiles the whole Common Expression Language.
// Here: the node fails with an error that names the part of the language.
// Switch: DeviceSelectors takes a compiler of the whole language.
//
// Differs: a claim that a pod names twice.
// Original: kube-scheduler allocates it twice, and binding fails.
// Here: it counts once.
// Why: an attempt that must fail helps nobody.
//
// Differs: extended resources that the chosen node offers itself, beside claims.
// Original: kube-scheduler makes a claim for them that has no requests, and binding fails.
// Here: no claim is made.
// Why: an attempt that must fail helps nobody.
//
// Differs: a claim whose template is in the snapshot.
// Original: kube-scheduler waits until the claim is made.
// Here: the pod is placed as if it had been.
// Switch: leave templates out of the snapshot.
//
// Differs: identifiers of shares.
// Original: kube-scheduler draws them.
// Here: they follow from the claim, the device and the place among its shares.
// Why: the answer must be the same on every run.
type DynamicResources struct {
	// BindingTimeout is how long after its allocation a claim may wait for binding
	// conditions; 0 means 10 minutes.
	BindingTimeout time.Duration
	// MaxSteps bounds the search on one node; 0 means 5,000,000. A device that is looked at
	// is a step, and so are about two operations of its selectors. If n nodes may have devices,
	// rounded up to a power of two, and they are more than 4, a node has 4/n of it. It has a
	// hundredth at least, and 8 steps for each request and each of its devices (800 with
	// DeviceSelectors). A node where the search takes more is rejected with
	// [SearchGivenUp]; see [framework.Status.Is].
	MaxSteps int
	// DeviceSelectors compiles the selectors of classes and claims; nil means the
	// built-in compiler, which takes the expressions that drivers usually write.
	DeviceSelectors api.DeviceSelectorCompiler
	// Choice says which of a node's devices a pod gets: [FirstFit], as kube-scheduler
	// does it, or [LeastLeftover], which packs devices.
	Choice DeviceChoice
	// Handle lets PreEnqueue look at the claims. If it is nil, PreFilter rejects the
	// pods that PreEnqueue would keep out of the queue.
	Handle framework.Handle
}

const dynamicResourcesName = "DynamicResources"

// SearchGivenUp is the reason against a node where the search for devices took more steps than
// the node's share of [DynamicResources.MaxSteps].
var SearchGivenUp = devices.SearchGivenUp

// Name returns "DynamicResources".
func (DynamicResources) Name() string { return dynamicResourcesName }

// Validate reports negative bounds.
func (p DynamicResources) Validate() error {
	switch {
	case p.BindingTimeout < 0:
		return fmt.Errorf("%s: bindingTimeout: %v is negative", dynamicResourcesName, p.BindingTimeout)
	case p.MaxSteps < 0:
		return fmt.Errorf("%s: maxSteps: %d is negative", dynamicResourcesName, p.MaxSteps)
	case p.Choice > LeastLeftover:
		return fmt.Errorf("%s: choice: %d is neither FirstFit nor LeastLeftover", dynamicResourcesName, p.Choice)
	}
	return nil
}

func (p DynamicResources) options() devices.Options {
	o := devices.Options{Compiler: p.DeviceSelectors, BindingTimeout: p.BindingTimeout, Steps: p.MaxSteps, Choice: p.Choice}
	if o.BindingTimeout == 0 {
		o.BindingTimeout = 10 * time.Minute
	}
	return o
}

// Scope declares that a verdict reads nothing for a pod that needs no devices. For other
// pods, it reads what their claims ask for, which is part of the class key; the node and
// the devices in use there; classes and taint rules, which the bound filter follows; and
// the time, while an allocated claim waits for binding conditions.
func (DynamicResources) Scope(pod *framework.PodInfo) framework.Scope {
	scope := devices.ScopeOf(pod)
	if pod.HasClaims() {
		scope.Reads |= framework.ReadsTime
	}
	return scope
}

// ScopeVaries implements [incremental.VaryingScoper].
func (DynamicResources) ScopeVaries() framework.PodParts { return 0 }

// Concern implements [incremental.Concerned]: pods with claims, or with requests for
// resources that have a class behind them.
func (DynamicResources) Concern() framework.PodParts {
	return framework.PartClaims | framework.PartExtended
}

// AppendClassKey implements [incremental.ClassKeyer]: it appends what the pod's claims ask
// for, or what allocated ones allow. Pods whose claims ask for the same are alike, whatever
// the claims are called, and also before they have been made from templates.
func (DynamicResources) AppendClassKey(b []byte, s *framework.Snapshot, pod *framework.PodInfo) []byte {
	return devices.AppendKey(b, s, pod)
}

// ClassKeyVersion implements [incremental.ClassKeyer].
func (DynamicResources) ClassKeyVersion(s *framework.Snapshot) uint64 { return devices.KeyVersion(s) }

// ClassKeySource implements [incremental.SharedKeyer].
func (DynamicResources) ClassKeySource() string { return devices.KeySource }

// Idle implements [incremental.Idler]: the pod needs no devices.
func (DynamicResources) Idle(c *framework.Cycle) bool { return !devices.Needs(c.Snapshot, c.Pod) }

// PreEnqueue keeps a pod out of the queue whose claims cannot be used yet.
func (p DynamicResources) PreEnqueue(_ context.Context, pod *framework.PodInfo) framework.Status {
	if p.Handle == nil || len(pod.Pod.Spec.ResourceClaims) == 0 {
		return framework.Status{}
	}
	s := p.Handle.Snapshot()
	if s == nil {
		return framework.Status{}
	}
	if _, err := devices.ClaimsOf(s, pod.Pod); err != nil {
		return framework.UnresolvableStatus(framework.Text(err.Error()))
	}
	return framework.Status{}
}

// Gates implements [incremental.SelectiveGate]: pods with claims.
func (DynamicResources) Gates() framework.PodParts { return framework.PartClaims }

// PreFilter skips pods that need no devices. It rejects a pod if one of its claims does
// not exist, is being deleted, is in flight, or asks for a class that does not exist.
func (p DynamicResources) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if !devices.Needs(c.Snapshot, c.Pod) {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	f := framework.Scratch[dynamicResources](c)
	finder, status := f.Renew(c.Snapshot, c.Pod, p.options())
	if !status.IsSuccess() {
		return framework.PreFiltered{}, status
	}
	f.Finder = finder
	return framework.PreFiltered{Filter: f}, framework.Status{}
}

// dynamicResources is the bound filter.
type dynamicResources struct{ *devices.Finder }

func (f *dynamicResources) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	return f.Find(node, nil)
}

// Details tells what each request asks for, how many devices of the node match its
// selectors, and how many of these are in use.
func (f *dynamicResources) Details(_ *framework.PodInfo, node *framework.NodeInfo) []framework.Detail {
	return f.Finder.Details(node)
}

// Reserves implements [framework.ReserveDetailer]: the devices that the pod has, or would
// get, by pool.
func (p DynamicResources) Reserves(s *framework.Snapshot, pod *framework.PodInfo, node *framework.NodeInfo) string {
	if !devices.Needs(s, pod) { // most pods
		return ""
	}
	return devices.Words(s, pod, node, p.options())
}

// Reserve gives the devices found on the node to the pod's claims.
func (p DynamicResources) Reserve(c *framework.Cycle, node *framework.NodeInfo) framework.Status {
	if !devices.Needs(c.Snapshot, c.Pod) { // most pods
		return framework.Status{}
	}
	f, status := devices.FinderOf(c.Snapshot, c.Pod, p.options())
	switch {
	case status.IsSkip():
		return framework.Status{}
	case !status.IsSuccess():
		return status
	}
	claims, status := f.Reserve(node)
	if status.IsSuccess() && len(claims.Claims) > 0 {
		DeviceClaimsKey.Set(c, claims)
	}
	return status
}

// Unreserve gives back the devices that Reserve gave to the pod, also in a later cycle.
// Claims that have been written keep their devices.
func (DynamicResources) Unreserve(c *framework.Cycle, _ *framework.NodeInfo) {
	if c.Snapshot == nil || !devices.MayNeed(c.Pod) {
		return
	}
	DeviceClaimsKey.Delete(c)
	devices.Release(c.Snapshot, c.Pod)
}

// PostFilter proposes to take the devices from one of the pod's claims that no node can
// use together with the others, if no other pod uses the claim. It proposes to delete a
// claim for the pod's extended resources that an earlier attempt left behind. It never
// nominates a node.
//
// Differs: which claim, if there are several.
// Original: kube-scheduler takes any.
// Here: the first by name is taken.
// Why: the answer must be the same on every run.
func (p DynamicResources) PostFilter(_ context.Context, c *framework.Cycle, verdicts framework.Verdicts) (framework.PostFiltered, framework.Status) {
	none := framework.NewStatus(framework.Unschedulable, nil)
	f, status := devices.FinderOf(c.Snapshot, c.Pod, p.options())
	if !status.IsSuccess() {
		return framework.PostFiltered{}, none
	}
	free, gone := f.Stuck(func(n *framework.NodeInfo) bool {
		plugin, status := verdicts.Verdict(n)
		return plugin == dynamicResourcesName && slices.Equal(status.Reasons(), []string{string(devices.ErrUnavailable)})
	})
	switch {
	case free != nil:
		return framework.PostFiltered{Claims: []framework.ClaimRelease{{Claim: free.Key()}}},
			framework.UnschedulableStatus("deallocation of ResourceClaim completed")
	case gone != nil:
		return framework.PostFiltered{Claims: []framework.ClaimRelease{{Claim: gone.Key(), Delete: true}}},
			framework.UnschedulableStatus("deletion of ResourceClaim completed")
	}
	return framework.PostFiltered{}, none
}

// DeviceChoice says which of a node's devices a pod gets, if several solutions are legal.
type DeviceChoice = devices.Choice

const (
	// FirstFit takes the first solution in the order of pools, slices and devices.
	FirstFit = devices.FirstFit
	// LeastLeftover prefers the devices that leave the least unused, and never leaves more
	// than FirstFit: small devices before large ones, shared devices that are nearly full,
	// partitions that consume few counters. Verdicts and scores are those of FirstFit.
	LeastLeftover = devices.LeastLeftover
)

// DeviceClaims lists what a driver has to write for a placed pod before it binds it.
type DeviceClaims = devices.DeviceClaims

// DeviceClaim is one claim of [DeviceClaims]. Its method Write returns the object to write.
//
// An API server accepts two claims that have the same device, and Unreserve frees every device
// whose claim was not written. So a driver that writes claims must do three things, or a device may
// be given twice:
//
//   - Before PreBind returns, with or without an error, the snapshot must get each claim that was
//     written, in the version that the API server has answered with: by [framework.Put], or by
//     Apply of a lifecycle.Driver.
//   - No event or list that is older than the write may undo that. A lifecycle.Driver ignores
//     older versions of a known object, but not the deletion of an object that an older list
//     does not have.
//   - As long as a write may still be carried out, PreBind must not return an error. If the
//     answer is lost, read the claim until its version is not the one that was written over, or
//     until the API server has surely given up the request. If the claim has the devices then,
//     it was written.
//
// Module scheduling/kube does so.
type DeviceClaim = devices.DeviceClaim

// ExtendedResourceMapping says which request gives a container its extended resource.
type ExtendedResourceMapping = devices.Mapping

// DeviceClaimsKey holds the DeviceClaims of a pod, once Reserve of DynamicResources has
// run. The objects belong to the snapshot and must not be changed.
var DeviceClaimsKey = framework.NewKey[DeviceClaims]("DeviceClaims")

// DeviceClaimsOf returns what the snapshot holds in flight for a pod: the devices that
// Reserve of [DynamicResources] chose and that nobody has written. The result is sorted by
// the keys of the claims.
func DeviceClaimsOf(s *framework.Snapshot, pod *framework.PodInfo) []DeviceClaim {
	return devices.InFlight(s, pod)
}

// DevicesReady reports whether the binding conditions of all devices of a claim are true,
// so that its pod may be bound; false for a claim without an allocation. A true failure
// condition is an error: the pod must be scheduled again.
//
// Source: kube-scheduler 1.37, dynamicresources, PreBind.
func DevicesReady(c *api.ResourceClaim) (bool, error) { return devices.Ready(c) }

// DeviceSteps returns how many steps searches for devices took so far in the snapshot. A fork counts
// together with it if devices had been asked for before. A step takes some 20 to 160 ns, so a
// program can bound its work, and alike on every machine. It costs O(1), but the first question
// about devices of a snapshot reads all claims.
func DeviceSteps(s *framework.Snapshot) int64 { return devices.Spent(s) }
