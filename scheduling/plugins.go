package scheduling

import (
	"cmp"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/framework/queueing"
)

// plugins is a profile resolved once: every optional interface is looked up when the
// scheduler is built, never in a cycle.
type plugins struct {
	preFilters []preFilter
	filters    []filterPlugin
	preScores  []preScore
	scorers    []scorePlugin
	reserve    []concerning[framework.ReservePlugin]
	details    []concerning[framework.ReserveDetailer] // of reserve, those that are one
	reserving  concerns                                // of reserve
	telling    concerns                                // of details

	preEnqueue []named[queueing.PreEnqueuePlugin]
	queueSort  queueing.QueueSortPlugin
	postFilter []named[framework.PostFilterPlugin]
	permit     []named[framework.PermitPlugin]
	preBind    []named[framework.PreBindPlugin]
	preFlight  []framework.PreBindPreFlighter // parallel to preBind; nil: it always acts, alone
	bind       []named[framework.BindPlugin]
	postBind   []named[framework.PostBindPlugin]

	extenders []Extender
	keyers    []placedKeyer // of all plugins that filter and score
	keyParts  concern       // of all keyers that have one: pods that differ in it have different keyers

	conditional framework.PodParts // parts that a plugin asks for and that a pod may have without their counting

	filterScopes, scorerScopes []listedScope // parallel to side.reads

	keyVersions  []concerning[incremental.ClassKeyer] // of keyers, one for each version that they have; those that every pod concerns first
	alwaysAsked  int                                  // how many of keyVersions every pod concerns
	versionParts concern                              // of the others together

	allFilters, allScorers choice

	cost cost // of asking about a node
}

// named is a plugin as its type for one point, with its name in the profile.
type named[T any] struct {
	name   string
	plugin T
}

type preFilter struct {
	name   string
	plugin framework.PreFilterPlugin
	filter int // index in filters; -1 if the plugin only prepares
	scope  scope
	keyer  incremental.ClassKeyer // nil if it has no key of its own
	idler  incremental.Idler      // nil if it cannot tell

	concern concern // of plugin, which may be a wrapper; that of scope is the scoper's
}

type filterPlugin struct {
	name     string
	unbound  framework.NodeFilter // used if no PreFilter binds one; may be nil
	bound    bool                 // a PreFilter binds it
	supposes supposition
	scope    scope
	keyer    incremental.ClassKeyer
}

type preScore struct {
	name   string
	plugin framework.PreScorePlugin
	groups incremental.GroupPreScorePlugin // the same, if it can handle groups
	scorer int                             // index in scorers; -1 if the plugin only prepares
	scope  scope
	keyer  incremental.ClassKeyer
	idler  incremental.Idler // nil if it cannot tell

	concern concern // of plugin, as for preFilter
}

type scorePlugin struct {
	name    string
	unbound framework.NodeScorer
	bound   bool
	weight  int64
	byRange framework.RangeNormalizer
	byNodes framework.ScoreNormalizer
	scope   scope
	keyer   incremental.ClassKeyer
}

func resolve(p *Profile) plugins {
	var t plugins
	t.resolveFilters(p)
	t.resolveScorers(p)
	t.resolveRest(p)
	t.findScopes()
	t.findKeyers()
	t.findKeyVersions()
	t.findConditional()
	t.findCost()
	t.allFilters = everything(len(t.filters), len(t.preFilters))
	t.allScorers = everything(len(t.scorers), len(t.preScores))
	return t
}

func (t *plugins) resolveFilters(p *Profile) {
	for _, pl := range p.Filter {
		f := filterPlugin{name: pl.Name(), supposes: suppositionOf(pl), scope: scopeOf(pl), keyer: keyerOf(pl)}
		if u, ok := framework.As[framework.FilterPlugin](pl); ok {
			f.unbound = u
		}
		t.filters = append(t.filters, f)
	}
	for _, pl := range orderOf(p.PreFilter, p.Filter) {
		if pre, ok := framework.As[framework.PreFilterPlugin](pl); ok {
			i := slices.IndexFunc(t.filters, func(f filterPlugin) bool { return f.name == pl.Name() })
			if i >= 0 {
				t.filters[i].bound = true
			}
			idler, _ := framework.As[incremental.Idler](pl)
			t.preFilters = append(t.preFilters, preFilter{pl.Name(), pre, i, scopeOf(pl), keyerOf(pl), idler, concernOf(pre)})
		}
	}
}

func (t *plugins) resolveScorers(p *Profile) {
	for _, w := range p.Score {
		s := scorePlugin{name: w.Plugin.Name(), weight: weight(w), scope: scopeOf(w.Plugin), keyer: keyerOf(w.Plugin)}
		if u, ok := framework.As[framework.ScorePlugin](w.Plugin); ok {
			s.unbound = u
		}
		s.byRange, _ = framework.As[framework.RangeNormalizer](w.Plugin)
		s.byNodes, _ = framework.As[framework.ScoreNormalizer](w.Plugin)
		t.scorers = append(t.scorers, s)
	}
	for _, pl := range orderOf(p.PreScore, scorePlugins(p.Score)) {
		if pre, ok := framework.As[framework.PreScorePlugin](pl); ok {
			i := slices.IndexFunc(t.scorers, func(s scorePlugin) bool { return s.name == pl.Name() })
			if i >= 0 {
				t.scorers[i].bound = true
			}
			groups, _ := pre.(incremental.GroupPreScorePlugin)
			idler, _ := framework.As[incremental.Idler](pl)
			t.preScores = append(t.preScores, preScore{pl.Name(), pre, groups, i, scopeOf(pl), keyerOf(pl), idler, concernOf(pre)})
		}
	}
}

