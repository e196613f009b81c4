package multicluster

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
)

// A Scheduler places workloads on clusters. It filters and scores clusters, selects
// some under the placement's spread constraints, and divides the replicas among
// these. It is a plain value without run state, so you may copy and share it. The
// zero value has the plugins and rules of Karmada 1.18, except that the selected
// clusters meet all spread constraints. [Karmada113], [Karmada116] and [Karmada118]
// follow Karmada in that too.
type Scheduler struct {
	// Filters say which clusters are feasible; nil means [DefaultFilters].
	Filters []Filter
	// Scorers rank feasible clusters by the sum of their scores; nil means
	// [DefaultScorers].
	Scorers []Scorer
	// Estimators say how many replicas a cluster can take; the smallest answer
	// counts. nil means capacity.General{}.
	Estimators []capacity.ClusterEstimator
	// Spread says how selection meets spread constraints.
	Spread SpreadRule
	// Method divides replicas by weight.
	Method Method
	// Zones says how affinities match zones: those of static weights, of overflow
	// tiers, and of the default filters.
	Zones ZoneRule
}

// Karmada113 returns a scheduler that decides as Karmada 1.13 does.
//
// Differs: a duplicated workload, if no cluster of a group can take all replicas.
// Original: Karmada 1.13 panics.
// Here: the group scores 0.
// Why: valid input must not end the program.
//
// The deviations of [Divide], [Method.Divide] and [capacity.General] apply, too.
func Karmada113() Scheduler {
	filters := DefaultFilters()
	filters[0] = APIEnablement{OnlyIncomplete: true}
	filters[2] = Affinity{Zones: EveryZone}
	return Scheduler{
		Filters:    filters,
		Estimators: []capacity.ClusterEstimator{capacity.General{Rules: capacity.Karmada113}},
		Spread:     AsKarmada,
		Method:     Floor,
		Zones:      EveryZone,
	}
}

// Karmada116 returns a scheduler that decides as Karmada 1.16 does.
//
// Differs: a workload that may have replicas, but wants none.
// Original: since 1.16 Karmada removes it from all clusters.
// Here: it goes to all selected clusters, as in earlier versions.
// Why: it keeps its place until it wants replicas again.
//
// Differs: a duplicated workload, if no cluster of a group can take all replicas.
// Original: Karmada 1.16 panics.
// Here: the group scores 0.
// Why: valid input must not end the program.
//
// The deviations of [Divide] and [capacity.General] apply, too.
func Karmada116() Scheduler {
	filters := DefaultFilters()
	filters[2] = Affinity{Zones: EveryZone}
	return Scheduler{
		Filters:    filters,
		Estimators: []capacity.ClusterEstimator{capacity.General{Rules: capacity.Karmada113}}, Spread: AsKarmada, Zones: EveryZone,
	}
}

// Karmada118 returns a scheduler that decides as Karmada 1.18 does.
//
// Differs: a workload that may have replicas, but wants none.
// Original: since 1.16 Karmada removes it from all clusters.
// Here: it goes to all selected clusters, as in earlier versions.
// Why: it keeps its place until it wants replicas again.
//
// The deviations of [Divide] and [capacity.General] apply, too.
func Karmada118() Scheduler {
	return Scheduler{Spread: AsKarmada}
}

// A Decision says where a workload goes.
type Decision struct {
	// Targets holds the clusters and their replicas, by name. For a workload without
	// replicas or with components, it holds the selected clusters with 0 replicas.
	Targets []Target
	// Affinity is the name of the placement's ClusterAffinityTerm that led to the
	// result, "" if there are none.
	Affinity string
	// EstimateErrors says which estimators failed for which feasible clusters, by
	// cluster. Each is an [*capacity.EstimatorError], or several joined.
	EstimateErrors []error
}

// A FitError says that no cluster is feasible.
type FitError struct {
	// Clusters is how many clusters there are.
	Clusters int
	// Reasons counts clusters by reason.
	Reasons map[string]int
}

