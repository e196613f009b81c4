package scheduling

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
)

// extent is how large a search is: after how many feasible nodes the reference path ends, how many
// nodes there are, and what the plugins cost that are asked about each.
type extent struct {
	wanted, nodes int
	cost          cost
}

// A cost is what the plugins of a profile cost that are asked about each node, by their number.
type cost uint8

const (
	costly      cost = iota // many filters and scorers, as in kube-scheduler's default profile
	cheap                   // few filters and scorers
	filtersOnly             // nothing scores: the reference path ends at the first feasible node
)

// fewPlugins is how many filters and scorers are few. With few of them, a kept answer costs as much as
// fewAnswers of theirs.
const fewPlugins, fewAnswers = 8, 140

// extentOf is the extent of a search after so many feasible nodes.
func (f *incrementalPath) extentOf(wanted, nodes int) extent {
	return extent{wanted, nodes, f.s.plugins.cost}
}

// findCost finds what it costs to ask about a node.
func (t *plugins) findCost() {
	switch {
	case !t.hasPreference():
		t.cost = filtersOnly
	case len(t.filters)+len(t.scorers) < fewPlugins:
		t.cost = cheap
	default:
		t.cost = costly
	}
}

// fewNodes is up to how many nodes kept answers save little or nothing. One node is not scored. Cheap
// plugins cost so little that looking for a class of pods takes as long as asking about some nodes,
// the more, the fewer they are, and filters alone even less.
func (t *plugins) fewNodes() int {
	switch {
	case !beginsLate || t.cost == costly:
		return 1
	case t.cost == cheap:
		return fewAnswers / max(1, len(t.filters)+len(t.scorers)) // there may be extenders alone
	default:
		return smallCluster
	}
}

// weigh is how many nodes the reference path evaluates in the time of n for kept answers: more if the
// plugins are cheap.
func (x extent) weigh(n int) int { return n * [...]int{costly: 1, cheap: 2, filtersOnly: 8}[x.cost] }

// keyPrice is what it costs to look for the class of a pod.
func (x extent) keyPrice() int { return x.weigh(keyCost) }

// copyPrice is what it costs a fork to copy the first answers that it uses. A decision by costly plugins
// costs more.
func (x extent) copyPrice() int {
	if x.cost == costly {
		return 0
	}
	return x.weigh(x.nodes)
}

// gain is what a kept answer saves that did not evaluate any node, if the reference path evaluates so
// many. If these cost little, looking for the answer may cost more than it saves.
func (x extent) gain(evaluated int) int {
	switch {
	case x.cost == filtersOnly:
		return evaluated - x.weigh(keyCost/2)
	case x.cost == cheap:
		return evaluated + keyCost/4
	default:
		return evaluated + x.besides()
	}
}

// price is what a decision costs on the reference path, if all nodes are feasible. What does not
// depend on nodes costs as much as looking for a class.
func (x extent) price() int { return x.wanted + keyCost }

// fading is by how much a loss that is too large fades with a decision on the reference path.
func (x extent) fading() int { return max(1, x.price()/fadeShare) }

// besides is what the reference path costs besides evaluating nodes. It does not score a node that
// is the only one.
func (x extent) besides() int {
	if x.nodes == 1 {
		return 0
	}
	return keyCost
}

// work is what a decision costs on the reference path, as far as kept answers may save it.
func (x extent) work() int { return x.wanted + x.besides() }

// classPrice is what a new class costs.
func (x extent) classPrice() int { return x.weigh(engine.ClassCost + 3*x.nodes) }

// enough is after how many pods of a class it is likely that many more come, while the loss is
// too large: when they have cost a quarter of what the class would.
func (x extent) enough() int { return max(2, x.classPrice()/(4*x.price())) }

// isSmall reports whether kept answers are made as fast as they are copied to a fork.
func (x extent) isSmall() bool { return beginsLate && x.nodes <= smallCluster }

// limitAtLast is which loss is too large, after many decisions.
func (x extent) limitAtLast() int { return patience*x.price() + patientClasses*x.classPrice() }

// isShort reports whether looking for the class of a pod matters, if the key costs so much beyond
// keyCost.
func (x extent) isShort(pod *framework.PodInfo, key int) bool {
	few := x.weigh(fewWanted + fewWanted*key/keyCost)
	if pod.Parts()&framework.PartPodAffinity != 0 {
		few = max(few, termsCost*fewWanted)
	}
	return x.wanted <= few
}

// every is of how many pods that come while kept answers do not pay some are looked at.
func (x extent) every() int { return max(seenEvery, seenEvery*x.classPrice()/x.price()) }
