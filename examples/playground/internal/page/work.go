package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/workload"
)

// maxWork bounds the work of all steps: a short link may hold thousands of them and a
// hundred thousand pods, and must neither keep the page busy for minutes nor fill its memory.
// The unit is a look at a waiting pod, some 10 to 30 ns; in decisions about pods with terms, one takes
// up to 200 ns.
const maxWork = 100_000_000

// What is done is counted in these units.
const (
	decisionWork  = 100  // a decision about a pod of a known class
	ownTermWork   = 10   // an affinity term or spread constraint of the pod itself, in each decision about it
	nodeWork      = 3    // a node, in a search of all of them
	looksPerNode  = 12   // so many of a scheduler's looks at a node count as one node of a search
	schedulerWork = 2000 // a new scheduler
	copyWork      = 5    // a byte of a node that is copied: about 9 bytes of memory are kept
	termWork      = 10   // an affinity term of a pod, in a decision about a pod of an unknown class
	pairWork      = 2    // a comparison of such a term, or of a constraint, with the labels of pods; see peers
	volumeWork    = 3    // a look at a volume for the selector of a claim
	serviceWork   = 20   // a service that may select a pod, in a decision about one of an unknown class
	selectorWork  = 3    // a namespace that a term of the pod may select, in such a decision
	budgetWork    = 15   // a part of a budget, in each drain
	nodeTaints    = 4    // so many taints of a node count as a unit, in each look at it
)

// A decision about a larger pod is counted as more. Each byte beyond these bounds is a unit,
// and searchBytes of them are one for each node of a search. So are searchTerms terms that plugins may
// look up for a node. Bytes of the configuration count like those of each pod: it may give all pods terms
// and constraints.
const (
	largeMeta   = 1 << 10 // of labels and annotations
	largeSpec   = 4 << 10
	largeConfig = 4 << 10
	searchBytes = 32
	searchTerms = 4
)

// longest is how long the steps of one request may take: what is counted is only about what they take, and some texts are
// made to take more.
const longest = time.Minute

// spend counts work, before it is done where that is known.
func (w *world) spend(work int) error {
	if w.now != nil && w.now().After(w.until) {
		return fmt.Errorf("the steps take longer than %v: take fewer, or fewer pods", longest)
	}
	if w.work += work; w.work > maxWork {
		return errors.New("the steps together are too much work for this page: take fewer, or fewer pods")
	}
	return nil
}

// excess returns how many bytes of a pod count beyond the bounds.
func (w *world) excess(p *api.Pod) int { return excess(&p.ObjectMeta, w.specSize(p)) }

func excess(m *api.ObjectMeta, spec int) int {
	return max(0, textSize(m.Labels)+textSize(m.Annotations)-largeMeta) + max(0, spec-largeSpec)
}

func textSize(m map[string]string) (n int) {
	for k, v := range m {
		n += len(k) + len(v)
	}
	return n
}

// specSize returns about how many bytes of JSON the spec of a pod is. Pods share equal parts of their specs, and one with
// the same parts tells for all.
func (w *world) specSize(p *api.Pod) int {
	key, size := partsOf(&p.Spec), 0
	if key == (specParts{}) {
		size = jsonSize(&p.Spec)
	} else if known, ok := w.specSizes[key]; ok {
		size = known
	} else {
		rest := p.Spec
		rest.NodeSelector, rest.Overhead = nil, nil
		size = jsonSize(&rest)
		w.specSizes[key] = size
	}
	return size + textSize(p.Spec.NodeSelector) + amountSize*len(p.Spec.Overhead)
}

// specParts are the parts of a spec that may be large, but for its maps.
type specParts struct {
	volumes     *api.Volume
	inits       *api.Container
	containers  *api.Container
	affinity    *api.Affinity
	tolerations *api.Toleration
	constraints *api.TopologySpreadConstraint
	gates       *api.PodSchedulingGate
	claims      *api.PodResourceClaim
	resources   *api.ResourceRequirements
}

func partsOf(spec *api.PodSpec) specParts {
	return specParts{
		first(spec.Volumes), first(spec.InitContainers), first(spec.Containers), spec.Affinity, first(spec.Tolerations),
		first(spec.TopologySpreadConstraints), first(spec.SchedulingGates), first(spec.ResourceClaims), spec.Resources,
	}
}

