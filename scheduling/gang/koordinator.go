package gang

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/errtext"
)

// The labels and annotations of Koordinator's coscheduling.
const (
	koordLabelGroup     = "pod-group.scheduling.sigs.k8s.io"
	koordLightName      = "pod-group.scheduling.sigs.k8s.io/name"          // a label, deprecated
	koordLightMin       = "pod-group.scheduling.sigs.k8s.io/min-available" // a label, deprecated
	koordAliasPolicy    = "pod-group.scheduling.sigs.k8s.io/match-policy"
	koordName           = "gang.scheduling.koordinator.sh/name"
	koordMin            = "gang.scheduling.koordinator.sh/min-available"
	koordTotal          = "gang.scheduling.koordinator.sh/total-number"
	koordMode           = "gang.scheduling.koordinator.sh/mode"
	koordWaitingTime    = "gang.scheduling.koordinator.sh/waiting-time"
	koordMatchPolicy    = "gang.scheduling.koordinator.sh/match-policy"
	koordGroups         = "gang.scheduling.koordinator.sh/groups"
	koordTopology       = "gang.scheduling.koordinator.sh/network-topology-spec"
	koordTopologyIndex  = "gang.scheduling.koordinator.sh/network-topology-index"
	koordModeStrict     = "Strict"
	koordModeNonStrict  = "NonStrict"
	koordMustGather     = "MustGather"
	koordPreferGather   = "PreferGather"
	koordDefaultWaiting = 10 * time.Minute
)

// A MatchPolicy says which members of a gang of Koordinator count towards its minimum.
type MatchPolicy string

// The match policies. An empty one means OnceSatisfied.
const (
	// OnceSatisfied counts members that wait or run. After the first success nothing is
	// asked any more.
	OnceSatisfied MatchPolicy = "once-satisfied"
	// WaitingAndRunning counts members that wait or run.
	WaitingAndRunning MatchPolicy = "waiting-and-running"
	// OnlyWaiting counts members that wait.
	OnlyWaiting MatchPolicy = "only-waiting"
)

// A KoordinatorLayer is a layer of Koordinator's network topology, and the label by which nodes are in its
// domains.
type KoordinatorLayer struct{ Name, Label string }

// A KoordinatorGang is a gang as Koordinator's labels and annotations describe it.
type KoordinatorGang struct {
	Namespace, Name string
	// Min is how many members must stand, Total how many there are to be.
	Min, Total int
	// NonStrict keeps pods that were placed even if the gang does not stand.
	NonStrict bool
	Policy    MatchPolicy
	// Waiting is how long a member waits on Permit.
	Waiting time.Duration
	// Groups are the keys of the gangs that stand together, this one included.
	Groups []string
	Levels []Level
	// Pods are the members that wait, and Present those on nodes, in the order of the
	// index annotation, then of names.
	Pods    []*framework.PodInfo
	Present []Member
}

// Key is "namespace/name".
func (k *KoordinatorGang) Key() string { return k.Namespace + "/" + k.Name }

// Ready reports whether the gang has at least its minimum of members, or needs no more: under
// OnceSatisfied a member that is present has satisfied it. Koordinator tries no gang of a group of gangs
// before all of them are ready.
func (k *KoordinatorGang) Ready() bool {
	return k.isSatisfied() || len(k.Pods)+len(k.Present) >= k.Min
}

// isSatisfied reports whether a member has been bound under OnceSatisfied.
func (k *KoordinatorGang) isSatisfied() bool { return k.Policy == OnceSatisfied && len(k.Present) > 0 }

// Group returns what is to be placed. satisfied says that the gang, or another one of its Groups, has stood
// before. Under OnceSatisfied a member that is present says so, too.
func (k *KoordinatorGang) Group(satisfied bool) *Group {
	g := &Group{Namespace: k.Namespace, Name: k.Name, Pods: k.Pods, Min: k.Min, Topology: k.Levels}
	if len(k.Pods) > 0 {
		g.Priority = k.Pods[0].Priority
	}
	if k.Policy != OnlyWaiting {
		g.Present = k.Present
	}
	if k.Min == 0 || satisfied && k.Policy == OnceSatisfied || k.isSatisfied() {
		g.Min = min(1, len(g.Pods)+len(g.Present))
	}
	return g
}

