// Package gang places groups of pods together or not at all, within a rack if they ask
// for one, and says what is missing if they do not fit.
//
//	placer, err := gang.New(scheduler, gang.Rules{Choice: gang.BestFit})
//	out, err := placer.Place(snapshot, &gang.Group{
//		Name: "training", Pods: pods,
//		Topology: []gang.Level{{Key: "example.com/rack"}}, // all pods in one rack
//	})
//	if out.Status != gang.Placed {
//		fmt.Println(out.Text) // "rack r7 takes 6 of 8 pods; ..."
//	}
//
// # What it does
//
//	Place     all or nothing: counts the pods on their nodes and reserves, or changes nothing
//	Try       the same, taken back
//	PlaceSet  trees of groups: of the children at least a number
//	Preempt   which pods would have to leave, for a tree PreemptSet
//	Capacity  how many more gangs of a shape fit, also with more nodes
//	Attempt   a whole attempt as kube-scheduler makes it, with conditions and texts
//
// A [Group] has a minimum of pods, members that run already, and [Level]s of topology:
// labels of nodes, the coarsest first. A level may be required, preferred or only
// counted, and may divide the pods into slices that stay together.
//
// [Rules] choose the domain. The zero value is kube-scheduler 1.37 with its feature gates
// GenericWorkload and TopologyAwareWorkloadScheduling on, exactly, except for its random choices.
// [BestFit], [MostPacked] and [LeastFree] are rules of their own, with more than one
// level, and with a search that is bounded in steps if the greedy attempt fails.
//
// Other systems' objects map onto the same call: [GroupOf] reads Kubernetes' PodGroup,
// [SetOf] its CompositePodGroup, [KoordinatorGangs] the labels and annotations of
// Koordinator's coscheduling, and [KueueLevels] the topology annotations of Kueue.
//
// # How
//
// A trial is a transaction of the snapshot, so a group that does not fit leaves no trace.
// Filters, scores and ties of each pod are those of the scheduler, restricted to the
// nodes of a domain ([scheduling.Scheduler.PlaceWithin]). If all pods of a group are of
// one class, and their filters read one node only, counts of each node say which domains
// are large enough, and most trials need not be made. Counts only propose: pods that
// stand have passed the filters.
//
// # What it leaves to you
//
// A trial is taken back by the snapshot, and Unreserve is not called for it: Reserve
// plugins must keep their state in an extension.
//
// Which pods belong to a group, when it is tried again, and how its victims leave. Package
// lifecycle does that for PodGroups.
//
// Differs: groups that need very many decisions.
// Original: kube-scheduler tries all pods in all domains, however long that takes.
// Here: an attempt ends with an error after 300,000 decisions about one pod in one domain. One
// for which a search for devices was given up counts as 50,000. All attempts for groups of one tree share the bound.
// Why: nothing else is scheduled meanwhile. Pods of one class need no decision in each domain.
// Switch: [Rules.Decisions].
//
// # Determinism and concurrency
//
// An outcome depends on the snapshot, the group, the rules with their seed, and where the
// scheduler's next search begins. It does not depend on earlier attempts, and the
// scheduler's later decisions do not depend on the attempt. A Placer belongs to one
// goroutine, with its scheduler and the snapshot; make one for each by Fork.
//
// # Cost
//
// A group of n equal pods costs about n single placements: one look at every node for the
// counts, which are kept, and n decisions in one domain. Otherwise every domain is tried,
// pod by pod.
//
// Source: kube-scheduler 1.37, schedule_one_podgroup.go and the plugins GangScheduling,
// TopologyPlacementGenerator, PodGroupPodsCount and NodeResourcesFit; Kueue's KEP-2724.
package gang
