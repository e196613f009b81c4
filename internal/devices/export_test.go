//go:build full

package devices

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
)

// Uses describes which devices of a snapshot are in use.
func Uses(s *framework.Snapshot) string {
	var lines []string
	for id, p := range stateKey.Of(s).uses.All() {
		for device, u := range p.all {
			line := fmt.Sprintf("%s/%s: %d dedicated, %d shares, %d amounts", id, device, u.dedicated, u.shares, u.amounts)
			for _, name := range slices.Sorted(maps.Keys(u.capacity)) {
				line += fmt.Sprintf(", %s %s", name, u.capacity[name])
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Flights describes what pods have in flight.
func Flights(s *framework.Snapshot) string {
	var lines []string
	x := stateKey.Of(s)
	for claim, f := range x.flights.All() {
		lines = append(lines, fmt.Sprintf("%v for %v", claim, f.pod))
	}
	for pod, held := range x.holds.All() {
		line := fmt.Sprintf("%v holds", pod)
		for _, f := range held {
			line += fmt.Sprintf(" %s %s,", f.entry, f.claim.Key())
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// FindBySearch is Find, but searches for every claim.
func FindBySearch(f *Finder, node *framework.NodeInfo, found *Found) framework.Status {
	was := f.direct
	defer func() { f.direct = was }()
	f.direct = false
	return f.Find(node, found)
}

// IsDirect reports whether Find needs no search.
func IsDirect(f *Finder, node *framework.NodeInfo) bool {
	return f.directOn(f.catalog.poolsOf(node)) != nil
}

// FoundOn is what Reserve and Words take as found on a node.
func FoundOn(f *Finder, node *framework.NodeInfo) (*Found, framework.Status) {
	found, status := f.foundOn(node)
	if status.IsSuccess() && !found.isGiven() {
		found.give(f, new(grant))
	}
	return found, status
}
