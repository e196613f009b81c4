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
	// Cluster says what filters and scorers read. Its status is made anew from
	// the snapshot for each decision, with spec.resourceModels if there are any.
	Cluster  *api.Cluster
	Snapshot *framework.Snapshot
}

// A Federation joins the two levels: it decides how many replicas go to which
// cluster, places each cluster's replicas on its nodes with a node scheduler,
// and divides again what found no room, until all replicas are placed or no
// cluster is expected to take another one. It belongs to one goroutine at a
// time.
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

// NewFederation returns a federation of members. s decides for clusters; if it
// has no estimators, [Nodes] estimates through the profile's filters. p places
// pods on nodes, for each cluster with its own scheduler.
//
// Every member must have a name of its own and a snapshot; the error tells which
// one has not, or what is wrong with the profile.
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
	// Targets is how many replicas each cluster has, by name, new ones and those
	// that were there.
	Targets []Target `json:"targets"`
	// Removed is how many replicas are to go from which cluster. The snapshots
	// still hold them: which ones go is not decided here.
	Removed []Target `json:"removed,omitempty"`
	// Unplaced is how many replicas found no room; in all clusters together, if
	// the workload is duplicated.
	Unplaced int64 `json:"unplaced"`
	// Reason says why no more replicas were given out: the text of the error of
	// the last decision for all of them. It is empty if none failed. Why a
	// cluster took fewer replicas than it was given stands in Share.Reason.
	Reason string `json:"reason,omitempty"`
	// Rounds holds the decisions one after the other.
	Rounds []Round `json:"rounds"`
	// Pods says where each new replica is, in the order of placing.
	Pods []PlacedPod `json:"pods,omitempty"`
}

// A Round is one division and what came of it.
type Round struct {
	// Shares holds the clusters that were to get replicas, by name.
	Shares []Share `json:"shares"`
	// Decision explains the round. It is nil in later rounds of workloads that
	// are divided by static weights: what is left is divided by the same
	// weights among the clusters that still have room.
	Decision *Explanation `json:"decision,omitempty"`
	// TakenBack tells that what the round placed was taken back, because other
	// clusters may meet the spread constraints better.
	TakenBack bool `json:"takenBack,omitempty"`
}

// A Share is what one cluster got in a round: the estimate, and what became of
// it.
type Share struct {
	Cluster string `json:"cluster"`
	// Estimated is how many replicas the cluster was expected to have room for,
	// -1 if nobody was asked.
	Estimated int64 `json:"estimated"`
	// Given is how many replicas it was to take, and Placed how many found a
	// node.
	Given  int64 `json:"given"`
	Placed int64 `json:"placed"`
	// Reason says why the next one did not.
	Reason string `json:"reason,omitempty"`
}

// A PlacedPod is a new replica on a node of a cluster.
type PlacedPod struct {
	Cluster string `json:"cluster"`
	Node    string `json:"node"`
	Name    string `json:"name"`
	// Component is the component that it is one copy of, if there are any.
	Component string             `json:"component,omitempty"`
	Pod       *framework.PodInfo `json:"-"`
}

var errShared = errors.New("belongs to another cluster too")

// Place decides for the workload, places its new replicas on nodes, and counts
// them in the members' snapshots. Replicas that w.Clusters says are there are
// taken to be in the snapshots already.
//
// If the clusters are not expected to take all replicas, those that they can
// take are divided, with DynamicWeight and Aggregated. When nothing more is
// expected to fit, and there is an [capacity.General], which goes by sums and
// grades, [Nodes] takes its place, so that nothing stays unplaced that a node
// has room for. Other estimators keep their say: they may know limits that nodes
// do not, such as quotas.
//
// When replicas find no room in a cluster, that cluster counts as full, and they
// are divided again: with DynamicWeight and Aggregated by a new decision that
// knows where replicas are by then; with StaticWeight by the same weights among
// the others. Duplicated replicas stay unplaced. Placing as much as possible is
// no error: see Placed.Unplaced.
//
// Spread constraints hold for all rounds together. With DynamicWeight and
// Aggregated, a cluster with less room than expected may be the wrong choice:
// what the round placed is taken back, and the workload decided for again, now
// that it is known how many replicas the cluster takes, until what is given out
// fits or, if no choice takes everything, as much as some choice takes.
//
// A workload of components goes as a whole: each chosen cluster that does not
// have it takes one set, or none of it. If a set finds no room, and there are
// spread constraints, clusters are chosen anew as above, now that it is known
// which cannot take one. If that leads to no other choice, the sets that fit are
// placed and the others stay unplaced. If no choice of clusters is expected to
// have room, the nodes are asked as above, and if they have none either, a set
// stays unplaced. Targets have no replicas then, and Unplaced, Given, Placed and
// Estimated count sets.
//
// New pods are copies of w.Replica.Pod, or of a pod that requests what w.Replica
// does, named after it, the cluster and a number (those of a component after it
// and the component, if their own pod has no name). Names of pods that are in the
// cluster are not given again.
//
// If the first decision fails otherwise than for want of room, its error is
// returned (see [Scheduler.Schedule]). An error of a plugin at any time takes back everything. Then nothing has
// changed. [Scheduler.Schedule] is strict: it gives out all replicas or none.
//
// Cost: one placement at node level for each replica, and for each round one
// pass over the nodes of all clusters. A round places a replica for good or
// finds out that a cluster is full, or is the last one.
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
