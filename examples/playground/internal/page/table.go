package page

import (
	"cmp"
	"errors"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// A kept decision is the next one about a pod, with every score, so that other weights ask
// no plugin.
type kept struct {
	version     int
	pod         *framework.PodInfo
	lane        *lane
	explanation *scheduling.Explanation // under the profile's own weights
	table       *scheduling.ScoreTable
	columns     map[string]int // scorers by name
	err         error          // the decision cannot be made
}

// keep filters and scores for the next decision.
func (w *world) keep(pod *framework.PodInfo) *kept {
	k := &kept{version: w.version, pod: pod, lane: w.laneOf(pod), columns: map[string]int{}}
	for i, s := range k.lane.profile.Score {
		k.columns[s.Plugin.Name()] = i
	}
	k.lane.plain.Seek(w.last.Position())
	k.explanation = k.lane.plain.Explain(w.snapshot, pod)
	k.table, k.err = k.lane.plain.ScoreTable(w.snapshot, pod)
	return k
}

// A Decision is what comes of a pod.
type Decision struct {
	Pod     string `json:"pod"`
	Profile string `json:"profile"`
	// Chosen is the node, "" for none; Error says why.
	Chosen string `json:"chosen,omitempty"`
	Error  string `json:"error,omitempty"`
	Score  int64  `json:"score"`
	// Tied are the nodes with the highest total, TieRule the rule that chooses.
	Tied      []string `json:"tied,omitempty"`
	TieRule   string   `json:"tieRule"`
	Evaluated int      `json:"evaluated"`
	Feasible  int      `json:"feasible"`
	// Unscored is set if a single feasible node made scoring needless.
	Unscored bool `json:"unscored,omitempty"`
	// Own is where the pod goes under the profile's own weights, if these are others.
	Own string `json:"own,omitempty"`
	// Reasons are why nodes are out, the most frequent first.
	Reasons []*Reason `json:"reasons,omitempty"`
}

// A Reason is why a number of nodes are out.
type Reason struct {
	Nodes  int    `json:"nodes"`
	Plugin string `json:"plugin,omitempty"`
	Text   string `json:"text"`
}

// A Row is a node in the table.
type Row struct {
	Node    string `json:"node"`
	Verdict string `json:"verdict"`
	Rank    int    `json:"rank,omitempty"`
	Total   int64  `json:"total"`
	Chosen  bool   `json:"chosen,omitempty"`
	Tied    bool   `json:"tied,omitempty"`
	// Cells are the scores, one for each scorer of the profile; nil without scores.
	Cells []*Cell `json:"cells,omitempty"`
	// Plugin and Reasons say why the node is out.
	Plugin  string   `json:"plugin,omitempty"`
	Reasons []string `json:"reasons,omitempty"`

	node *scheduling.NodeExplanation // for fill
}

// A Cell is one plugin's score of one node.
type Cell struct {
	Raw        int64 `json:"raw"`
	Normalized int64 `json:"normalized"`
	Weighted   int64 `json:"weighted"`
}

// weigh makes the decision under the weights and returns a row for each node: the feasible
// ones by rank, then the others in the snapshot's order.
func (k *kept) weigh(weights []int64) (*Decision, []*Row) {
	e := k.explanation
	d := &Decision{
		Pod: k.pod.Pod.Key(), Profile: k.lane.profile.Name, TieRule: e.TieRule, Evaluated: e.Evaluated, Feasible: e.Feasible,
		Unscored: e.Unscored, Reasons: reasonsOf(e),
	}
	if k.err != nil {
		d.Error = k.err.Error()
		return d, nil
	}
	choice, err := k.table.Choose(weights)
	if err != nil {
		d.Error = err.Error()
	}
	d.Chosen, d.Score = choice.Node, choice.Score
	if own := k.lane.plain.Weights(); !slices.Equal(own, weights) {
		if o, err := k.table.Choose(own); err == nil {
			d.Own = o.Node
		}
	}
	rows := k.rows(weights)
	scored := 0
	for scored < len(rows) && rows[scored].Rank > 0 {
		scored++
	}
	rank(rows[:scored])
	for _, r := range rows {
		r.Chosen = r.Node == d.Chosen
		if r.Tied = r.Rank == 1; r.Tied {
			d.Tied = append(d.Tied, r.Node)
		}
	}
	slices.SortStableFunc(rows[:scored], func(a, b *Row) int {
		if c := cmp.Compare(a.Rank, b.Rank); c != 0 || a.Chosen == b.Chosen {
			return c
		} else if a.Chosen {
			return -1
		}
		return 1
	})
	return d, rows
}

// rows returns the nodes with scores before the others, each list in the snapshot's order.
// Rank is 1 for all that have scores; cells are left to fill.
func (k *kept) rows(weights []int64) []*Row {
	nodes := k.explanation.Nodes
	list := make([]Row, len(nodes))
	rows, others := make([]*Row, 0, len(nodes)), make([]*Row, 0, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		r := &list[i]
		*r = Row{Node: n.Node, Verdict: n.Verdict, Plugin: n.Plugin, Reasons: n.Reasons, node: n}
		if n.Rank == 0 {
			others = append(others, r)
			continue
		}
		r.Rank = 1
		for s := range n.Scores {
			r.Total += n.Scores[s].Normalized * weights[k.columns[n.Scores[s].Plugin]]
		}
		rows = append(rows, r)
	}
	return append(rows, others...)
}

// fill adds the cells of a row. Only rows that are shown need them.
func (k *kept) fill(r *Row, weights []int64) {
	if r.Rank == 0 {
		return
	}
	r.Cells = make([]*Cell, len(weights))
	for _, s := range r.node.Scores {
		column := k.columns[s.Plugin]
		r.Cells[column] = &Cell{s.Raw, s.Normalized, s.Normalized * weights[column]}
	}
}

// rank numbers rows by their totals; equal totals share a rank. The rows stay in order.
func rank(rows []*Row) {
	order := slices.Clone(rows)
	slices.SortStableFunc(order, func(a, b *Row) int { return cmp.Compare(b.Total, a.Total) })
	for i, r := range order {
		r.Rank = i + 1
		if i > 0 && order[i-1].Total == r.Total {
			r.Rank = order[i-1].Rank
		}
	}
}

func reasonsOf(e *scheduling.Explanation) (list []*Reason) {
	known := map[[2]string]*Reason{}
	count := func(plugin, text string) {
		r := known[[2]string{plugin, text}]
		if r == nil {
			r = &Reason{Plugin: plugin, Text: text}
			known[[2]string{plugin, text}] = r
			list = append(list, r)
		}
		r.Nodes++
	}
	for i := range e.Nodes {
		n := &e.Nodes[i]
		switch n.Verdict {
		case scheduling.VerdictFeasible:
		case scheduling.VerdictSampled:
			count("", "not looked at: percentageOfNodesToScore ends the search before")
		default:
			for _, text := range n.Reasons {
				count(n.Plugin, text)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *Reason) int { return cmp.Compare(b.Nodes, a.Nodes) })
	return list
}

// A class is pods that are equal in all that plugins may read, with its kept scores.
type class struct {
	pod   *framework.PodInfo
	pods  int
	lane  *lane
	table *scheduling.ScoreTable
}

// classFields are the parts of a pod that make classes: all but its name.
const classFields = framework.FieldNamespace | framework.FieldLabels | framework.FieldAnnotations | framework.FieldOwner |
	framework.FieldNodeName | framework.FieldNominated | framework.FieldNodeChoice | framework.FieldPodAffinity |
	framework.FieldTolerations | framework.FieldSpread | framework.FieldRequests | framework.FieldLimits |
	framework.FieldHostPorts | framework.FieldImages | framework.FieldVolumes | framework.FieldPriority | framework.FieldClaims

// maxScores bounds the kept scores of classes: nodes times classes. maxScoreWork bounds the work of making them, but for
// the first.
const (
	maxScores    = 100_000
	maxScoreWork = maxWork / 20
)

// classes keeps the scores of the classes of waiting pods, each as if it were decided about
// next. Of many classes, or of those that are much work, only the first are kept.
func (w *world) classes() (list []*class, all bool) {
	most := max(10, maxScores/max(1, w.snapshot.Len()))
	known := map[string]*class{}
	all = true
	work := 0
	for _, pod := range w.queue {
		key := pod.Pod.Spec.SchedulerName + "\x00" + pod.ClassKey(classFields)
		c := known[key]
		if c == nil {
			if len(list) == most || work > maxScoreWork {
				all = false
				continue
			}
			c = &class{pod: pod, lane: w.laneOf(pod)}
			known[key] = c
			c.lane.plain.Seek(w.last.Position())
			if table, err := c.lane.plain.ScoreTable(w.snapshot, pod); err == nil {
				c.table = table
			}
			list = append(list, c)
			excess := w.excess(pod.Pod)
			work += excess + w.around.searchWork(w.snapshot.Len(), excess, ownTerms(&pod.Pod.Spec)+w.keys) + w.newcomerWork(pod.Pod)
		}
		c.pods++
	}
	return list, all
}

// keepClasses keeps the scores of the classes, unless they are kept already.
func (w *world) keepClasses() {
	if w.kept == nil || w.keptAt != w.version {
		w.kept, w.keptAll = w.classes()
		w.keptAt = w.version
	}
}

// Elsewhere is what other weights change for all pods that wait, each decided about in the
// cluster as it is now.
type Elsewhere struct {
	Pods    int  `json:"pods"`
	Classes int  `json:"classes"`
	Of      int  `json:"of"`  // pods that were compared
	All     bool `json:"all"` // these are all that wait
	// Moves are the first pods of classes that go elsewhere.
	Moves []Moved `json:"moves,omitempty"`
}

// Moved is a pod that other weights put elsewhere.
type Moved struct {
	Pod  string `json:"pod"`
	From string `json:"from"`
	To   string `json:"to"`
}

// maxMoves bounds the pods that are named.
const maxMoves = 5

// elsewhere compares the weights of now with the profiles' own.
func elsewhere(list []*class, all bool) (*Elsewhere, error) {
	e := &Elsewhere{All: all}
	for _, c := range list {
		e.Of += c.pods
		if c.table == nil {
			continue
		}
		was, err := chosen(c.table, c.lane.plain.Weights())
		if err != nil {
			return nil, err
		}
		now, err := chosen(c.table, c.lane.weights)
		if err != nil {
			return nil, err
		}
		if was == now {
			continue
		}
		e.Pods += c.pods
		e.Classes++
		if len(e.Moves) < maxMoves {
			e.Moves = append(e.Moves, Moved{c.pod.Pod.Key(), was, now})
		}
	}
	return e, nil
}

// chosen returns the node that the weights choose, "" for none.
func chosen(t *scheduling.ScoreTable, weights []int64) (string, error) {
	d, err := t.Choose(weights)
	var fit *scheduling.FitError
	if errors.As(err, &fit) {
		return "", nil
	}
	return d.Node, err
}
