// Package filter holds the filter plugins: each decides whether a pod may run on a
// node, with kube-scheduler's verdicts, codes and texts.
//
//	fit := filter.NodeResourcesFit{IgnoredResources: []resource.Name{"example.com/gpu"}}
//	profile := scheduling.Profile{Filter: []framework.Plugin{filter.TaintToleration{}, fit}}
//
// # What it does
//
// Every exported type is the configuration of one plugin: a copyable value whose
// zero value is kube-scheduler's default. State computed for one pod lives in the
// filter that PreFilter returns, in memory that the cycle reuses, so filtering a
// thousand nodes allocates nothing. Counts over many nodes are an extension of the
// snapshot, which keeps them up to date as pods come and go.
//
//	NodeName              the node that spec.nodeName names
//	NodeUnschedulable     not on cordoned nodes
//	TaintToleration       only nodes whose taints the pod tolerates
//	NodeAffinity          nodeSelector and required node affinity
//	NodePorts             host ports are free
//	NodeResourcesFit      a pod slot and the requested resources are free
//	NodeDeclaredFeatures  the node's kubelet can do what the pod needs
//
//	PodTopologySpread     the skew between topology domains stays within bounds
//	InterPodAffinity      required affinity and anti-affinity, in both directions
//
//	VolumeBinding         claims are bound to, or can get, volumes that the node reaches
//	VolumeZone            bound volumes are of the node's zone
//	VolumeRestrictions    disks and ReadWriteOncePod claims that others use already
//	NodeVolumeLimits      how many volumes of a CSI driver a node can attach
//	EBSLimits, GCEPDLimits, AzureDiskLimits, CinderLimits
//	                      the same for disks of one cloud (kube-scheduler 1.18)
//
//	DynamicResources      devices for resource claims and extended resources
//
//	LoadAware             not on nodes that are busier than they should be (Koordinator)
//	NodeLabel             labels that nodes must, or must not, have (kube-scheduler 1.18)
//	ServiceAffinity       pods of a service on nodes of one label value (kube-scheduler 1.18)
//
// Each plugin also names the events that may help a pod that it rejected
// (EventsToRegister). Where a check is cheaper than another attempt, it compares the
// object before and after the event. Every event that can help is registered,
// including some that kube-scheduler misses: a node deleted together with its pods,
// a pod that starts terminating, a namespace whose labels change. A change of the
// waiting pod counts if it touches a part that the plugin's scope names.
//
// # What it leaves to you
//
// Filters read only the snapshot and its time. They take objects as they are,
// without the defaults that the API server fills in (see api.Objects). A profile in
// package scheduling decides which filters run and in which order; package scoring
// holds the scores.
//
// # Determinism and concurrency
//
// A verdict depends only on the configuration, the pod, the node and the snapshot's
// data for the node. Any number of schedulers may share a plugin. A bound filter
// belongs to its cycle and may be called for different nodes at once.
//
// # Source
//
// The plugins of kube-scheduler 1.37.1, pkg/scheduler/framework/plugins, with
// the feature gates at their defaults; LoadAware is Koordinator's. Deviations
// are listed at each type under "Differs:".
//
// Differs: events that cannot help a rejected pod of 256 parts or more, such as tolerations, ports and terms.
// Original: kube-scheduler compares the pod with each event, and lets it sleep.
// Here: the events that its plugin registered for wake it, unless they are about the pod itself.
// Why: thousands of such pods would take the time of all others, and the queue tries them seldom.
package filter
