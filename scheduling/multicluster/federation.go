package multicluster

import (
	"cmp"
	"errors"
	"slices"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// A Member is a cluster of a federation: its description and its nodes.
type Member struct {
	// Cluster holds what filters and scorers read. For each decision, the federation
	// computes its status anew from the snapshot, with spec.resourceModels if there
	// are any.
	Cluster  *api.Cluster
	Snapshot *framework.Snapshot
}

// A Federation joins the two levels. It decides how many replicas go to each
// cluster, and places them on the cluster's nodes with a node scheduler. It divides
// again the replicas that found no room, until all are placed or no cluster is
// expected to take another one. Only one goroutine at a time may use it.
type Federation struct {
	scheduler Scheduler
	members   []branch
	nodes     Nodes // estimates for all members
}

// A branch is a member and the scheduler of its nodes.
type branch struct {
	Member
	nodes *scheduling.Scheduler
}

// NewFederation returns a federation of members. s decides for clusters; if it has
// no estimators, [Nodes] estimates through the profile's filters. p places pods on
// nodes; each cluster gets its own scheduler.
//
// Each member must have a unique name and its own snapshot. The error names the
// member that breaks this rule, or says what is wrong with the profile.
func NewFederation(s Scheduler, p scheduling.Profile, members []Member) (*Federation, error) {
	f := &Federation{scheduler: s}
	snapshots := map[string]*framework.Snapshot{}
	var clusters []*api.Cluster
	for _, m := range members {
		clusters = append(clusters, m.Cluster)
	}
	if _, err := sortedClusters(clusters); err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.Snapshot == nil {
			return nil, &api.InvalidError{Object: "cluster " + m.Cluster.Name, Field: "snapshot", Value: "null", Err: errNil}
		}
		for name, other := range snapshots {
			if other == m.Snapshot {
				return nil, &api.InvalidError{Object: "cluster " + m.Cluster.Name, Field: "snapshot", Value: "of cluster " + name, Err: errShared}
			}
		}
		nodes, err := scheduling.New(p)
		if err != nil {
			return nil, err
		}
		snapshots[m.Cluster.Name] = m.Snapshot
		f.members = append(f.members, branch{m, nodes})
	}
	slices.SortFunc(f.members, func(a, b branch) int { return cmp.Compare(a.Cluster.Name, b.Cluster.Name) })
	f.nodes = Nodes{Snapshots: snapshots, Filter: p.Filter}
	if f.scheduler.Estimators == nil {
		f.scheduler.Estimators = []capacity.ClusterEstimator{f.nodes}
	}
	return f, nil
}

// Placed says where the replicas of a workload are. Its JSON form is stable.
type Placed struct {
	// Targets holds how many replicas each cluster has, new and earlier ones, by
	// name.
	Targets []Target `json:"targets"`
	// Removed holds how many replicas must leave each cluster. The snapshots still
	// hold them, because the federation does not decide which ones leave.
	Removed []Target `json:"removed,omitempty"`
	// Unplaced is how many replicas found no room. If the workload is duplicated, it
	// is the sum over all clusters.
	Unplaced int64 `json:"unplaced"`
	// Reason says why no more replicas were given out: it is the error text of the
	// last decision for all of them, or empty if that did not fail. For why a
	// cluster took fewer replicas than it was given, see Share.Reason.
	Reason string `json:"reason,omitempty"`
	// Rounds holds the decisions in order.
	Rounds []Round `json:"rounds"`
	// Pods says where each new replica is, in the order of placing.
	Pods []PlacedPod `json:"pods,omitempty"`
}

// A Round is one division and its outcome.
type Round struct {
	// Shares holds the clusters that were to get replicas, by name.
	Shares []Share `json:"shares"`
	// Decision explains the round. It is nil in later rounds of workloads that are
	// divided by static weights: these divide the rest by the same weights among the
	// clusters that still have room. After 100 rounds, too: each explanation holds all clusters.
	Decision *Explanation `json:"decision,omitempty"`
	// TakenBack reports that the round's placements were taken back, because other
	// clusters may meet the spread constraints better.
	TakenBack bool `json:"takenBack,omitempty"`
}

