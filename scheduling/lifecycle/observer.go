package lifecycle

import "time"

// stamp is the time for an observer, the zero time when there is none.
func (d *Driver) stamp() (t time.Time) { return t }

func (d *Driver) observe(a *Attempt) {}
