package main

// deviations lists the answers that are not compared, because kube-scheduler leaves
// them to chance or to the past of its process. The list is printed at the end of a
// run.
var deviations = []string{
	"cases in which kube-scheduler crashes, such as a volume to be provisioned from a storage capacity that states none",
	"the order of the reasons about extended resources: random in the original, by name in berth",
	"which of several missing CSI drivers is told: any in the original, the first by name in berth; no case has more than one that must be there",
	"the whole decision if a pod on a node has volumes that cannot be determined: then NodeVolumeLimits of the original fails; berth's " +
		"counts them as none, which is compared with the original's verdicts without these volumes",
	"the node chosen where a PreFilter leaves several by name: the original searches them in random order, berth in the snapshot's",
	"the choice among candidates for preemption that no criterion tells apart: random in the original, " +
		"so that all nodes which 300 tries returned are compared with those that berth holds to be equal",
	"what depends on the order in which objects other than nodes and pods are listed, such as budgets, services and storage " +
		"capacities: random in the original, here by name on both sides",
	"which of several nodes an error of preemption names: any in the original, the first in berth; and the order in which extenders are " +
		"offered candidates: that of a map in the original",
	"the reservations of other pods for the claims of a pod that fails at Reserve: the original reverts them, too, and berth does not; " +
		"they are put back, and such attempts are counted as known deviations",
	"what PreBind waits for: what controllers do about claims and volumes is played on both sides",
	"what kube-scheduler remembers of a node that has not changed: on how many nodes its images are, and its place after its zone " +
		"changed; after a node has come, changed or gone it is made to look at all nodes anew",
	"devices, which -family dynamicresources and -family selectors compare: no pod of the other families has resourceClaims",
	"trees of groups, and groups that leave as a unit when a single pod preempts: kube-scheduler has both behind gates; no case has them",
	"what berth does otherwise on purpose: wishes for nodes of a weight below 0 and soft spread constraints with a maxSkew below 1, " +
		"which no API server lets pass, amounts above 92 quadrillion, and host ports that two pods of a node hold, of which one leaves; no case has them",
}
