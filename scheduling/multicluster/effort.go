package multicluster

// shared is what the affinities of a decision share: their number must not multiply what one costs.
type shared struct {
	// keepsSets counts the set that a cluster has as room for it. Karmada does not, so it moves a workload of
	// components that has filled its cluster.
	keepsSets bool
	// skipsFull leaves clusters without room out of a choice under spread constraints. Karmada does not.
	skipsFull bool

	effort
	budget
	assumed   budget      // for assumed workloads; who has them in flight must not end other decisions
	estimates []*estimate // by cluster, nil if nobody has asked yet
	shortages []error     // of the affinities that lack room
	hopeless  []int       // affinities that lead nowhere, however much room there is, by index
}

// effort is how many steps the searches for clusters that meet spread constraints may still take.
type effort struct {
	paths      int // for combinations of groups
	looks      int // at clusters, to fill the groups of paths
	visits     int // of the exhaustive search
	table      int // sums that each search may keep to skip what is worse, for this affinity
	affinities int // that have begun
}

// begin gives the searches for the next affinity all steps if it is the first, and at least half
// as many as the one before otherwise, down to one of 2^leastEffort.
func (e *effort) begin() {
	part := min(e.affinities, leastEffort)
	e.affinities++
	e.paths = max(e.paths, maxPathSteps>>part)
	e.looks = max(e.looks, maxFillSteps>>part)
	e.visits = max(e.visits, maxSteps>>part)
	e.table = maxScoreTable >> part
}

const leastEffort = 10
