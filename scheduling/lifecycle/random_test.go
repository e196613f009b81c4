package lifecycle_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/whatif"
	"github.com/berth-sched/berth/scoring"
)

// filler fills any value at random from few words, so that references meet.
type filler struct {
	r *rand.Rand
}

var words = []string{"", "a", "b", "default", "n1", "n2", "kubernetes.io/hostname", "topology.kubernetes.io/zone", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal", "NoSchedule", "NoExecute", "PreferNoSchedule", "DoNotSchedule", "ScheduleAnyway", "Honor", "Ignore", "example.com/x", "cpu", "memory", "pods", "gpu.example.com", "Exactly", "ExactCount", "All", "WaitForFirstConsumer", "Immediate", "Bound", "Pending", "Running", "ReadWriteOnce", "ReadWriteOncePod", "Filesystem", "Block", "TCP", "UDP", "0.0.0.0", "Always", "Never", "device.driver == 'a'", "true", "5", "-1", "9999999999999999999", "\xff", "PodGroup", "Pod", "v1"}

func (f *filler) word() string { return words[f.r.IntN(len(words))] }

var quantities = []resource.Quantity{resource.MustParse("0"), resource.MustParse("1"), resource.MustParse("100m"), resource.MustParse("-1"), resource.MustParse("9e18"), resource.MustParse("9223372036854775807"), resource.MustParse("1e999"), resource.MustParse("-1e999"), resource.MustParse("1Gi"), resource.MustParse("4"), resource.MustParse("1n")}

func (f *filler) fill(v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case resource.Quantity:
		v.Set(reflect.ValueOf(quantities[f.r.IntN(len(quantities))]))
		return
	case time.Time:
		if f.r.IntN(2) == 0 {
			v.Set(reflect.ValueOf(epoch.Add(time.Duration(f.r.Int64N(1 << 40)))))
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.word())
	case reflect.Bool:
		v.SetBool(f.r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x := []int64{0, 1, 2, 3, -1, 100, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64}[f.r.IntN(10)]
		if v.OverflowInt(x) {
			x = 1
		}
		v.SetInt(x)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(f.r.IntN(3)))
	case reflect.Float64:
		v.SetFloat([]float64{0, 1, math.NaN(), math.Inf(1)}[f.r.IntN(4)])
	case reflect.Pointer:
		if f.r.IntN(10) < 5+max(0, 3-depth/2) && depth < 14 {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if depth > 14 || f.r.IntN(3) == 0 {
			return
		}
		n := f.r.IntN(4)
		s := reflect.MakeSlice(v.Type(), n, n)
		for i := range n {
			f.fill(s.Index(i), depth+1)
		}
		v.Set(s)
	case reflect.Map:
		if f.r.IntN(3) == 0 {
			return
		}
		m := reflect.MakeMap(v.Type())
		for range f.r.IntN(4) {
			k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(k, depth+1)
			f.fill(e, depth+1)
			m.SetMapIndex(k, e)
		}
		v.Set(m)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				f.fill(v.Field(i), depth+1)
			}
		}
	}
}

func odd[T any](f *filler) *T {
	o := new(T)
	f.fill(reflect.ValueOf(o).Elem(), 0)
	return o
}

