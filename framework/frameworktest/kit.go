package frameworktest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/framework/queueing"
)

// kit is one check of one plugin on one cluster.
type kit struct {
	*session
	seed  uint64
	check string

	objects  *api.Objects
	snapshot *framework.Snapshot
	pods     []*framework.PodInfo // to ask about

	// Where the kit is, for the report of a failure.
	pod     *framework.PodInfo
	node    string
	calling string // the method of the plugin that was called last
}

// parts are what a plugin can do, as a runner finds it.
type parts struct {
	plugin    framework.Plugin
	name      string
	preFilter framework.PreFilterPlugin
	filter    framework.FilterPlugin
	preScore  framework.PreScorePlugin
	scorer    framework.ScorePlugin
	byRange   framework.RangeNormalizer
	byNodes   framework.ScoreNormalizer
	reserve   framework.ReservePlugin
	scoper    framework.Scoper
	keyer     incremental.ClassKeyer
	idler     incremental.Idler
	concerned incremental.Concerned
	registrar queueing.EnqueueExtensions
	gate      queueing.PreEnqueuePlugin
}

func resolve(p framework.Plugin) parts {
	t := parts{plugin: p, name: p.Name()}
	t.preFilter, _ = framework.As[framework.PreFilterPlugin](p)
	t.filter, _ = framework.As[framework.FilterPlugin](p)
	t.preScore, _ = framework.As[framework.PreScorePlugin](p)
	t.scorer, _ = framework.As[framework.ScorePlugin](p)
	t.byRange, _ = framework.As[framework.RangeNormalizer](p)
	t.byNodes, _ = framework.As[framework.ScoreNormalizer](p)
	t.reserve, _ = framework.As[framework.ReservePlugin](p)
	t.scoper, _ = framework.As[framework.Scoper](p)
	t.keyer, _ = framework.As[incremental.ClassKeyer](p)
	t.idler, _ = framework.As[incremental.Idler](p)
	t.concerned, _ = framework.As[incremental.Concerned](p)
	t.registrar, _ = framework.As[queueing.EnqueueExtensions](p)
	t.gate, _ = framework.As[queueing.PreEnqueuePlugin](p)
	return t
}

func (t *parts) any() bool      { return true }
func (t *parts) prepares() bool { return t.preFilter != nil }
func (t *parts) filters() bool  { return t.preFilter != nil || t.filter != nil }
func (t *parts) scores() bool   { return t.preScore != nil || t.scorer != nil }
func (t *parts) answers() bool  { return t.filters() || t.scores() }
func (t *parts) declares() bool { return t.scoper != nil }
func (t *parts) keys() bool     { return t.keyer != nil }
func (t *parts) idles() bool    { return t.idler != nil }
func (t *parts) concerns() bool { return t.concerned != nil }
func (t *parts) hints() bool    { return t.registrar != nil && t.scoper != nil && t.filters() }
func (t *parts) reserves() bool { return t.reserve != nil }
func (t *parts) selects() bool  { _, ok := t.gate.(incremental.SelectiveGate); return ok }
func (t *parts) varying() bool  { _, ok := t.scoper.(incremental.VaryingScoper); return ok }
func (t *parts) acts() bool     { return t.answers() || t.reserves() }

// cluster is what a check is made on. Checks fork the snapshot.
type cluster struct {
	objects  *api.Objects
	snapshot *framework.Snapshot
	pods     []*framework.PodInfo
}

// load readies the cluster: the session's, if the plugin is known not to change
// it, else a new one.
func (k *kit) load(at place) error {
	c := k.clusters[at]
	if c == nil || !k.clean {
		var err error
		if c, err = k.newCluster(at); err != nil {
			return err
		}
		k.clusters[at] = c
	}
	k.objects, k.pods, k.snapshot = c.objects, c.pods, c.snapshot.Fork()
	return nil
}

// newCluster makes a cluster and chooses the pods to ask about: those that wait,
// and a few that run, as if they came once more.
func (k *kit) newCluster(at place) (*cluster, error) {
	c := &cluster{}
	if at.own {
		k.calling = "Config.Generate"
		c.objects = k.config.Generate(at.seed)
	} else {
		c.objects = Cluster(at.seed)
		k.sprinkle(c.objects)
	}
	s, pending, err := k.snapshotOf(c.objects)
	if err != nil {
		return nil, err
	}
	c.snapshot, c.pods = s, pending
	const runningToo = 3
	taken := 0
	for i := len(c.objects.Pods) - 1; i >= 0 && taken < runningToo; i-- {
		p := c.objects.Pods[i]
		if p.Spec.NodeName == "" {
			continue
		}
		again := api.Clone(p)
		again.Name, again.UID = "again-"+p.Name, "again-"+p.UID
		info, err := s.NewPodInfo(again)
		if err != nil {
			return nil, err
		}
		c.pods = append(c.pods, info)
		taken++
	}
	return c, nil
}

func (k *kit) snapshotOf(o *api.Objects) (*framework.Snapshot, []*framework.PodInfo, error) {
	s, pending, err := Snapshot(o)
	if err != nil {
		return nil, nil, fmt.Errorf("the generator's objects: %w", err)
	}
	return s, pending, k.prepare(s)
}

func (k *kit) prepare(s *framework.Snapshot) error {
	if k.config.Prepare == nil {
		return nil
	}
	k.calling = "Config.Prepare"
	if err := k.config.Prepare(s); err != nil {
		return fmt.Errorf("the option Prepare: %w", err)
	}
	return nil
}

// random returns a source for the choices of a check.
func (k *kit) random() *rand.Rand { return rand.New(rand.NewPCG(k.seed, stream+1)) }

// others reports whether other plugins of a profile would let the node pass: all
// nodes in half of the clusters, three of four in the others.
func (k *kit) others(n *framework.NodeInfo) bool {
	if k.seed%2 == 0 {
		return true
	}
	h := fnv.New32a()
	h.Write([]byte(n.Name()))
	return (h.Sum32()+uint32(k.seed))%4 != 0
}
