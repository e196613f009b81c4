package devices

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
)

// How the nodes share the steps of searches.

const (
	// fullNodes is how many nodes with devices may each have the whole bound. More nodes
	// share what these have, so that a claim costs an attempt no more than that.
	fullNodes = 4
	// leastShare is the least part of the bound that a node has, however many there are.
	// Ordinary claims take less than 50,000 steps, which it is by default.
	leastShare = 100
)

// stepsAmong is the bound of the search on each node, if so many may have devices. It follows
// from the cluster and not from what was spent before: a verdict must not depend on which
// nodes were asked.
func (o *Options) stepsAmong(nodes int) int {
	all := o.steps()
	if nodes <= fullNodes {
		return all
	}
	return max(int(float64(all)*(float64(fullNodes)/float64(nodes))), all/leastShare, 1)
}

// stepsOn is the bound of the search of a node with these pools. Where nodes share steps, a node
// has at least some looks of each request, up to those of one claim, at each device.
func (f *Finder) stepsOn(p *pools, plans []plan) int {
	all := f.options.steps()
	if f.steps >= all {
		return all
	}
	requests := 0
	for i := range plans {
		requests += len(plans[i].requests)
	}
	look := looksOfRequest
	if f.options.Compiler != nil {
		look *= stepsOfCall
	}
	return min(all, max(f.steps, look*min(requests, maxRequests)*len(p.devices)))
}

const (
	// looksOfRequest is how many steps a request may take for each device, at least.
	looksOfRequest = 8
	// maxRequests is how many requests a claim of an API server has at most.
	maxRequests = 32
)

// A givenUp is the reason against a node where the search for devices took more steps than its
// share. The detail of the status is their number.
type givenUp struct{}

// SearchGivenUp is that reason.
var SearchGivenUp framework.Reasoner = givenUp{}

// Reasons says after how many steps the search was given up.
func (givenUp) Reasons(steps uint64) []string {
	return []string{fmt.Sprintf("search for devices given up after %d steps", steps)}
}
