// Package kubernetes compares berth with the real kube-scheduler, which it imports.
// It is a module of its own, so that users of berth do not link it.
//
//   - rival runs the real scheduling cycle in process, without an API server.
//
//   - cases makes random clusters, and series of placements, from a seed.
//
//   - devices compares the plugin DynamicResources and its parts.
//
//   - workload gives the benchmarks' objects to both sides.
//
//   - cmd/compare asks both sides the same questions and ends with "N cases, M
//     mismatches":
//
//     go run ./cmd/compare -seed 1 -cases 100000
//
//   - cmd/bench measures both side by side:
//
//     go run ./cmd/bench -nodes 5000
//
// # What is not compared
//
// The original leaves some decisions to chance, or to the past of its process. For
// these, the comparison removes chance, or accepts every answer that the original
// may give:
//
//   - Reasons about extended resources come in random order; here by name.
//
//   - If several CSI drivers are missing on a node, the original names any of them.
//     No case has more than one that must be there.
//
//   - If a PreFilter leaves several nodes by name, the original searches them in
//     random order; the chosen node is not compared then.
//
//   - If no criterion tells candidates for preemption apart, the original takes one
//     at random. All nodes that 300 tries returned are compared with all that berth
//     considers equal.
//
//   - Preemption in the original searches nodes in random order from a random one
//     on. Here both sides begin at the same of several places, in the order of the
//     snapshot. If an error names one of several nodes, any name is right.
//
//   - If a pod fails at Reserve, kube-scheduler also drops another pod's
//     reservations for the same claims. berth does not, and no sequence has such a
//     pod. The work of controllers on claims and volumes while PreBind waits is
//     simulated on both sides.
//
//   - The original lists objects other than nodes and pods in random order. So if
//     several storage capacities, budgets or services fit, any of them decides. Here
//     they are listed by name.
//
//   - kube-scheduler can have old data about a node that has not changed: how many
//     nodes have its images, and its place in the order after its zone changed.
//     After a node was added, updated or deleted, the comparison makes it look at
//     all nodes anew, as after a restart.
//
//   - If kube-scheduler crashes, there is nothing to compare with. An example is a
//     volume to be provisioned from a storage capacity that states none. The command
//     counts these cases, and checks that berth still decides.
//
//   - Devices are compared apart, by -family dynamicresources and -family selectors: no
//     pod of the other families has resourceClaims. Package devices says what it leaves
//     out.
//
//   - Trees of groups (-family podgrouptrees) and what one pod preempts of groups that leave
//     as a whole (-family podgroupvictims) are compared by their ends, with the gates on:
//     node of each pod, nominations, victims, and which groups stand. Texts are not compared.
//     Trees that preempt are left out if pods fit of a group that does not stand: the
//     original nominates them.
//
//   - No case covers what berth does differently on purpose: node preferences with a
//     weight below 0; soft spread constraints with a maxSkew below 1, which no API
//     server admits; amounts above 92 quadrillion, where the original's scores wrap
//     around; and host ports that two pods of a node hold, if one of the pods
//     leaves.
//
// The command prints this list, too.
package kubernetes
