// Package kubernetes compares berth with the real kube-scheduler, which it
// imports: a module of its own, so that whoever uses berth does not link it.
//
//   - rival runs the real scheduling cycle in process, without an API server.
//
//   - cases makes random clusters, and rows of placements, from a seed.
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
// The original leaves some things to chance, or lets the past of its process
// decide. There the comparison takes chance away, or accepts every answer that
// the original may give:
//
//   - Reasons about extended resources come in random order; here by name.
//
//   - Of several CSI drivers that are missing on a node any is told; no case has
//     more than one that must be there.
//
//   - Where a PreFilter leaves several nodes by name, they are searched in random
//     order; the node chosen is not compared then.
//
//   - Among candidates for preemption that no criterion tells apart one is taken
//     at random; all nodes that 300 tries returned are compared with all that
//     berth holds to be equal.
//
//   - Preemption searches nodes in random order from a random one on; here both
//     begin at the same of several places, in the order of the snapshot. Where
//     an error names one of several nodes, any may be named.
//
//   - A pod that fails at Reserve makes kube-scheduler give up what another pod
//     has reserved for the same claims, too; berth does not, and no sequence has
//     such a pod. What controllers do about claims and volumes while PreBind waits
//     is played on both sides.
//
//   - Objects other than nodes and pods are listed in random order, so of several
//     storage capacities, budgets or services that fit, any decides; here they are
//     listed by name.
//
//   - What kube-scheduler remembers of a node that has not changed can be old: on
//     how many nodes its images are, and its place in the order after its zone
//     changed. After a node has come, changed or gone, it is made to look at all
//     nodes anew, as after a restart.
//
//   - Where kube-scheduler crashes, such as for a volume to be provisioned from a
//     storage capacity that states none, there is nothing to compare with; the
//     command counts these cases, and looks that berth decides all the same.
//
//   - DynamicResources, which berth does not have: no pod has resourceClaims. With
//     some, berth places the pod as if it had none.
//
//   - Where berth differs on purpose, no case goes: wishes for nodes of a weight
//     below 0, soft spread constraints with a maxSkew below 1, which no API server
//     lets pass, amounts above 92 quadrillion, where the original's scores wrap
//     around, and host ports that two pods of a node hold, of which one leaves.
//
// The command prints this list, too.
package kubernetes
