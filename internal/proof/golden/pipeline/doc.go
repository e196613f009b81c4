// Package pipeline replays recorded answers of the real kube-scheduler against
// whole profiles: what a case's configuration means, put together from the
// plugins of this module, must answer for the case's pod and cluster as
// kube-scheduler's framework did. It serves tests only.
//
// [Profile] builds the profile of a case, and [Check] compares one case.
//
// Compared are: a PreFilter's rejection, the nodes that PreFilters leave, the
// first plugin to reject each node with its code and reasons, the feasible
// nodes in order, each plugin's raw and weighted scores, the totals, the set of
// best nodes, and the text of an error. Where no node is feasible and the case
// has an answer of DefaultPreemption: the nodes that were tried, victims in
// order, violated budgets, why the others failed, the choice, and the message.
//
// Left out is DynamicResources, which no case asks anything of: it scores 0.
package pipeline
