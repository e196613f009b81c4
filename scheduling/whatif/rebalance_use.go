package whatif

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A RebalanceConfig says when a node is overused or underused.
type RebalanceConfig struct {
	// Low and High are thresholds in percent of what a node has, by resource. A node
	// below all of Low is underused, above any of High overused. A resource that Low
	// does not name is not looked at.
	Low, High map[resource.Name]float64
	// ProdLow and ProdHigh are thresholds for the use of prod pods alone; without them
	// it is not looked at.
	ProdLow, ProdHigh map[resource.Name]float64
	// Deviation makes thresholds distances from the mean use of all nodes, in percent.
	Deviation bool
	// UseRequests takes what pods request as their use, and not what NodeMetrics report.
	UseRequests bool
	// Expiration is the age from which a NodeMetric does not count; 0 means that every
	// metric with a time counts.
	Expiration time.Duration
	// NumberOfNodes is how many nodes may be underused without anything happening.
	NumberOfNodes int
	// Weights weigh resources when nodes and pods are compared; nil weighs all alike.
	Weights map[resource.Name]int64
}

// A UseClass says how a node is used.
type UseClass string

// The classes of nodes.
const (
	UseLow      UseClass = "low"
	UseHigh     UseClass = "high"
	UseProdLow  UseClass = "prodLow"  // in order as a whole, underused by prod pods
	UseProdHigh UseClass = "prodHigh" // not overused as a whole, but by prod pods
	UseBothLow  UseClass = "bothLow"
	UseNormal   UseClass = "normal"
)

