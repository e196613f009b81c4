// Package filter holds the filter plugins: each says whether a pod may run on
// a node, with kube-scheduler's verdicts, codes and texts.
//
//	fit := filter.NodeResourcesFit{IgnoredResources: []resource.Name{"example.com/gpu"}}
//	profile := scheduling.Profile{Filter: []framework.Plugin{filter.TaintToleration{}, fit}}
//
// # What it does
//
// Every exported type is the configuration of one plugin: a value that can be
// copied, whose zero value is kube-scheduler's default. What is computed for
// one pod lives in the filter that PreFilter returns, in memory that the cycle
// reuses, so that filtering a thousand nodes allocates nothing. What is counted
// over many nodes is kept in the snapshot, as an extension, and follows its pods.
//
//	NodeName              the node that spec.nodeName names
//	NodeUnschedulable     not on cordoned nodes
//	TaintToleration       not where a taint is not tolerated
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
//	LoadAware             not on nodes that are busier than they should be (Koordinator)
//	NodeLabel             labels that nodes must, or must not, have (kube-scheduler 1.18)
//	ServiceAffinity       pods of a service on nodes of one label value (kube-scheduler 1.18)
//
// Each also names the events that may help a pod that it rejected
// (EventsToRegister), with a check of the objects before and after wherever that
// is cheaper than another attempt. No event that helps is left out, those included
// of which kube-scheduler does not think: a node that goes with its pods, a pod
// that begins to end, the labels of a namespace. A change of the waiting pod
// counts if it is in a part that the plugin's scope names.
//
// # What it leaves to you
//
// Filters read the snapshot, with its time, and nothing else: objects are taken
// as they are, without the defaults that the API server fills in (see
// api.Objects). The order of the filters, and who runs them, is the
// business of a profile in package scheduling; scores are in package scoring.
//
// # Determinism and concurrency
//
// A verdict depends on the configuration, the pod, the node and what the
// snapshot holds for it, and on nothing else. A plugin may be shared by any
// number of schedulers; a bound filter belongs to its cycle and may be called
// for different nodes at once.
//
// # Source
//
// The plugins of kube-scheduler 1.37.1, pkg/scheduler/framework/plugins, with
// the feature gates at their defaults; LoadAware is Koordinator's. Deviations
// are listed at each type under "Differs:".
package filter
