package gang

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A Set is groups that are placed together: at least a number of them, or none.
type Set struct {
	// Name identifies the set.
	Name string
	// Groups are tried in this order. kube-scheduler orders them by creation, then name.
	Groups []*Group
	// Min is how many groups must stand; 0 means all.
	Min int
	// Topology is a label whose values are domains: all groups are in one of them. ""
	// means anywhere. Each group may have levels of its own within.
	Topology string
}

// A SetOutcome is what came of an attempt to place a set.
type SetOutcome struct {
	Status Status `json:"status"`
	// Text says why the set does not stand.
	Text string `json:"text,omitempty"`
	// Domain is the domain that was chosen; empty if the whole cluster was.
	Domain []Value `json:"domain,omitempty"`
	// Groups has the outcome of each group that was tried, in order.
	Groups []*Outcome `json:"groups,omitempty"`
	// Stand is how many groups stand, or stood in the domain closest to success.
	Stand int `json:"stand"`
}

func (s *Set) invalid(field, value, text string) error {
	return &api.InvalidError{Object: "set " + s.Name, Field: field, Value: value, Err: errors.New(text)}
}

func (s *Set) check(snap *framework.Snapshot, rules *Rules) error {
	if s == nil {
		return &api.InvalidError{Object: "set", Err: errors.New("is nil")}
	}
	if s.Min < 0 || s.Min > len(s.Groups) {
		return s.invalid("min", strconv.Itoa(s.Min), fmt.Sprintf("must be from 0 to %d, the number of groups", len(s.Groups)))
	}
	seen := map[string]string{}
	for i, g := range s.Groups {
		field := "groups[" + strconv.Itoa(i) + "]"
		if err := g.check(snap, rules); err != nil {
			return fmt.Errorf("set %s: %s: %w", s.Name, field, err)
		}
		for _, p := range g.Pods {
			if other, ok := seen[p.Pod.Key()]; ok {
				return s.invalid(field+".pods", p.Pod.Key(), "is a pod of "+other+", too")
			}
			seen[p.Pod.Key()] = field
		}
	}
	return nil
}

func (s *Set) least() int {
	if s.Min == 0 {
		return len(s.Groups)
	}
	return s.Min
}

// PlaceSet places at least the minimum of the set's groups, or nothing. Groups are tried
// one after the other; one that fails is taken back alone, and the rest go on while the
// minimum can be met. The domain that takes the most groups wins, or else the first.
//
// Source: kube-scheduler 1.37, schedule_one_podgroup.go, composite pod groups.
//
// Differs: the domain of a set.
// Original: kube-scheduler scores all pods of the successful groups in each domain.
// Here: the domain with the most groups wins, then the first in the snapshot's order.
// Why: a group that stands counts for more than a fuller domain.
func (p *Placer) PlaceSet(snap *framework.Snapshot, s *Set) (*SetOutcome, error) {
	if snap == nil {
		return nil, &api.InvalidError{Object: "snapshot", Err: errors.New("is nil")}
	}
	if err := s.check(snap, &p.rules); err != nil {
		return nil, err
	}
	list := []*domain{nil}
	if s.Topology != "" {
		list = p.forest.of(snap, []string{s.Topology}).children
		if len(list) == 0 {
			return &SetOutcome{Status: NoDomain, Text: "no node has the label " + s.Topology}, nil
		}
	}
	var best *SetOutcome
	var at *domain
	for _, d := range list {
		out, err := p.trySet(snap, s, d, false)
		if err != nil {
			return nil, err
		}
		if best == nil || out.Status == Placed && best.Status != Placed || out.Status == best.Status && out.Stand > best.Stand {
			best, at = out, d
		}
	}
	if best.Status == Placed {
		return p.trySet(snap, s, at, true)
	}
	return best, nil
}

// trySet tries the groups in a domain; nil means anywhere. Unless keep is set, or the set
// does not stand, all is taken back.
func (p *Placer) trySet(snap *framework.Snapshot, s *Set, d *domain, keep bool) (*SetOutcome, error) {
	mark := snap.Begin()
	defer snap.Rollback(mark)
	out := &SetOutcome{Status: Short}
	if d != nil {
		out.Domain = d.path
	}
	for i, g := range s.Groups {
		o, err := p.placeWithin(snap, g, d, true)
		if err != nil {
			return nil, err
		}
		out.Groups = append(out.Groups, o)
		if o.Status == Placed {
			out.Stand++
		}
		if out.Stand+len(s.Groups)-i-1 < s.least() {
			break
		}
	}
	if out.Stand < s.least() {
		out.Text = fmt.Sprintf("%d of %d groups stand", out.Stand, s.least())
		if last := out.Groups; len(last) > 0 {
			out.Text += "; " + last[len(last)-1].Group + ": " + last[len(last)-1].Text
		}
		return out, nil
	}
	out.Status = Placed
	if keep {
		snap.Commit(mark)
	}
	return out, nil
}