// Error returns Karmada's text, "0/3 clusters are available: 3 cluster(s) ...".
func (e *FitError) Error() string {
	if e.Clusters == 0 || len(e.Reasons) == 0 {
		return fmt.Sprintf("0/%d clusters are available: no cluster exists.", e.Clusters)
	}
	var parts []string
	for reason, n := range e.Reasons {
		parts = append(parts, fmt.Sprintf("%d %s", n, reason))
	}
	slices.Sort(parts)
	return fmt.Sprintf("0/%d clusters are available: %s.", e.Clusters, strings.Join(parts, ", "))
}

// A PluginError says that a filter, scorer or estimator failed to answer, broke its
// contract, or panicked.
type PluginError struct {
	Plugin  string
	Cluster string
	Err     error
}

// Error names the plugin, the cluster and the cause.
func (e *PluginError) Error() string {
	return fmt.Sprintf("plugin %s: cluster %s: %v", e.Plugin, e.Cluster, e.Err)
}

// Unwrap returns the cause.
func (e *PluginError) Unwrap() error { return e.Err }

// Schedule decides where the workload goes and changes nothing. The order of the
// clusters has no effect. It leaves out clusters that are being deleted.
//
// The error is a [*FitError] if no cluster is feasible, a [*SpreadError] if
// selection cannot meet the constraints, and a [*ShortageError] if the selected
// clusters cannot take all replicas. It is a [*PluginError] if a filter or scorer
// fails. A malformed workload, placement or list of clusters is an
// [*api.InvalidError] or several joined ones. If the placement has several
// affinities and none leads to a result, it is the error of the first one.
//
// If an estimator fails for a cluster, the decision leaves it out for that cluster.
// Decision.EstimateErrors lists these failures; if the decision fails, they are
// joined to its error. If no estimator has an opinion of a cluster, the cluster
// counts as able to take all replicas, as in Karmada.
//
// Differs: a cluster for which an estimator fails, if no other has an opinion.
// Original: Karmada counts it as able to take all replicas.
// Here: it counts as able to take none. So a malformed cluster gets replicas only by
// strategies that do not ask for room.
// Why: nothing says that it has room.
//
// Differs: the search for combinations of groups that meet the spread constraints.
// Original: Karmada goes through all of them.
// Here: it ends after about a million steps.
// Why: their number grows exponentially.
//
// Differs: a workload of components that may go to more than one cluster, or must to one in each
// of several regions.
// Original: Karmada 1.18 counts whole sets only if a spread constraint wants exactly one cluster,
// and else as many pods without requests. It ranks regions by replicas, and there are none.
// Here: sets are counted always, and regions are ranked by their room for one set.
// Why: a cluster without room for a set cannot run the workload.
//
// Differs: a workload whose affinities, static weights or components would cost minutes.
// Original: Karmada takes the time.
// Here: more than 20,000,000 steps for all clusters, up to 2 s, are an error. To ask
// estimators of this module about components counts.
// Why: who writes a workload must not hold up the others.
func (s Scheduler) Schedule(clusters []*api.Cluster, w *Workload) (Decision, error) {
	return s.decide(clusters, w, nil)
}

// Explain decides as Schedule does and returns the reasons.
func (s Scheduler) Explain(clusters []*api.Cluster, w *Workload) *Explanation {
	x := &Explanation{}
	if w != nil {
		x.Workload, x.Replicas = w.Name, w.Replicas
	}
	d, err := s.decide(clusters, w, x)
	x.Targets, x.Affinity = d.Targets, d.Affinity
	if err != nil {
		x.Error = err.Error()
	}
	return x
}

func (s Scheduler) decide(clusters []*api.Cluster, w *Workload, x *Explanation) (Decision, error) {
	return s.decideWith(clusters, w, x, &shared{budget: budget{most: maxWork}, assumed: budget{most: maxWork}})
}