// KoordinatorGangs reads the gangs of pods: their labels and annotations, and the
// PodGroups of group scheduling.sigs.k8s.io of the same names. If there is a PodGroup, what pods say
// does not count. layers lists the layers of the network topology, the coarsest first. Pods that wait
// have no node; the others are members that are present. Gangs come in the order of their keys.
//
// Every pod of a gang may have the annotations that describe it, but their meaning must
// agree. One that cannot be read, or that disagrees with another pod's, is an
// [*api.InvalidError] that names the pod, the annotation and the value. So is a gang whose
// minimum is not given, neither by a PodGroup nor by a pod. The error joins one for each such
// gang; all others are returned beside it. A gang of a minimum of 0 asks for nothing: pods
// stand as they fit.
//
// Differs: annotations that cannot be read or disagree.
// Original: Koordinator reads the first pod that it sees; a mode, a match policy, a total, a
// time or a list of gangs that it cannot read means the default.
// Here: they are errors, as are gangs in a list that are not "namespace/name".
// Why: a gang must not depend on the order of events, nor on a misspelt word.
//
// Differs: a gang without a minimum.
// Original: Koordinator lets its pods wait until a pod or a PodGroup gives one; pods that name a
// PodGroup by the label wait for that, whatever their annotations say.
// Here: it is an error, and annotations of all pods count if there is no PodGroup.
// Why: the caller learns what is missing.
//
// Source: Koordinator 1.8, plugin Coscheduling.
func KoordinatorGangs(pods []*framework.PodInfo, objects []*api.PodGroup, layers []KoordinatorLayer) ([]*KoordinatorGang, error) {
	drafts := map[string]*koordinatorDraft{}
	described := groupsByKey(objects)
	for i, p := range pods {
		if p == nil || p.Pod == nil {
			return nil, &api.InvalidError{Object: "pods[" + strconv.Itoa(i) + "]", Err: errors.New("is nil")}
		}
		name := koordinatorName(p.Pod)
		if name == "" {
			continue
		}
		key := p.Pod.Namespace + "/" + name
		d := drafts[key]
		if d == nil {
			d = newKoordinatorDraft(p, name, layers)
			drafts[key] = d
			d.failed = d.describedBy(described[objectKey{p.Pod.Namespace, name}])
		}
		if d.failed == nil {
			d.failed = d.add(p)
		}
	}
	list, errs := make([]*KoordinatorGang, 0, len(drafts)), []error(nil)
	for _, key := range slices.Sorted(maps.Keys(drafts)) {
		k, err := drafts[key].finish()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, k)
	}
	return list, errors.Join(errs...)
}

// koordinatorName is the name of the gang of a pod, "" if it has none.
func koordinatorName(p *api.Pod) string {
	return cmp.Or(p.Labels[koordLabelGroup], p.Labels[koordLightName], p.Annotations[koordName])
}

// koordinatorSettings are the annotations of a pod or a PodGroup as they count. The deprecated label and
// the alias count under the usual names. An empty text, as templates render it, counts as none, except
// for the minimum.
func koordinatorSettings(o *api.ObjectMeta) map[string]string {
	settings := map[string]string{}
	for _, key := range koordSettings {
		if text, ok := o.Annotations[key]; ok && (text != "" || key == koordMin) {
			settings[key] = text
		}
	}
	if text := o.Labels[koordLightMin]; text != "" {
		settings[koordMin] = text
	}
	if text := o.Annotations[koordAliasPolicy]; text != "" && settings[koordMatchPolicy] == "" {
		settings[koordMatchPolicy] = text
	}
	return settings
}

// koordSettings are the annotations that describe a gang.
var koordSettings = []string{koordMin, koordTotal, koordMode, koordWaitingTime, koordMatchPolicy, koordGroups, koordTopology}

// A koordinatorDraft collects what the pods of a gang say.
type koordinatorDraft struct {
	gang     *KoordinatorGang
	first    *framework.PodInfo
	object   *api.PodGroup // nil if there is none
	layers   []KoordinatorLayer
	settings map[string]string           // the first text of each annotation
	meanings map[string]*KoordinatorGang // what it says alone; it is read once, because a text may be long, and the pods many
	from     map[string]string           // which pod has it
	failed   error                       // the first thing that cannot be read
}

func newKoordinatorDraft(first *framework.PodInfo, name string, layers []KoordinatorLayer) *koordinatorDraft {
	return &koordinatorDraft{
		gang: &KoordinatorGang{Namespace: first.Pod.Namespace, Name: name}, first: first, layers: layers,
		settings: map[string]string{}, from: map[string]string{}, meanings: map[string]*KoordinatorGang{},
	}
}

// describedBy takes the settings from a PodGroup, which may be nil, instead of from pods.
func (d *koordinatorDraft) describedBy(o *api.PodGroup) error {
	if o == nil {
		return nil
	}
	d.object = o
	d.settings = koordinatorSettings(&o.ObjectMeta)
	for _, key := range []string{koordMin, koordWaitingTime} { // its spec has them
		delete(d.settings, key)
	}
	return d.read(d.settings, "podgroup "+o.Key(), new(KoordinatorGang))
}