// resolveRest looks up the plugins of all points that neither filter nor score.
func (t *plugins) resolveRest(p *Profile) {
	for _, pl := range p.Reserve {
		r, _ := framework.As[framework.ReservePlugin](pl)
		t.reserve = append(t.reserve, concerning[framework.ReservePlugin]{r, concernOf(r)})
		if d, ok := framework.As[framework.ReserveDetailer](pl); ok {
			t.details = append(t.details, concerning[framework.ReserveDetailer]{d, concernOf(d)})
		}
	}
	t.reserving, t.telling = concernsOf(t.reserve), concernsOf(t.details)
	t.preEnqueue = allAs[queueing.PreEnqueuePlugin](p.PreEnqueue)
	t.queueSort = PrioritySort{}
	if p.QueueSort != nil {
		t.queueSort, _ = framework.As[queueing.QueueSortPlugin](p.QueueSort)
	}
	t.postFilter = allAs[framework.PostFilterPlugin](p.PostFilter)
	t.permit = allAs[framework.PermitPlugin](p.Permit)
	t.preBind = allAs[framework.PreBindPlugin](p.PreBind)
	for _, pl := range p.PreBind {
		f, _ := framework.As[framework.PreBindPreFlighter](pl)
		t.preFlight = append(t.preFlight, f)
	}
	t.bind = allAs[framework.BindPlugin](p.Bind)
	t.postBind = allAs[framework.PostBindPlugin](p.PostBind)
	t.extenders = slices.Clone(p.Extenders)
}

// A listedScope is a copy of a plugin's scope: those of all plugins lie side by side, as
// every pod of unknown class needs them.
type listedScope struct {
	scope
	counts bool // false for a plugin that prepares a filter or scorer, which has its own
}

// findScopes lists the scopes of all plugins that filter or score. A list ends with the last
// plugin that counts: every pod of unknown class walks it. The lists must be found again
// after a scope has changed.
func (t *plugins) findScopes() {
	t.filterScopes, t.scorerScopes = nil, nil
	for i := range t.filters {
		t.filterScopes = append(t.filterScopes, listedScope{t.filters[i].scope, true})
	}
	for i := range t.preFilters {
		p := &t.preFilters[i]
		t.filterScopes = append(t.filterScopes, listedScope{p.scope, p.filter < 0})
	}
	for i := range t.scorers {
		t.scorerScopes = append(t.scorerScopes, listedScope{t.scorers[i].scope, true})
	}
	for i := range t.preScores {
		p := &t.preScores[i]
		t.scorerScopes = append(t.scorerScopes, listedScope{p.scope, p.scorer < 0})
	}
	t.filterScopes, t.scorerScopes = withoutTail(t.filterScopes), withoutTail(t.scorerScopes)
}

// withoutTail returns the list up to its last scope that counts.
func withoutTail(list []listedScope) []listedScope {
	for len(list) > 0 && !list[len(list)-1].counts {
		list = list[:len(list)-1]
	}
	return list
}

// A placedKeyer is a plugin that has a key of its own, with its place in the reads of its
// side (see side.reads).
type placedKeyer struct {
	incremental.ClassKeyer
	concern concern
	scores  bool
	at      int
}

// findKeyers lists the plugins that have keys of their own. One that only prepares has its
// place behind all filters or scorers.
func (t *plugins) findKeyers() {
	add := func(k incremental.ClassKeyer, scores bool, at int) {
		if k != nil {
			x := placedKeyer{k, keyConcernOf(k), scores, at}
			t.keyers = append(t.keyers, x)
			t.keyParts |= x.concern
		}
	}
	for i := range t.filters {
		add(t.filters[i].keyer, false, i)
	}
	for i := range t.preFilters {
		if p := &t.preFilters[i]; p.filter < 0 {
			add(p.keyer, false, len(t.filters)+i)
		}
	}
	for i := range t.scorers {
		add(t.scorers[i].keyer, true, i)
	}
	for i := range t.preScores {
		if p := &t.preScores[i]; p.scorer < 0 {
			add(p.keyer, true, len(t.scorers)+i)
		}
	}
}

// findKeyVersions lists the keyers to ask for versions, one for each source.
func (t *plugins) findKeyVersions() {
	known := map[string]int{} // by source
	for _, k := range t.keyers {
		source := ""
		if shared, ok := k.ClassKeyer.(incremental.SharedKeyer); ok {
			source = shared.ClassKeySource()
		}
		if i, ok := known[source]; ok {
			t.keyVersions[i].concern = t.keyVersions[i].concern.or(k.concern)
			continue
		}
		if source != "" {
			known[source] = len(t.keyVersions)
		}
		t.keyVersions = append(t.keyVersions, concerning[incremental.ClassKeyer]{k.ClassKeyer, k.concern})
	}
	slices.SortStableFunc(t.keyVersions, func(a, b concerning[incremental.ClassKeyer]) int {
		return cmp.Compare(min(a.concern, 1), min(b.concern, 1))
	})
	for _, v := range t.keyVersions {
		t.versionParts |= v.concern
		if v.concern == 0 {
			t.alwaysAsked++
		}
	}
}

// allAs returns the plugins as T, which they all implement.
func allAs[T any](plugins []framework.Plugin) []named[T] {
	list := make([]named[T], len(plugins))
	for i, pl := range plugins {
		list[i].name = pl.Name()
		list[i].plugin, _ = framework.As[T](pl)
	}
	return list
}

func orderOf(own, derived []framework.Plugin) []framework.Plugin {
	if own != nil {
		return own
	}
	return derived
}

// keyerOf returns the plugin's own part of the class key, nil if it has none.
func keyerOf(p framework.Plugin) incremental.ClassKeyer {
	k, _ := framework.As[incremental.ClassKeyer](p)
	return k
}
