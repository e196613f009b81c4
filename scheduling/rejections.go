package scheduling

import (
	"errors"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

var errNilNode = errors.New("is nil")

// A NodeRejection is one plugin's rejection of a node, with the numbers behind it. Its
// JSON form is stable.
type NodeRejection struct {
	Plugin  string   `json:"plugin"`
	Code    string   `json:"code"`
	Reasons []string `json:"reasons,omitempty"`
	// Details are the numbers, if the plugin tells them (framework.Detailer).
	Details []framework.Detail `json:"details,omitempty"`
}

// Shortages returns the resources that NodeResourcesFit finds too little of.
func Shortages(list []NodeRejection) map[resource.Name]bool {
	short := map[resource.Name]bool{}
	for _, r := range list {
		if r.Plugin != (filter.NodeResourcesFit{}).Name() {
			continue
		}
		for _, d := range r.Details {
			short[resource.Name(d.Subject)] = true
		}
	}
	return short
}

// singleFilters are the filters of a profile, each bound as if it were the only one, so
// that a rejection by one does not hide the others.
type singleFilters struct {
	ready    bool // bound holds the filters
	path     *referencePath
	bound    []single
	bindings []boundPlugins // memory of bound, which may point into it; by call of bind
	binds    int
	byFilter []single
}

// single is a plugin that filters or prepares a filter.
type single struct {
	name     string
	filter   []boundFilter    // at most one
	rejected framework.Status // by PreFilter: of all nodes
	nodes    *boundPlugins    // which nodes PreFilter names; nil: all
}

// Rejections asks every filter about a node of the snapshot, and lists all that reject
// it, in the order of the profile. A decision stops at the first. It counts the pods
// nominated to the node. A plugin that fails is an error, but is left out if a decision does not come to it.
func (f *Filtering) Rejections(node *framework.NodeInfo) ([]NodeRejection, error) {
	if node == nil {
		return nil, &api.InvalidError{Object: "node", Err: errNilNode}
	}
	if err := f.follow(); err != nil {
		return nil, err
	}
	if err := f.bindSingly(); err != nil {
		return nil, err
	}
	var list []NodeRejection
	for i := range f.single.bound {
		x := &f.single.bound[i]
		switch {
		case !x.rejected.IsSuccess():
			list = append(list, rejectionOf(x.name, x.rejected))
		case x.nodes != nil && !x.nodes.allows(node.Name()):
			list = append(list, rejectionOf(x.name, x.nodes.absent))
		default:
			r, rejects, err := f.single.ask(x, node)
			switch {
			case err == nil && rejects:
				list = append(list, r)
			case err != nil:
				if _, fails := f.Node(node); fails != nil {
					return nil, err
				}
			}
		}
	}
	return list, nil
}

func rejectionOf(plugin string, s framework.Status) NodeRejection {
	return NodeRejection{Plugin: plugin, Code: s.Code().String(), Reasons: s.Reasons()}
}

// bindSingly binds each filter on its own, in the order of the profile's filters.
// Plugins that only prepare come first, because others may read what they set.
func (f *Filtering) bindSingly() error {
	all, t, c := &f.single, f.path.plugins, &f.path.cycle
	if all.ready {
		return nil
	}
	if all.path == nil {
		all.path = &referencePath{plugins: t, workers: 1}
		all.bindings = make([]boundPlugins, len(t.preFilters)+len(t.filters))
		all.byFilter = make([]single, len(t.filters))
	}
	all.path.cycle.Reset(c.Pod, c.Snapshot, c.Number, c.Seed)
	all.bound, all.binds = all.bound[:0], 0
	clear(all.byFilter)
	for i := range t.preFilters {
		p := &t.preFilters[i]
		some := choice{pre: []int{i}}
		if p.filter >= 0 {
			some.at = []int{p.filter}
		}
		x, err := all.bind(p.name, &some)
		if err != nil {
			return err
		}
		if p.filter >= 0 {
			all.byFilter[p.filter] = x
		} else {
			all.bound = append(all.bound, x)
		}
	}
	for i := range t.filters {
		if !t.filters[i].bound {
			x, err := all.bind(t.filters[i].name, &choice{at: []int{i}})
			if err != nil {
				return err
			}
			all.byFilter[i] = x
		}
	}
	all.bound = append(all.bound, all.byFilter...)
	for i := range all.bound {
		f.basis.hold(all.bound[i].filter)
	}
	all.ready = true
	return nil
}

func (s *singleFilters) bind(name string, some *choice) (single, error) {
	b := &s.bindings[s.binds]
	s.binds++
	if err := s.path.plugins.bindFilters(&s.path.cycle, allOf(s.path.cycle.Pod), b, some); err != nil {
		return single{}, err
	}
	x := single{name: name, filter: b.filters, rejected: b.rejected}
	if b.restrict {
		x.nodes = b
	}
	return x, nil
}

// ask asks one filter about a node. If nominated pods make it reject the node, the
// details count them.
func (s *singleFilters) ask(x *single, node *framework.NodeInfo) (r NodeRejection, rejects bool, err error) {
	if len(x.filter) == 0 {
		return r, false, nil
	}
	path, snap := s.path, s.path.cycle.Snapshot
	path.bound.filters = x.filter
	v, err := path.tryNominated(snap, node)
	if err != nil || v.filter == passed {
		return r, false, err
	}
	r = rejectionOf(x.name, v.status)
	if r.Details = path.details(x.filter[0], node); len(r.Details) == 0 && len(node.Nominated) > 0 {
		p := probe{node: node}
		err = path.asIfPlaced(snap, x.filter, &p, func(filters []boundFilter) error {
			r.Details = path.details(filters[0], p.node)
			return nil
		})
	}
	return r, true, err
}

// details returns the numbers of a filter. A filter that panics has none: it has
// answered already, and details are only for people.
func (r *referencePath) details(f boundFilter, node *framework.NodeInfo) (list []framework.Detail) {
	d, ok := f.Filter.(framework.Detailer)
	if !ok {
		return nil
	}
	defer func() {
		if recover() != nil {
			list = nil
		}
	}()
	return d.Details(r.cycle.Pod, node)
}

// detailsMost is how many details of a rejection an explanation of all nodes keeps: a pod may have thousands of
// requirements.
const detailsMost = 32

// shortenedDetails returns the first details, and how many more there are.
func shortenedDetails(list []framework.Detail) []framework.Detail {
	more := len(list) - detailsMost
	if more <= 0 {
		return list
	}
	return append(slices.Clone(list[:detailsMost]), framework.Detail{Subject: fmt.Sprintf("%d more", more)})
}

// ExplainAll is Explain with every rejection of every node, not only the first, and
// with the numbers behind them: of each rejection the first 32, and how many more there are.
// It costs a call of every filter for every node, and 2 us for each part of a node affinity that a node does not meet.
func (s *Scheduler) ExplainAll(snap *framework.Snapshot, pod *framework.PodInfo) *Explanation {
	e := s.Explain(snap, pod)
	if len(e.Nodes) == 0 {
		return e
	}
	f, err := s.Filtering(snap, pod)
	for i := range e.Nodes {
		if err != nil {
			e.Error = err.Error()
			return e
		}
		n := &e.Nodes[i]
		n.Rejections, err = f.Rejections(snap.Node(n.Node))
		for k := range n.Rejections {
			n.Rejections[k].Details = shortenedDetails(n.Rejections[k].Details)
		}
	}
	return e
}
