package scheduling

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
)

// extent is how large a search is: after how many feasible nodes the reference path ends, how many
// nodes there are, and whether the plugins that are asked about each are few.
type extent struct {
	wanted, nodes int
	few           bool
}

// fewPlugins is how many filters and scorers are few.
const fewPlugins = 8

// extentOf is the extent of a search after so many feasible nodes.
func (f *incrementalPath) extentOf(wanted, nodes int) extent {
	return extent{wanted, nodes, f.s.plugins.areFew()}
}

func (t *plugins) areFew() bool { return len(t.filters)+len(t.scorers) < fewPlugins }

// fewNodes is up to how many nodes kept answers save little or nothing. One node is not scored. Few
// plugins cost so little that looking for a class of pods takes as long as asking about some nodes,
// and filters alone even less.
func (t *plugins) fewNodes() int {
	switch {
	case !beginsLate || !t.areFew():
		return 1
	case len(t.scorers) == 0:
		return 20
	default:
		return 5
	}
}

// weigh is how many nodes the reference path evaluates in the time of n for kept answers: twice as
// many if the plugins are few.
func (x extent) weigh(n int) int {
	if x.few {
		return 2 * n
	}
	return n
}

// price is what a decision costs on the reference path, if all nodes are feasible. What does not
// depend on nodes costs as much as looking for a class.
func (x extent) price() int { return x.wanted + keyCost }

// besides is what the reference path costs besides evaluating nodes. It does not score a node that
// is the only one.
func (x extent) besides() int {
	if x.nodes == 1 {
		return 0
	}
	return keyCost
}

// classPrice is what a new class costs.
func (x extent) classPrice() int { return x.weigh(engine.ClassCost + 3*x.nodes) }

// enough is after how many pods of a class it is likely that many more come, while the loss is
// too large: when they have cost a quarter of what the class would.
func (x extent) enough() int { return max(2, x.classPrice()/(4*x.price())) }

// isSmall reports whether kept answers are made as fast as they are copied to a fork.
func (x extent) isSmall() bool { return beginsLate && x.nodes <= fewWanted }

// limitAtLast is which loss is too large, after many decisions.
func (x extent) limitAtLast() int { return patience*x.price() + patientClasses*x.classPrice() }

// isShort reports whether looking for the class of a pod matters, if the key costs so much beyond
// keyCost.
func (x extent) isShort(pod *framework.PodInfo, key int) bool {
	few := fewWanted + fewWanted*key/keyCost
	if pod.Parts()&framework.PartPodAffinity != 0 {
		few = max(few, termsCost*fewWanted)
	}
	return x.wanted <= few
}

// every is of how many pods that come while kept answers do not pay some are looked at.
func (x extent) every() int { return max(seenEvery, seenEvery*x.classPrice()/x.price()) }