func (s Scheduler) decideWith(clusters []*api.Cluster, w *Workload, x *Explanation, common *shared) (Decision, error) {
	s = s.withDefaults()
	if err := s.check(); err != nil {
		return Decision{}, err
	}
	if err := w.check(); err != nil {
		return Decision{}, ofWorkload(w, err)
	}
	sorted, err := sortedClusters(clusters)
	if err != nil {
		return Decision{}, err
	}
	if err := w.checkWork(len(sorted), &common.budget); err != nil {
		return Decision{}, ofWorkload(w, err)
	}
	w = w.named()
	if len(w.Placement.ClusterAffinities) == 0 {
		return s.decideOnce(sorted, w, x, common)
	}
	var first error
	for i := range w.Placement.ClusterAffinities {
		term := &w.Placement.ClusterAffinities[i]
		d, err := s.decideOnce(sorted, w.try(term), x, common)
		if err == nil {
			d.Affinity = term.AffinityName
			return d, nil
		}
		if isTooMuchWork(err) {
			return Decision{}, err // the next one, with what was asked already, would be a matter of luck
		}
		if first == nil {
			first = err
		}
		switch {
		case isHopeless(err):
			common.hopeless = append(common.hopeless, i)
		case isShortage(err):
			common.shortages = append(common.shortages, err)
		}
	}
	return Decision{}, first
}

// isHopeless reports whether a decision failed for another reason than a lack of room: filters reject all
// clusters, or no choice of them meets the spread constraints.
func isHopeless(err error) bool {
	var unfit *FitError
	var spread *SpreadError
	return errors.As(err, &unfit) || errors.As(err, &spread) && spread.Wanted == 0
}

func (s Scheduler) withDefaults() Scheduler {
	if s.Filters == nil {
		s.Filters = DefaultFilters()
		s.Filters[2] = Affinity{Zones: s.Zones}
	}
	if s.Scorers == nil {
		s.Scorers = DefaultScorers()
	}
	if s.Estimators == nil {
		s.Estimators = []capacity.ClusterEstimator{capacity.General{}}
	}
	return s
}

// check returns an error if a plugin is nil or a rule is unknown.
func (s Scheduler) check() error {
	absent := func(field string, i int) error {
		return &api.InvalidError{Object: "scheduler", Field: fmt.Sprintf("%s[%d]", field, i), Value: "null", Err: errNil}
	}
	for i, p := range s.Filters {
		if isNil(p) {
			return absent("filters", i)
		}
	}
	for i, p := range s.Scorers {
		if isNil(p) {
			return absent("scorers", i)
		}
	}
	for i, p := range s.Estimators {
		if isNil(p) {
			return absent("estimators", i)
		}
	}
	if s.Spread > AsKarmada {
		return &api.InvalidError{Object: "scheduler", Field: "spread", Value: fmt.Sprint(s.Spread), Err: errUnknown}
	}
	if s.Zones > EveryZone {
		return &api.InvalidError{Object: "scheduler", Field: "zones", Value: fmt.Sprint(s.Zones), Err: errUnknown}
	}
	return nil
}

// isNil reports whether a plugin is nil or a nil pointer.
func isNil(plugin any) bool {
	v := reflect.ValueOf(plugin)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// ofWorkload adds the workload to errors about its fields.
func ofWorkload(w *Workload, err error) error {
	if e, ok := err.(*api.InvalidError); ok && e.Object == "" {
		named := *e
		named.Object = "workload " + w.Name
		return &named
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, ofWorkload(w, e))
		}
		return errors.Join(all...)
	}
	return err
}

var (
	errNil    = errors.New("is nil")
	errNoName = errors.New("must not be empty")
)

// sortedClusters returns the clusters that are not being deleted, by name.
func sortedClusters(clusters []*api.Cluster) ([]*api.Cluster, error) {
	sorted := make([]*api.Cluster, 0, len(clusters))
	seen := make(map[string]bool, len(clusters))
	for i, c := range clusters {
		switch {
		case c == nil:
			return nil, &api.InvalidError{Object: fmt.Sprintf("cluster %d of the list", i), Value: "null", Err: errNil}
		case c.Name == "":
			return nil, &api.InvalidError{Object: fmt.Sprintf("cluster %d of the list", i), Field: "metadata.name", Err: errNoName}
		case seen[c.Name]:
			return nil, &api.InvalidError{Object: "cluster " + c.Name, Field: "metadata.name", Value: c.Name, Err: errNamedTwice}
		}
		seen[c.Name] = true
		if c.DeletionTimestamp == nil {
			sorted = append(sorted, c)
		}
	}
	slices.SortFunc(sorted, func(a, b *api.Cluster) int { return strings.Compare(a.Name, b.Name) })
	return sorted, nil
}
