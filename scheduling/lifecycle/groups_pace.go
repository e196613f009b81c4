package lifecycle

import (
	"slices"
	"time"

	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/queue"
)

// Nothing else is scheduled during an attempt for a group, and attempts that fail come again. So
// that they leave time for other pods, those together get a part of it, each namespace as much as
// the others, and in it each group as much as the others. So the groups of a namespace, many or
// few, asleep or not, hold up one another most.
const (
	paceShare = 5         // they get one of so many parts of the time
	paceMost  = time.Hour // the longest delay
)

// pace keeps a group whose attempt has failed from its next one, as long as its share of the
// time says.
func (d *Driver) pace(g *group, it *queue.Item, began time.Time) {
	if until := d.shareOf(g, began); g.costly {
		d.queue.Delay(it, until)
	}
}

// paceRest is pace for a group that stands, and is out of the queue. If pods were left behind,
// they are tried again as if all had failed: others of the group may fit each time.
func (d *Driver) paceRest(g *group, c *gang.Cycle, began time.Time) {
	d.countCostly(g, false)
	if slices.ContainsFunc(c.Pods, func(r gang.PodReport) bool { return r.Node == "" }) {
		g.past.NotBefore = d.shareOf(g, began)
	}
}

// shareOf counts the group's attempt, and returns when its share allows the next one. How long it
// took is told by the driver's clock: if that is virtual, there is no delay.
func (d *Driver) shareOf(g *group, began time.Time) time.Time {
	now := d.clock.Now()
	took := now.Sub(began)
	d.countCostly(g, took > 0)
	if !g.costly {
		return now
	}
	return now.Add(delayAfter(took, d.groups.rivals(g)))
}

// rivals is how many costly groups there would be if each namespace that has some had as many as
// that of the group, which is costly.
func (gs *groups) rivals(g *group) int { return len(gs.costly) * gs.costly[g.key.namespace] }

// delayAfter is how long a group waits if its attempt took so long, and it has so many rivals,
// itself included.
func delayAfter(took time.Duration, rivals int) time.Duration {
	if took >= paceMost/paceShare/time.Duration(rivals) {
		return paceMost
	}
	return took * paceShare * time.Duration(rivals)
}

// countCostly counts a group among the costly ones, or no longer.
func (d *Driver) countCostly(g *group, costly bool) {
	if costly == g.costly {
		return
	}
	g.costly = costly
	list, namespace := d.groups.costly, g.key.namespace
	if costly {
		list[namespace]++
	} else if list[namespace]--; list[namespace] == 0 {
		delete(list, namespace)
	}
}
