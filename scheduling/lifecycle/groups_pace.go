package lifecycle

import (
	"time"

	"github.com/berth-sched/berth/scheduling/queue"
)

// Nothing else is scheduled during an attempt for a group, and attempts that fail come again. So
// that they leave time for other pods, those that take long together get a part of it, each
// group as much as the others.
const (
	costlyAttempt = time.Millisecond // from this on attempts count
	paceShare     = 5                // they get one of so many parts of the time
	paceMost      = time.Hour        // the longest delay
)

// pace keeps a group whose attempt has failed from its next one, as long as its share of the
// time says. How long the attempt took is told by the driver's clock: if that is virtual, there
// is no delay.
func (d *Driver) pace(g *group, it *queue.Item, began time.Time) {
	now := d.clock.Now()
	took := now.Sub(began)
	d.countCostly(g, took >= costlyAttempt)
	if g.costly {
		d.queue.Delay(it, now.Add(delayAfter(took, d.groups.costly)))
	}
}

// delayAfter is how long a group waits if its attempt took so long, and so many groups are
// costly.
func delayAfter(took time.Duration, groups int) time.Duration {
	if took >= paceMost/paceShare/time.Duration(groups) {
		return paceMost
	}
	return took * paceShare * time.Duration(groups)
}

// countCostly counts a group among the costly ones, or no longer.
func (d *Driver) countCostly(g *group, costly bool) {
	switch {
	case costly && !g.costly:
		d.groups.costly++
	case !costly && g.costly:
		d.groups.costly--
	}
	g.costly = costly
}