// add adds a pod, with its settings unless there is a PodGroup.
func (d *koordinatorDraft) add(p *framework.PodInfo) error {
	if node := p.Pod.Spec.NodeName; node != "" {
		d.gang.Present = append(d.gang.Present, Member{p, node})
	} else {
		d.gang.Pods = append(d.gang.Pods, p)
	}
	if d.object != nil {
		return nil
	}
	settings := koordinatorSettings(&p.Pod.ObjectMeta)
	for _, key := range koordSettings {
		text, ok := settings[key]
		had, known := d.settings[key]
		if !ok || known && had == text {
			continue
		}
		object := "pod " + p.Pod.Key()
		is := new(KoordinatorGang)
		if err := d.read(map[string]string{key: text}, object, is); err != nil {
			return err
		}
		if !known {
			d.settings[key], d.from[key], d.meanings[key] = text, object, is
			continue
		}
		if !reflect.DeepEqual(d.meanings[key], is) {
			r := annotationReader{object: object, from: settings}
			return r.invalid(key, fmt.Sprintf("%s of the gang has %q", cut(d.from[key]), cut(had)))
		}
	}
	return nil
}

// read reads settings, as far as they are there, into a gang of the draft's name.
func (d *koordinatorDraft) read(settings map[string]string, object string, k *KoordinatorGang) error {
	k.Namespace, k.Name = d.gang.Namespace, d.gang.Name
	if d.object != nil {
		k.Min = d.object.MinCount()
		if s := d.object.Spec.ScheduleTimeoutSeconds; s != nil && *s > 0 {
			k.Waiting = time.Duration(*s) * time.Second
		}
	}
	return annotationReader{object: object, from: settings, layers: d.layers}.read(k)
}

// finish returns the gang that the pods describe together.
func (d *koordinatorDraft) finish() (*KoordinatorGang, error) {
	if d.failed != nil {
		return nil, d.failed
	}
	object := "pod " + d.first.Pod.Key()
	if _, ok := d.settings[koordMin]; !ok && d.object == nil {
		r := annotationReader{object: object}
		return nil, r.invalid(koordMin, "neither a pod of the gang nor a PodGroup gives a minimum")
	}
	k := d.gang
	if err := d.read(d.settings, object, k); err != nil {
		return nil, err
	}
	slices.SortStableFunc(k.Pods, byIndex)
	slices.SortStableFunc(k.Present, func(a, b Member) int { return byIndex(a.Pod, b.Pod) })
	return k, nil
}

type objectKey struct{ namespace, name string }

// groupsByKey returns the PodGroups by their names. The first of a name counts.
func groupsByKey(objects []*api.PodGroup) map[objectKey]*api.PodGroup {
	byKey := map[objectKey]*api.PodGroup{}
	for _, o := range objects {
		if o == nil {
			continue
		}
		if key := (objectKey{o.Namespace, o.Name}); byKey[key] == nil {
			byKey[key] = o
		}
	}
	return byKey
}

// maxErrorText is the number of bytes of a name or a value that an error prints, and of what
// another package says about it.
const maxErrorText = 512

func cut(text string) string { return errtext.Cut(text, maxErrorText) }

// byIndex orders pods by their index annotation, then by name. Pods without, or with one below 0, come last.
func byIndex(a, b *framework.PodInfo) int {
	index := func(p *framework.PodInfo) int {
		n, err := strconv.Atoi(p.Pod.Annotations[koordTopologyIndex])
		if err != nil || n < 0 {
			return int(^uint(0) >> 1)
		}
		return n
	}
	return cmp.Or(cmp.Compare(index(a), index(b)), strings.Compare(a.Pod.Name, b.Pod.Name))
}

// PlaceSome places as many pods of the group as fit, one after the other and anywhere,
// and keeps them even if they are fewer than the minimum; the status is then Short. It is
// for gangs of Koordinator that are not strict.
func (p *Placer) PlaceSome(snap *framework.Snapshot, g *Group) (*Outcome, error) {
	if err := p.check(snap, g); err != nil {
		return nil, err
	}
	loose := *g
	loose.Topology = nil
	a := attempt{Placer: p, snap: snap, g: &loose, position: p.sched.Position(), out: &Outcome{Group: g.Key()}}
	a.hash = newHash(p.rules.Seed).add(g.Key())
	a.root = p.forest.of(snap, nil)
	mark := snap.Begin()
	defer snap.Rollback(mark)
	defer p.sched.Seek(a.position)
	t := newTrial(a.root)
	for i := range g.Pods {
		if _, err := a.try(a.root, i, t); err != nil {
			return nil, err
		}
	}
	t.Pods = len(t.Placed)
	t.Succeeded = t.Pods >= g.need()
	if !t.Succeeded {
		a.out.Status = Short
		a.out.Text = progress{g.least(), len(g.Present) + t.Pods, 0}.String()
	}
	a.finish(t)
	a.out.Placed, a.out.Left = t.Placed, t.Left
	snap.Commit(mark)
	return a.out, nil
}