func (c *RebalanceConfig) check() error {
	for _, field := range []struct {
		name       string
		thresholds map[resource.Name]float64
	}{{"low", c.Low}, {"high", c.High}, {"prodLow", c.ProdLow}, {"prodHigh", c.ProdHigh}} {
		for _, name := range slices.Sorted(maps.Keys(field.thresholds)) {
			if v := field.thresholds[name]; !(v >= 0 && v <= 100) {
				return &api.InvalidError{Object: "config", Field: field.name + "[" + string(name) + "]", Value: fmt.Sprint(v), Err: errors.New("want a percentage from 0 to 100")}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Weights)) {
		if w := c.Weights[name]; w < 0 {
			return &api.InvalidError{Object: "config", Field: "weights[" + string(name) + "]", Value: fmt.Sprint(w), Err: errors.New("must not be negative")}
		}
	}
	if c.NumberOfNodes < 0 {
		return &api.InvalidError{Object: "config", Field: "numberOfNodes", Value: fmt.Sprint(c.NumberOfNodes), Err: errors.New("must not be negative")}
	}
	return nil
}

// limits are the thresholds in the order of the names, in percent.
type limits struct {
	names                        []resource.Name
	low, high, prodLow, prodHigh []float64
}

// filled completes the thresholds: what is not named for low is no threshold.
//
// Source: Koordinator 1.8, newThresholds.
func (c *RebalanceConfig) filled() limits {
	set := map[resource.Name]bool{resource.Memory: true}
	for _, m := range []map[resource.Name]float64{c.Low, c.High, c.ProdLow, c.ProdHigh} {
		for name := range m {
			set[name] = true
		}
	}
	l := limits{names: slices.Sorted(maps.Keys(set))}
	fill := func(low, high map[resource.Name]float64) (a, b []float64) {
		none := 100.0
		if c.Deviation {
			none = 0
		}
		for _, name := range l.names {
			x, y := none, none
			if v, ok := low[name]; ok {
				x, y = v, high[name]
			}
			a, b = append(a, x), append(b, y)
		}
		return a, b
	}
	l.low, l.high = fill(c.Low, c.High)
	l.prodLow, l.prodHigh = fill(c.ProdLow, c.ProdHigh)
	return l
}

// nodeUse is the use of a node and its limits, in the order of the names.
type nodeUse struct {
	name  string
	slot  int
	class UseClass

	has                                          []int64
	whole, prod                                  []int64
	wholeLow, wholeHigh, prodLow, prodHighLimits []int64
	pods                                         map[string]podUse // by key
}

// podUse is the use of a pod, in the order of the names, and which of them its metric lists.
type podUse struct {
	amounts []int64
	listed  []bool
}

func (n *nodeUse) usage(prod bool) []int64 {
	if prod {
		return n.prod
	}
	return n.whole
}

func (n *nodeUse) high(prod bool) []int64 {
	if prod {
		return n.prodHighLimits
	}
	return n.wholeHigh
}

// isProd reports whether the pod counts among the prod pods of its node.
func isProd(p *api.Pod) bool { return estimator.PodPriorityClass(p) == estimator.PriorityProd }

// takes reports whether the node stays below its high thresholds with one more pod.
func (n *nodeUse) takes(use []int64, isProd bool) bool {
	return !overWith(n.whole, use, n.wholeHigh) && (!isProd || !overWith(n.prod, use, n.prodHighLimits))
}

// spare is how much of a resource the node can take, of prod pods or of any.
func (n *nodeUse) spare(i int, prod bool) int64 {
	spare := resource.SatSub(n.wholeHigh[i], n.whole[i])
	if prod {
		spare = min(spare, resource.SatSub(n.prodHighLimits[i], n.prod[i]))
	}
	return spare
}

// add counts a pod, or takes it off.
func (n *nodeUse) add(use []int64, times int64, isProd bool) {
	for i, amount := range use {
		change := resource.SatMul(times, amount)
		n.whole[i] = resource.SatAdd(n.whole[i], change)
		if isProd {
			n.prod[i] = resource.SatAdd(n.prod[i], change)
		}
	}
}

func over(usage, limit []int64) bool {
	for i := range usage {
		if usage[i] > limit[i] {
			return true
		}
	}
	return false
}

// overWith is over for a use that grows.
func overWith(usage, more, limit []int64) bool {
	for i := range usage {
		if resource.SatAdd(usage[i], more[i]) > limit[i] {
			return true
		}
	}
	return false
}

// measure finds the use of every node that has one.
func (x *rebalance) measure() {
	for _, n := range x.s.All() {
		use := &nodeUse{name: n.Name(), slot: n.Slot(), pods: map[string]podUse{}}
		allocatable := rawAllocatable(n.Node)
		for _, name := range x.limits.names {
			use.has = append(use.has, amountOf(name, allocatable[name]))
		}
		use.whole, use.prod = make([]int64, len(use.has)), make([]int64, len(use.has))
		known := x.fromRequests
		if !x.config.UseRequests {
			known = x.fromMetric
		}
		if known(n, use) {
			x.nodes = append(x.nodes, use)
		}
	}
}

// rawAllocatable is what the node has before amplification. Other than for the scheduler's
// plugin, resources that the annotation leaves out count as none.
//
// Source: Koordinator 1.8, GetNodeRawAllocatableFromNode.
func rawAllocatable(n *api.Node) resource.List {
	var raw resource.List
	if json.Unmarshal([]byte(n.Annotations[estimator.AnnotationRawAllocatable]), &raw) != nil || raw == nil {
		return n.Status.Allocatable
	}
	return raw
}

// fromRequests counts what the pods request.
func (x *rebalance) fromRequests(n *framework.NodeInfo, use *nodeUse) bool {
	for _, p := range n.Pods {
		amounts := make([]int64, len(x.limits.names))
		for i, name := range x.limits.names {
			if amounts[i] = requested(p.Pod, name); name == resource.Pods {
				amounts[i] = 1
			}
		}
		use.count(p, amounts)
	}
	return true
}

func (n *nodeUse) count(p *framework.PodInfo, amounts []int64) {
	listed := make([]bool, len(amounts))
	for i := range listed {
		listed[i] = true
	}
	n.pods[p.Pod.Key()] = podUse{amounts, listed}
	n.add(amounts, 1, isProd(p.Pod))
}

// fromMetric counts what the node's metric reports: the system's use, and that of its
// pods. It returns false if there is none, or if it has expired.
//
// Source: Koordinator 1.8, getNodeUsage.
func (x *rebalance) fromMetric(n *framework.NodeInfo, use *nodeUse) bool {
	m := framework.Lookup[api.NodeMetric](x.s, n.Name())
	if m == nil || m.Status.NodeMetric == nil || m.Status.UpdateTime == nil ||
		x.config.Expiration > 0 && x.s.Now().Sub(*m.Status.UpdateTime) >= x.config.Expiration {
		return false
	}
	prods := map[string]bool{}
	for _, p := range n.Pods {
		prods[p.Pod.Key()] = isProd(p.Pod)
	}
	system := m.Status.NodeMetric.SystemUsage.List()
	total := make([]resource.Quantity, len(x.limits.names))
	prod := make([]resource.Quantity, len(x.limits.names))
	for i, name := range x.limits.names {
		total[i] = system[name]
	}
	for _, p := range m.Status.PodsMetric {
		if p == nil {
			continue
		}
		key, list := p.Namespace+"/"+p.Name, p.PodUsage.List()
		amounts, listed := make([]int64, len(x.limits.names)), make([]bool, len(x.limits.names))
		for i, name := range x.limits.names {
			_, listed[i] = list[name]
			total[i] = total[i].Add(list[name])
			if prods[key] {
				prod[i] = prod[i].Add(list[name])
			}
			if amounts[i] = amountOf(name, list[name]); name == resource.Pods {
				amounts[i] = 1
			}
		}
		use.pods[key] = podUse{amounts, listed}
	}
	for i, name := range x.limits.names {
		use.whole[i], use.prod[i] = amountOf(name, total[i]), amountOf(name, prod[i])
		if name == resource.Pods {
			use.whole[i], use.prod[i] = int64(len(n.Pods)), 0
			for _, p := range n.Pods {
				if prods[p.Pod.Key()] {
					use.prod[i]++
				}
			}
		}
	}
	return true
}

// classify sets the limits of every node, and its class.
//
// Source: Koordinator 1.8, getNodeThresholds and classifyNodes.
func (x *rebalance) classify() {
	mean, prodMean := x.means(false), x.means(true)
	for _, n := range x.nodes {
		n.wholeLow, n.wholeHigh = n.thresholds(x, x.limits.low, x.limits.high, mean)
		n.prodLow, n.prodHighLimits = n.thresholds(x, x.limits.prodLow, x.limits.prodHigh, prodMean)
		schedulable := !x.s.AtSlot(n.slot).Cordoned()
		low := schedulable && !over(n.whole, n.wholeLow)
		prodLow, prodHigh := schedulable && !over(n.prod, n.prodLow), over(n.prod, n.prodHighLimits)
		switch {
		case !low && over(n.whole, n.wholeHigh):
			n.class = UseHigh
		case prodHigh:
			n.class = UseProdHigh
		case low && prodLow:
			n.class = UseBothLow
		case low:
			n.class = UseLow
		case prodLow:
			n.class = UseProdLow
		default:
			n.class = UseNormal
		}
	}
}

// means are the mean shares of use in percent, by name.
func (x *rebalance) means(prod bool) []float64 {
	means := make([]float64, len(x.limits.names))
	for i := range means {
		for _, n := range x.nodes {
			if n.has[i] != 0 {
				means[i] += float64(float64(n.usage(prod)[i]) / float64(n.has[i]) * 100)
			}
		}
		means[i] /= float64(max(1, len(x.nodes)))
	}
	return means
}

// thresholds are the limits of a node in the units of use.
func (n *nodeUse) thresholds(x *rebalance, low, high, mean []float64) (lows, highs []int64) {
	for i := range low {
		switch {
		case !x.config.Deviation:
			lows, highs = append(lows, share(low[i], n.has[i])), append(highs, share(high[i], n.has[i]))
		case low[i] == 0:
			lows, highs = append(lows, n.has[i]), append(highs, n.has[i])
		default:
			lows = append(lows, share(min(max(mean[i]-low[i], 0), 100), n.has[i]))
			highs = append(highs, share(min(max(mean[i]+high[i], 0), 100), n.has[i]))
		}
	}
	return lows, highs
}

// share is a percentage of an amount, in the order of operations of the original.
func share(percent float64, amount int64) int64 {
	return resource.SatFloat(percent * 0.01 * float64(amount))
}

// score is the weighted mean of the shares of use, in thousandths.
func (n *nodeUse) score(x *rebalance, prod bool) (score int64) {
	weights := int64(0)
	for i, name := range x.limits.names {
		w := x.weight(name)
		if n.has[i] > 0 {
			score += w * min(1000, resource.SatMul(n.usage(prod)[i], 1000)/n.has[i])
		}
		weights += w
	}
	return score / max(1, weights)
}

func (x *rebalance) weight(name resource.Name) int64 {
	if x.config.Weights == nil {
		return 1
	}
	return x.config.Weights[name]
}

// cover says how well the use of a pod covers what is too much on the node: 2 if
// exactly, less if there is something left or to spare. A resource that the pod's metric
// does not list does not count.
//
// Source: Koordinator 1.8, ResourceUsageScorerPod.
func (n *nodeUse) cover(x *rebalance, p *api.Pod, prod bool) (score float64) {
	weights, use := int64(0), n.pods[p.Key()]
	for i, name := range x.limits.names {
		excess := n.usage(prod)[i] - n.high(prod)[i]
		if excess <= 0 || !use.listed[i] {
			continue
		}
		w := x.weight(name)
		ratio := float64(use.amounts[i]) / float64(excess)
		if ratio >= 1 {
			ratio = 1/ratio + 1
		}
		score += float64(float64(w) * ratio)
		weights += w
	}
	return score / float64(max(1, weights))
}

// report lists the classes of the nodes.
func (x *rebalance) report() []NodeUse {
	list := make([]NodeUse, 0, len(x.nodes))
	for _, n := range x.nodes {
		u := NodeUse{Node: n.name, Class: n.class, Shares: map[string]float64{}}
		for i, name := range x.limits.names {
			if n.has[i] > 0 {
				u.Shares[string(name)] = float64(resource.SatMul(100, n.whole[i])) / float64(n.has[i])
			}
		}
		list = append(list, u)
	}
	return list
}

// text writes the shares, by name.
func (u *NodeUse) text() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(u.Shares)) {
		parts = append(parts, fmt.Sprintf("%s %.0f%%", name, u.Shares[name]))
	}
	return strings.Join(parts, ", ")
}
