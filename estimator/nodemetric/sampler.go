package nodemetric

import (
	"cmp"
	"slices"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// SamplerConfig configures a [Sampler]. The zero value has koordlet's defaults.
type SamplerConfig struct {
	// Average is the period of the averages; 0 or less means 5 minutes. Reports
	// give it in whole seconds, rounded up.
	Average time.Duration
	// Interval is the time between reports; 0 or less means 60 s. Reports give it
	// in whole seconds, rounded up. Koordinator waits this long for a new pod to
	// show.
	Interval time.Duration
	// Periods are the periods of the statistics; nil means 5, 10 and 30 minutes.
	Periods []time.Duration
	// Decaying computes the statistics from decaying histograms instead of from the
	// samples of the period. The half-life is the period. Then memory does not grow
	// with the period, percentiles are bucket limits, and a period never ends.
	Decaying bool
}

func (p SamplerConfig) withDefaults() SamplerConfig {
	if p.Average <= 0 {
		p.Average = 5 * time.Minute
	}
	if p.Interval <= 0 {
		p.Interval = defaultInterval
	}
	if p.Periods == nil {
		p.Periods = []time.Duration{5 * time.Minute, 10 * time.Minute, 30 * time.Minute}
	}
	return p
}

// A Use is an amount of cpu, in thousandths, and of memory, in bytes.
type Use struct{ CPU, Memory int64 }

// PodUse is the use of a pod. Without a Pod it is use on the node that no report
// names.
type PodUse struct {
	Pod *api.Pod
	Use Use
}

// A Sampler makes reports of a node's real use from samples of simulated use, as
// the agent on the node does: averages per pod, and averages and percentiles of the
// node.
//
//	s := nodemetric.NewSampler(nodemetric.SamplerConfig{})
//	for each tick {
//		s.Add(now, system, pods)
//	}
//	err := ledger.SetMetric(s.Report("node-1", now))
//
// A statistic is reported once its samples span half of its period; an average is
// reported from the first sample on. Times must not go back. The zero Sampler has
// the zero SamplerConfig. A Sampler must be used by one goroutine at a time.
//
// Source: koordlet 1.8, states_nodemetric.go, default policy.
//
// Differs: averages.
// Original: koordlet averages cores in floating point.
// Here: they are computed in thousandths and bytes, and truncated.
// Why: integer sums do not depend on the order of samples.
type Sampler struct {
	config  SamplerConfig
	times   []time.Time
	totals  []Use // of the node, by time
	systems []Use
	pods    map[podKey]*podSamples
	periods []decayingPeriod // if Decaying is set
	began   time.Time
}

// podKey identifies a pod in a report.
type podKey struct{ namespace, name string }

// defaultInterval is koordlet's default report interval.
const defaultInterval = 60 * time.Second

// podSamples are the samples of a pod.
type podSamples struct {
	pod   *api.Pod
	times []time.Time
	uses  []Use
}

// decayingPeriod replaces the samples of a period.
type decayingPeriod struct{ cpu, memory *Histogram }

// NewSampler returns a Sampler without samples.
func NewSampler(p SamplerConfig) *Sampler {
	s := &Sampler{config: p.withDefaults(), pods: map[podKey]*podSamples{}}
	if p.Decaying {
		for _, period := range s.config.Periods {
			s.periods = append(s.periods, newDecayingPeriod(period))
		}
	}
	return s
}

// newDecayingPeriod makes histograms with koordlet's buckets.
func newDecayingPeriod(halfLife time.Duration) decayingPeriod {
	histogram := func(o HistogramConfig) *Histogram {
		o.HalfLife = max(halfLife, 1)
		h, err := NewHistogram(o)
		if err != nil {
			panic(err) // the layouts are constants
		}
		return h
	}
	return decayingPeriod{histogram(CPUHistogram()), histogram(MemoryHistogram())}
}

// Add takes a sample: the use of the system and of each pod. The use of the node is
// their sum. Only pods in the last sample are reported.
func (s *Sampler) Add(now time.Time, system Use, pods []PodUse) {
	s.prepare()
	total := system
	present := make(map[podKey]bool, len(pods))
	for _, p := range pods {
		total = total.plus(p.Use)
		if p.Pod == nil {
			continue
		}
		name := podKey{p.Pod.Namespace, p.Pod.Name}
		present[name] = true
		series := s.pods[name]
		if series == nil {
			series = &podSamples{}
			s.pods[name] = series
		}
		series.pod = p.Pod
		series.times, series.uses = append(series.times, now), append(series.uses, p.Use)
		k := expired(series.times, now.Add(-s.config.Average))
		series.times, series.uses = series.times[k:], series.uses[k:]
	}
	for name := range s.pods {
		if !present[name] {
			delete(s.pods, name)
		}
	}
	if len(s.times) == 0 {
		s.began = now
	}
	s.times, s.totals, s.systems = append(s.times, now), append(s.totals, total), append(s.systems, system)
	k := expired(s.times, now.Add(-s.kept()))
	s.times, s.totals, s.systems = s.times[k:], s.totals[k:], s.systems[k:]
	for _, p := range s.periods {
		// Both histograms accept any finite number from 0 up.
		_ = p.cpu.Add(float64(max(total.CPU, 0))/1000, 1, now)
		_ = p.memory.Add(float64(max(total.Memory, 0)), 1, now)
	}
}

// prepare gives a zero Sampler the zero SamplerConfig.
func (s *Sampler) prepare() {
	if s.pods == nil {
		*s = *NewSampler(SamplerConfig{})
	}
}

// kept returns how long samples of the node are needed.
func (s *Sampler) kept() time.Duration {
	if s.config.Decaying || len(s.config.Periods) == 0 {
		return s.config.Average
	}
	return max(s.config.Average, slices.Max(s.config.Periods))
}

// expired returns the number of times before start.
func expired(times []time.Time, start time.Time) int {
	k := 0
	for k < len(times) && times[k].Before(start) {
		k++
	}
	return k
}

func (u Use) plus(v Use) Use {
	return Use{resource.SatAdd(u.CPU, v.CPU), resource.SatAdd(u.Memory, v.Memory)}
}

// Report returns the report of a node at a time not before the last sample. Every
// call makes a new object.
func (s *Sampler) Report(node string, now time.Time) *api.NodeMetric {
	s.prepare()
	m := &api.NodeMetric{
		TypeMeta:   api.TypeMeta{Kind: "NodeMetric", APIVersion: "slo.koordinator.sh/v1alpha1"},
		ObjectMeta: api.ObjectMeta{Name: node},
	}
	average, interval := wholeSeconds(s.config.Average), wholeSeconds(s.config.Interval)
	policy := &api.AggregatePolicy{}
	info := &api.NodeMetricInfo{}
	k := expired(s.times, now.Add(-s.config.Average))
	if k < len(s.times) {
		info.NodeUsage, info.SystemUsage = averageUse(s.totals[k:]), averageUse(s.systems[k:])
	}
	for i, d := range s.config.Periods {
		policy.Durations = append(policy.Durations, api.Duration{Duration: d})
		info.AggregatedNodeUsages = append(info.AggregatedNodeUsages, api.AggregatedUsage{
			Usage: s.statistics(i, now), Duration: api.Duration{Duration: d},
		})
	}
	m.Spec.CollectPolicy = &api.NodeMetricCollectPolicy{
		AggregateDurationSeconds: &average, ReportIntervalSeconds: &interval, NodeAggregatePolicy: policy,
	}
	m.Status = api.NodeMetricStatus{UpdateTime: &now, NodeMetric: info, PodsMetric: s.reportPods(now)}
	return m
}

// wholeSeconds returns d in seconds, rounded up.
func wholeSeconds(d time.Duration) int64 {
	whole := int64(d / time.Second)
	if d%time.Second > 0 {
		whole++
	}
	return whole
}

func (s *Sampler) reportPods(now time.Time) []*api.PodMetricInfo {
	var reports []api.PodMetricInfo // contiguous in memory, so fast to read
	for name, series := range s.pods {
		k := expired(series.times, now.Add(-s.config.Average))
		if k == len(series.times) {
			continue
		}
		reports = append(reports, api.PodMetricInfo{
			Name: name.name, Namespace: name.namespace, PodUsage: averageUse(series.uses[k:]),
			Priority: string(estimator.PodPriorityClass(series.pod)),
		})
	}
	slices.SortFunc(reports, func(a, b api.PodMetricInfo) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	var list []*api.PodMetricInfo
	for i := range reports {
		list = append(list, &reports[i])
	}
	return list
}

// statistics returns the statistics of a period. They are empty while the samples
// span less than half of it.
func (s *Sampler) statistics(i int, now time.Time) map[api.AggregationType]api.ResourceMap {
	usage := map[api.AggregationType]api.ResourceMap{api.AVG: {}}
	for _, p := range percentiles {
		usage[p.kind] = api.ResourceMap{}
	}
	period := s.config.Periods[i]
	k := expired(s.times, now.Add(-period))
	if k == len(s.times) {
		return usage
	}
	first, last := s.times[k], s.times[len(s.times)-1]
	if s.config.Decaying {
		first = s.began
	}
	if last.Sub(first) < period/2 {
		return usage
	}
	if s.config.Decaying {
		s.periods[i].fill(usage)
		return usage
	}
	usage[api.AVG] = averageUse(s.totals[k:])
	cpu, memory := split(s.totals[k:])
	slices.Sort(cpu)
	slices.Sort(memory)
	for _, p := range percentiles {
		usage[p.kind] = resourceMap(Use{percentileOf(cpu, p.fraction), percentileOf(memory, p.fraction)})
	}
	return usage
}

// fill sets the statistics from the histograms.
func (p *decayingPeriod) fill(usage map[api.AggregationType]api.ResourceMap) {
	const milli = 1000
	usage[api.AVG] = resourceMap(Use{resource.SatFloat(p.cpu.Mean() * milli), resource.SatFloat(p.memory.Mean())})
	for _, q := range percentiles {
		f := float64(q.fraction)
		usage[q.kind] = resourceMap(Use{resource.SatFloat(p.cpu.Percentile(f) * milli), resource.SatFloat(p.memory.Percentile(f))})
	}
}

// split returns the cpu and memory of the uses.
func split(uses []Use) (cpu, memory []int64) {
	cpu, memory = make([]int64, len(uses)), make([]int64, len(uses))
	for i, u := range uses {
		cpu[i], memory[i] = u.CPU, u.Memory
	}
	return cpu, memory
}

func averageUse(uses []Use) api.ResourceMap {
	cpu, memory := split(uses)
	return resourceMap(Use{Average(cpu), Average(memory)})
}

func resourceMap(u Use) api.ResourceMap {
	var m api.ResourceMap
	m.Set(resource.CPU, resource.Milli(u.CPU))
	m.Set(resource.Memory, resource.New(u.Memory, resource.BinarySI))
	return m
}