// TestRandomObjects applies objects with random contents to a driver with groups, and
// asks planners.
func TestRandomObjects(t *testing.T) {
	seeds := effort.Of(10, 300)
	panics := map[string]int{}
	noted := map[string]bool{}
	note := func(seed int, text string) {
		for _, bad := range []string{"panic", "verif", "differ", "mutat", "broken", "pods that are alike"} {
			if i := strings.Index(text, bad); i >= 0 {
				key := text[i:min(len(text), i+60)]
				if !noted[key] {
					noted[key] = true
					t.Errorf("seed %d: %.600s", seed, text)
				}
			}
		}
	}
	bound := 0
	for seed := range seeds {
		func() {
			f := &filler{rand.New(rand.NewPCG(7, uint64(seed)))}
			profile := scheduling.Kubernetes137()
			profile.Cache.Verify = seed%2 == 0
			if seed%3 == 0 {
				load, err := estimator.NewLoad(estimator.LoadConfig{PodAnnotations: true, ScoreProd: seed%2 == 0, EstimateScheduled: time.Minute, Thresholds: map[resource.Name]int64{resource.CPU: 99}})
				if err != nil {
					t.Fatal(err)
				}
				profile.Filter = append(profile.Filter, filter.LoadAware{Load: load})
				profile.Score = append(profile.Score, scheduling.Weighted{Plugin: scoring.LoadAware{Load: load}, Weight: 1})
			}
			w := &groupWorld{world: newWorld(t, profile)}
			c := lifecycle.Config{Profiles: []scheduling.Profile{profile}, Groups: &groups.Rules{}, Binder: w, Clock: w.clock}
			c.ErrorHandler = func(err error) { w.problems = append(w.problems, err.Error()) }
			d, err := lifecycle.New(c)
			if err != nil {
				t.Fatal(err)
			}
			w.d, w.confirm = d, true
			defer func() {
				if v := recover(); v != nil {
					key := fmt.Sprint(v)
					if panics[key]++; panics[key] == 1 {
						t.Errorf("seed %d: panic: %v\n%s", seed, v, debug.Stack())
					}
				}
			}()
			w.nodes(api.MakeNode("n1", "8", "64Gi").Labels(api.LabelHostname, "n1"), api.MakeNode("n2", "8", "64Gi").Labels(api.LabelHostname, "n2"))
			for range 40 {
				var e lifecycle.Event
				switch f.r.IntN(25) {
				case 0:
					n := odd[api.Node](f)
					n.Name = []string{"n1", "n2", "n3"}[f.r.IntN(3)]
					e = lifecycle.Update(n)
				case 1:
					e = lifecycle.Update(odd[api.PersistentVolume](f))
				case 2:
					e = lifecycle.Update(odd[api.PersistentVolumeClaim](f))
				case 3:
					e = lifecycle.Update(odd[api.StorageClass](f))
				case 4:
					e = lifecycle.Update(odd[api.ResourceClaim](f))
				case 5:
					e = lifecycle.Update(odd[api.ResourceSlice](f))
				case 6:
					e = lifecycle.Update(odd[api.DeviceClass](f))
				case 7:
					e = lifecycle.Update(odd[api.PodGroup](f))
				case 8:
					e = lifecycle.Update(odd[api.PodDisruptionBudget](f))
				case 9:
					e = lifecycle.Update(odd[api.CSINode](f))
				case 10:
					e = lifecycle.Update(odd[api.Service](f))
				case 11:
					e = lifecycle.Update(odd[api.ReplicaSet](f))
				case 12:
					e = lifecycle.Update(odd[api.CSIStorageCapacity](f))
				case 13:
					e = lifecycle.Update(odd[api.VolumeAttachment](f))
				case 14:
					e = lifecycle.Update(odd[api.DeviceTaintRule](f))
				case 16, 17:
					m := odd[api.NodeMetric](f)
					m.Name = []string{"n1", "n2", "n3"}[f.r.IntN(3)]
					e = lifecycle.Update(m)
				case 15:
					e = lifecycle.Delete(odd[api.Pod](f))
				default:
					p := odd[api.Pod](f)
					p.Name = fmt.Sprint("p", f.r.IntN(8))
					p.Namespace = []string{"", "default", "a"}[f.r.IntN(3)]
					p.UID = ""
					p.Spec.SchedulerName = ""
					p.Spec.SchedulingGates = nil
					if f.r.IntN(3) > 0 {
						p.Spec.NodeName = ""
						p.Status.Phase = ""
						p.DeletionTimestamp = nil
					}
					switch f.r.IntN(4) { // otherwise nearly nothing ever fits
					case 0:
						p.Spec.Affinity, p.Spec.NodeSelector = nil, nil
					case 1:
						p.Spec.Affinity, p.Spec.NodeSelector, p.Spec.Volumes, p.Spec.ResourceClaims = nil, nil, nil, nil
					case 2:
						p.Spec.Affinity, p.Spec.NodeSelector, p.Spec.TopologySpreadConstraints, p.Spec.Volumes = nil, nil, nil, nil
						p.Spec.Containers, p.Spec.InitContainers, p.Spec.Overhead = nil, nil, nil
					}
					e = lifecycle.Update(p)
				}
				w.d.Apply(e)
				clear(w.bound)
				for range 20 {
					a, ok := w.d.ScheduleOne(w.ctx)
					if !ok {
						break
					}
					if a.State == lifecycle.Bound {
						bound++
					}
					if a.Err != nil {
						note(seed, a.Err.Error())
					}
				}
				w.pass(2 * time.Second)
			}
			for _, p := range w.problems {
				note(seed, p)
			}
			pl, err := whatif.New(profile, w.d.Snapshot())
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				p := odd[api.Pod](f)
				p.Name = "x"
				if i, err := pl.Snapshot().NewPodInfo(p); err == nil {
					pl.Headroom(i, 50)
					pl.WhyNot(i, "n1")
					r, _ := whatif.Replicas(i, 5)
					pl.Place(r)
					pl.NodesNeeded(r, whatif.NodeType{Name: "t", Node: odd[api.Node](f), Max: 5})
				}
			}
			pl.Drain("n1")
			pl.Consolidate()
			pl.Removable()
			pl.Rebalance(whatif.RebalanceConfig{Low: map[resource.Name]float64{"cpu": 20}, High: map[resource.Name]float64{"cpu": 30}, UseRequests: true})
		}()
	}
	t.Logf("%d seeds, %d of them bound pods, panics %v", seeds, bound, panics)
}