func first[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// amountSize is about how many bytes the amount of a resource is.
const amountSize = 32

// jsonSize returns how many bytes of JSON a value is.
func jsonSize(v any) int {
	text, _ := json.Marshal(v) // objects that were read can be written
	return len(text)
}

// A background is what makes a look at a node more work, whatever the pod.
type background struct {
	config int // bytes of the configuration that count
	taints int // of all nodes
	nodes  int
}

// backgroundOf is that of a configuration and nodes.
func backgroundOf(text string, nodes []*api.Node) background {
	b := background{nodes: len(nodes)}
	if documents, err := config.YAMLToJSON([]byte(text)); err == nil { // otherwise it was refused
		for _, d := range documents {
			b.config += len(d) // with aliases resolved
		}
	}
	b.config = max(0, b.config-largeConfig)
	for _, n := range nodes {
		if n != nil {
			b.taints += len(n.Spec.Taints)
		}
	}
	return b
}

// grow notes one more node.
func (b *background) grow(n *api.Node) {
	b.nodes++
	b.taints += len(n.Spec.Taints)
}

// searchWork is the work of a search of a number of nodes for a pod with so many bytes that count, if
// plugins look up so many terms for each node.
func (b *background) searchWork(nodes, excess, terms int) int {
	return nodes * (nodeWork + terms/searchTerms + (excess+b.config)/searchBytes + b.taints/(nodeTaints*max(1, b.nodes)))
}

// maxSearch bounds a look at all nodes for one pod. The page makes several such looks to show
// what comes of the pod.
const maxSearch = maxWork / 4

// checkSelectors refuses claims with selectors that are too many for so many volumes: a pod may mount all of them.
func checkSelectors(o *api.Objects) error {
	claims := 0
	for _, c := range o.PersistentVolumeClaims {
		if c.Spec.Selector != nil {
			claims++
		}
	}
	for _, set := range o.StatefulSets {
		for i := range set.Spec.VolumeClaimTemplates {
			if set.Spec.VolumeClaimTemplates[i].Spec.Selector != nil {
				claims++
			}
		}
	}
	if volumes := len(o.PersistentVolumes); claims*volumes*volumeWork > maxSearch {
		return &api.InvalidError{
			Object: "claims", Field: "spec.selector", Value: fmt.Sprintf("%d selectors", claims),
			Err: fmt.Errorf("are too many to look at %d volumes for, on this page", volumes),
		}
	}
	return nil
}

// checkPods refuses pods that are too large for so many nodes.
func checkPods(o *api.Objects, b *background) error {
	check := func(object string, meta *api.ObjectMeta, spec *api.PodSpec) error {
		excess := excess(meta, jsonSize(spec))
		if b.searchWork(len(o.Nodes), excess, ownTerms(spec)) <= maxSearch {
			return nil
		}
		return &api.InvalidError{
			Object: object, Value: fmt.Sprintf("%d bytes", excess+b.config),
			Err: fmt.Errorf("is too much to look at %d nodes for, on this page, with the configuration and %d taints", len(o.Nodes), b.taints),
		}
	}
	for _, p := range o.Pods {
		if err := check("pod "+p.Key(), &p.ObjectMeta, &p.Spec); err != nil {
			return err
		}
	}
	for _, w := range workload.Of(o) {
		if err := check(w.Label(), &w.Template.ObjectMeta, &w.Template.Spec); err != nil {
			return err
		}
	}
	return nil
}

// spendDecision counts what a decision took beyond decisionWork. before is what the scheduler
// had counted; a decision that was no hit may have asked about all nodes, and one that is not
// counted looked at those that it says. A hit looked at nodes, too: a pod that was placed can change
// the scores of a whole zone.
func (w *world) spendDecision(l *lane, pod *framework.PodInfo, before scheduling.Stats, d *scheduling.Decision) error {
	now, own := l.sched.Stats(), ownTerms(&pod.Pod.Spec)
	excess, nodes, looks := w.excess(pod.Pod), w.snapshot.Len(), 0
	switch {
	case now.Misses > before.Misses || now.Bypassed > before.Bypassed:
	case now.Hits == before.Hits:
		nodes = d.Evaluated
	case l.outdated > 0:
		l.outdated--
	default:
		nodes, looks = 0, int(now.Looks-before.Looks)
	}
	work := excess + ownTermWork*own + w.around.searchWork(nodes, excess, own+w.keys) + w.around.searchWork(looks, excess, own+w.keys)/looksPerNode
	if nodes > 0 {
		work += w.newcomerWork(pod.Pod) + w.storageWork(pod.Pod, nodes)
	}
	if metric := framework.Lookup[api.NodeMetric](w.snapshot, d.Node); metric != nil {
		work += len(metric.Status.PodsMetric) // a pod that comes is looked for among them
	}
	return w.spend(work + w.takeSearched())
}

// newcomerWork is the work of a decision about a pod of an unknown class, beyond the search of nodes.
func (w *world) newcomerWork(p *api.Pod) int {
	return termWork*w.terms + w.selectionWork(p) + w.cluster.peers.work(&p.Spec)
}

// selectionWork is the work of finding the services that select a pod, and the namespaces that its terms select.
func (w *world) selectionWork(p *api.Pod) int {
	work := serviceWork * len(framework.List[api.Service](w.snapshot))
	if a := p.Spec.Affinity; a != nil {
		work += selectorWork * namespaceSelectors(a) * len(framework.List[api.Namespace](w.snapshot))
	}
	return work
}

// namespaceSelectors is how many terms select namespaces.
func namespaceSelectors(a *api.Affinity) (n int) {
	eachTerm(a, func(t *api.PodAffinityTerm) {
		if t.NamespaceSelector != nil {
			n++
		}
	})
	return n
}

// ownTerms is how many affinity terms and spread constraints a pod has.
func ownTerms(spec *api.PodSpec) int {
	n := len(spec.TopologySpreadConstraints)
	eachTerm(spec.Affinity, func(*api.PodAffinityTerm) { n++ })
	return n
}

// eachTerm visits the pod affinity terms.
func eachTerm(a *api.Affinity, visit func(*api.PodAffinityTerm)) {
	if a == nil {
		return
	}
	each := func(required []api.PodAffinityTerm, preferred []api.WeightedPodAffinityTerm) {
		for i := range required {
			visit(&required[i])
		}
		for i := range preferred {
			visit(&preferred[i].PodAffinityTerm)
		}
	}
	if x := a.PodAffinity; x != nil {
		each(x.RequiredDuringSchedulingIgnoredDuringExecution, x.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if x := a.PodAntiAffinity; x != nil {
		each(x.RequiredDuringSchedulingIgnoredDuringExecution, x.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

// takeSearched returns the work of searches for devices and volumes since it was called last. Each step of a search for
// devices is a unit.
func (w *world) takeSearched() int {
	before := w.searched
	w.searched = volumeWork * int(filter.VolumeSteps(w.snapshot))
	if framework.ObjectsVersion[api.ResourceSlice](w.snapshot) != 0 { // there are devices
		w.searched += int(filter.DeviceSteps(w.snapshot))
	}
	return w.searched - before
}

// termsOf counts the pod affinity terms of pods and their topology keys. Those of pods that have the same
// terms count once. Each pod that is placed may match them all, and then one lookup for each key scores a
// node.
func termsOf(waiting []*framework.PodInfo, snap *framework.Snapshot) (terms, keys int) {
	known, topologies := map[string]bool{}, map[string]bool{}
	shared := map[*api.Affinity]bool{} // by the pods of a workload
	count := func(p *framework.PodInfo) {
		a := p.Pod.Spec.Affinity
		if a == nil || shared[a] || a.PodAffinity == nil && a.PodAntiAffinity == nil {
			return
		}
		shared[a] = true
		key := p.ClassKey(framework.FieldNamespace | framework.FieldPodAffinity)
		if known[key] {
			return
		}
		known[key] = true
		eachTerm(a, func(t *api.PodAffinityTerm) {
			terms++
			topologies[t.TopologyKey] = true
		})
	}
	for _, p := range waiting {
		count(p)
	}
	for _, n := range snap.All() {
		for _, p := range n.Pods {
			count(p)
		}
	}
	return terms, len(topologies)
}

// outdate notes that nodes were changed: each kept class of pods looks at all of them when it
// is asked for next.
func (w *world) outdate() {
	for _, l := range w.lanes {
		l.outdated = l.sched.Stats().Classes
	}
}

// spendCopy counts a copy of a node.
func (w *world) spendCopy(n *api.Node) error { return w.spend(copyWork * w.nodeSize(n)) }

// nodeSize returns about how many bytes of JSON a node is. Steps change little of a node, so
// its size is found once.
func (w *world) nodeSize(n *api.Node) int {
	size, known := w.nodeSizes[n.Name]
	if !known {
		size = jsonSize(n)
		w.nodeSizes[n.Name] = size
	}
	return size
}

// looksOfHit is about how many looks at each node a hit takes at most.
const looksOfHit = 4

// budgetParts counts the parts of the selectors of PodDisruptionBudgets by namespace, and under "" all of them.
func budgetParts(s *framework.Snapshot) map[string]int {
	parts := map[string]int{}
	for _, b := range framework.List[api.PodDisruptionBudget](s) {
		n := 1
		if selector := b.Spec.Selector; selector != nil {
			n += len(selector.MatchLabels)
			for _, e := range selector.MatchExpressions {
				n += 1 + len(e.Values)
			}
		}
		parts[b.Namespace] += n
		parts[""] += n
	}
	return parts
}

// spendDrain counts the decisions about where the pods of a node go, before they are made: a search for
// each class, and one for the first pod. Any other may be a hit that looks at all nodes. All budgets are
// read, and those of its namespace may be looked at for each pod.
func (w *world) spendDrain(pods []*framework.PodInfo) error {
	work, known, nodes := schedulerWork+budgetWork*w.budgets[""], map[string]bool{}, w.snapshot.Len()
	for i, p := range pods {
		excess, own := w.excess(p.Pod), ownTerms(&p.Pod.Spec)
		work += decisionWork + excess + ownTermWork*own + w.budgets[p.Pod.Namespace]
		search := w.around.searchWork(nodes, excess, own+w.keys)
		key := p.ClassKey(classFields)
		if i == 0 || !known[key] {
			work += search + w.newcomerWork(p.Pod) + w.storageWork(p.Pod, nodes)
		} else {
			work += search * looksOfHit / looksPerNode
		}
		if i > 0 {
			known[key] = true
		}
	}
	return w.spend(work)
}
