// Package pipeline replays recorded answers of the real kube-scheduler against whole
// profiles. It builds a profile of this module's plugins from a case's
// configuration. The profile must answer for the case's pod and cluster as
// kube-scheduler's framework did. The package serves tests only.
//
// [Profile] builds the profile of a case, and [Check] compares one case.
//
// Check compares a PreFilter's rejection, the nodes that PreFilters leave, and the
// first plugin to reject each node, with its code and reasons. It compares the
// feasible nodes in order, each plugin's raw and weighted scores, the totals, the
// set of best nodes, and the text of an error. If no node is feasible and the case
// has an answer of DefaultPreemption, it also compares preemption: the nodes tried,
// victims in order, violated budgets, why the other nodes failed, the choice, and
// the message.
//
// DynamicResources is left out: no case asks anything of it, and it scores 0. Cases with
// devices are checked by golden.CheckDevices.
package pipeline
