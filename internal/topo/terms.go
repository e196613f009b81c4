package topo

import (
	"encoding/binary"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/internal/runner"
)

// A Term is a compiled pod affinity term: it selects pods by namespace and
// labels.
type Term struct {
	// Key is the topology key.
	Key string
	// Weight is the weight of a preferred term, and 0 for others.
	Weight int64

	namespaces []string            // sorted, without duplicates
	selected   match.LabelSelector // selects namespaces by their labels
	pods       match.LabelSelector
}

// Matches reports whether the term selects a pod with these labels in that
// namespace. in are the labels of the namespace.
func (t *Term) Matches(namespace string, in, labels map[string]string) bool {
	if _, found := slices.BinarySearch(t.namespaces, namespace); !found && !t.selected.Matches(in) {
		return false
	}
	return t.pods.Matches(labels)
}

// MayMatch is Matches for a namespace with unknown labels: it assumes that a term
// with a namespace selector may select it.
func (t *Term) MayMatch(namespace string, labels map[string]string) bool {
	if _, found := slices.BinarySearch(t.namespaces, namespace); !found && t.selected.SelectsNothing() {
		return false
	}
	return t.pods.Matches(labels)
}

// SelectsNamespaces reports whether the term has a namespace selector.
func (t *Term) SelectsNamespaces() bool { return !t.selected.SelectsNothing() }

// appendKey appends the identity of the term.
func (t *Term) appendKey(b []byte) []byte {
	b = appendStrings(match.AppendString(b, t.Key), t.namespaces)
	b = t.pods.AppendKey(t.selected.AppendKey(b))
	return binary.AppendVarint(b, t.Weight)
}

// Terms are the affinity terms of a pod. A list with a malformed term is empty.
type Terms struct {
	Required, RequiredAnti   []Term
	Preferred, PreferredAnti []Term
	// Err reports the problems of the terms, in the words of kube-scheduler.
	Err error
}

// TermsOf returns the pod's affinity terms, compiled once per pod.
func TermsOf(p *framework.PodInfo) *Terms {
	if !hasTerms(p) {
		return &noTerms
	}
	return traitsOf.Of(p).terms
}

var noTerms Terms // of every pod without terms; it never changes

// The lists of terms, numbered.
const (
	required = iota
	requiredAnti
	preferred
	preferredAnti
	kinds
)

func (t *Terms) list(kind int) []Term {
	return [kinds][]Term{t.Required, t.RequiredAnti, t.Preferred, t.PreferredAnti}[kind]
}

func newTerms(p *api.Pod) *Terms {
	t, a := new(Terms), p.Spec.Affinity
	var problems []string
	compile := func(name string, n int, at func(i int) (*api.PodAffinityTerm, int32)) []Term {
		terms := make([]Term, 0, n)
		for i := range n {
			source, weight := at(i)
			term, err := newTerm(p.Namespace, source, int64(weight))
			if err != nil {
				problems = append(problems, name+": "+err.Error())
				return nil
			}
			terms = append(terms, term)
		}
		return terms
	}
	plain := func(name string, list []api.PodAffinityTerm) []Term {
		return compile(name, len(list), func(i int) (*api.PodAffinityTerm, int32) { return &list[i], 0 })
	}
	weighted := func(name string, list []api.WeightedPodAffinityTerm) []Term {
		return compile(name, len(list), func(i int) (*api.PodAffinityTerm, int32) {
			return &list[i].PodAffinityTerm, list[i].Weight
		})
	}
	var like api.PodAffinity
	if a.PodAffinity != nil {
		like = *a.PodAffinity
	}
	var avoid api.PodAntiAffinity
	if a.PodAntiAffinity != nil {
		avoid = *a.PodAntiAffinity
	}
	t.Required = plain("requiredAffinityTerms", like.RequiredDuringSchedulingIgnoredDuringExecution)
	t.RequiredAnti = plain("requiredAntiAffinityTerms", avoid.RequiredDuringSchedulingIgnoredDuringExecution)
	t.Preferred = weighted("preferredAffinityTerms", like.PreferredDuringSchedulingIgnoredDuringExecution)
	t.PreferredAnti = weighted("preferredAntiAffinityTerms", avoid.PreferredDuringSchedulingIgnoredDuringExecution)
	t.Err = match.ProblemsError(problems)
	return t
}

func newTerm(namespace string, source *api.PodAffinityTerm, weight int64) (Term, error) {
	t := Term{Key: source.TopologyKey, Weight: weight}
	var err error
	if t.pods, err = match.NewLabelSelector(source.LabelSelector); err != nil {
		return Term{}, err
	}
	if t.selected, err = match.NewLabelSelector(source.NamespaceSelector); err != nil {
		return Term{}, err
	}
	if len(source.Namespaces) == 0 && source.NamespaceSelector == nil {
		t.namespaces = []string{namespace}
	} else {
		t.namespaces = slices.Compact(slices.Sorted(slices.Values(source.Namespaces)))
	}
	return t, nil
}

// traits determine the counters in which a pod with terms counts.
type traits struct {
	text  string // equal exactly for pods that count in the same counters
	shard uint32 // shardOf(text)
	terms *Terms
	own   []byte   // the terms, or their digest
	keys  []string // sorted: the labels that the terms read
	seen  runner.Seen
}

// noTraits are those of every pod without terms, but for text and seen.
var noTraits = traits{terms: &noTerms, own: appendTerms(nil, &noTerms)}

var traitsOf = framework.NewPodDerived(func(p *framework.PodInfo) *traits {
	t := &traits{terms: newTerms(p.Pod)}
	var buffer [256]byte
	t.text = string(appendTraits(buffer[:0], p.Pod, t.terms))
	t.shard = shardOf(t.text)
	t.own = slices.Clone(shortKey(appendTerms(buffer[:0], t.terms)))
	t.keys = t.terms.reads()
	return t
})

// reads returns the labels that the terms read, sorted.
func (t *Terms) reads() (keys []string) {
	for kind := range kinds {
		list := t.list(kind)
		for i := range list {
			list[i].pods.Reads(func(key string, _ []string) { keys = append(keys, key) })
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// appendTraits appends the text of the traits of a pod with these terms.
func appendTraits(b []byte, p *api.Pod, terms *Terms) []byte {
	b = match.AppendString(b, p.Namespace)
	if terminating(p) {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	return appendLabels(appendTerms(b, terms), p.Labels)
}

// appendTerms appends the identity of the terms.
func appendTerms(b []byte, terms *Terms) []byte {
	for kind := range kinds {
		list := terms.list(kind)
		b = binary.AppendUvarint(b, uint64(len(list)))
		for i := range list {
			b = list[i].appendKey(b)
		}
	}
	return b
}

func terminating(p *api.Pod) bool { return p.DeletionTimestamp != nil }

func appendLabels(b []byte, labels map[string]string) []byte {
	b = binary.AppendUvarint(b, uint64(len(labels)))
	keys := make([]string, 0, 16)
	for k := range labels {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		b = match.AppendString(match.AppendString(b, k), labels[k])
	}
	return b
}