// A Share is one cluster's part of a round: the estimate and the outcome.
type Share struct {
	Cluster string `json:"cluster"`
	// Estimated is how many replicas the cluster was expected to take, or -1 if no
	// estimator was asked.
	Estimated int64 `json:"estimated"`
	// Given is how many replicas it was to take, and Placed how many found a node.
	Given  int64 `json:"given"`
	Placed int64 `json:"placed"`
	// Reason says why the next one found no node.
	Reason string `json:"reason,omitempty"`
}

// A PlacedPod is a new replica on a node of a cluster.
type PlacedPod struct {
	Cluster string `json:"cluster"`
	Node    string `json:"node"`
	Name    string `json:"name"`
	// Component names the component that the pod belongs to, if there are any.
	Component string             `json:"component,omitempty"`
	Pod       *framework.PodInfo `json:"-"`
}

var errShared = errors.New("belongs to another cluster too")

// Place decides for the workload, places its new replicas on nodes, and counts them
// in the members' snapshots. The snapshots must already hold the replicas that
// w.Clusters lists.
//
// If the clusters are not expected to take all replicas, DynamicWeight and
// Aggregated divide as many as they can take. When nothing more is expected to fit,
// [Nodes] replaces each [capacity.General], which goes by sums and grades. So no
// replica stays unplaced if a node has room for it. Other estimators stay, since
// they may know limits that nodes do not, such as quotas.
//
// [Nodes] goes by what nodes list as allocatable, as Karmada does. So DynamicWeight and
// Aggregated leave replicas unplaced that request a resource for which devices stand, or
// one that the profile ignores, where nodes do not list it.
//
// If replicas find no room in a cluster, that cluster counts as full, and they are
// divided again. DynamicWeight and Aggregated decide anew, given where replicas are
// by then. StaticWeight divides by the same weights among the other clusters.
// Duplicated replicas stay unplaced. It is not an error if some replicas stay
// unplaced: see Placed.Unplaced.
//
// Spread constraints hold for all rounds together. They bind the selected clusters,
// and division may leave some of these without replicas. With DynamicWeight and
// Aggregated, a cluster with less room than expected may be the wrong choice. So
// Place takes the round's placements back and decides for the workload again, now
// knowing how many replicas the cluster takes. This ends when everything that a
// decision gives out fits. If no choice takes all replicas, Place settles for as
// many as some choice takes.
//
// A workload of components goes as a whole: each chosen cluster that does not have
// it takes one set, or none of it. If spread constraints count, clusters without room
// for a set are left out, unless they have one. If a set finds no room all the same,
// clusters are chosen anew as above. If that leads to no other choice, the nodes are
// asked as above. If that does not help, clusters without room may be chosen, too: the
// sets that fit are placed and the others stay unplaced. If no choice has room at all, a
// set stays unplaced. Sets must leave clusters that are not chosen. Targets have no
// replicas, and Unplaced, Given, Placed and Estimated count sets.
//
// New pods are copies of w.Replica.Pod or, without one, of a pod that requests the
// same as w.Replica. A name consists of a base, the cluster and a number. The base
// is the name of w.Replica.Pod or, if that has none, the workload's name without the
// namespace. For a component, the base is the name of its own pod or, if that has
// none, the base above and the component's name. Names of pods that are already in
// the cluster are not used again.
//
// If the first decision fails for any reason except lack of room, Place returns its
// error (see [Scheduler.Schedule]). If a plugin fails at any time, Place takes
// everything back. In both cases nothing has changed. [Scheduler.Schedule], by
// contrast, is strict: it gives out all replicas or none.
//
// A workload whose affinities and components would take more than 100,000,000 steps in all
// rounds is an [*api.InvalidError]. It is one, too, if more than 1,000,000 pods would be placed, with
// those that are taken back. To ask the filters of a node about a component takes 8.
//
// Cost: one placement at node level for each replica, and for each round one pass
// over the nodes of the clusters whose snapshot has changed since the last. [Nodes] and
// [capacity.General] are not asked about the others, so filters must read nothing that
// changes besides the snapshot. Other estimators are asked about all clusters. Each round places a replica for good, finds that a
// cluster is full, or is the last one.
func (f *Federation) Place(w *Workload) (*Placed, error) {
	if w == nil {
		return nil, w.check()
	}
	p := newPlacing(f, w)
	marks := p.begin()
	err := p.run()
	p.end(marks, err == nil)
	if err != nil {
		return nil, err
	}
	return p.out, nil
}
