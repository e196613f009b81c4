package engine

import "errors"

// recency lists the classes, the one used last first.
//
// Invariant: newer and older of neighbours point to each other, and used falls from
// newest to oldest.
type recency struct{ newest, oldest *class }

// use makes the class the newest, whether or not it is in the list.
func (r *recency) use(c *class) {
	if r.newest == c {
		return
	}
	r.remove(c)
	if c.older = r.newest; c.older != nil {
		c.older.newer = c
	} else {
		r.oldest = c
	}
	r.newest = c
}

// remove takes the class out of the list, if it is there.
func (r *recency) remove(c *class) {
	if c.newer != nil {
		c.newer.older = c.older
	} else if r.newest == c {
		r.newest = c.older
	}
	if c.older != nil {
		c.older.newer = c.newer
	} else if r.oldest == c {
		r.oldest = c.newer
	}
	c.newer, c.older = nil, nil
}

// check returns what does not hold of the list, which has to hold n classes.
func (r *recency) check(n int) error {
	var newer *class
	for c := r.newest; c != nil; newer, c = c, c.older {
		if c.newer != newer || newer != nil && newer.used < c.used {
			return errors.New("recency: a class is out of place")
		}
		if n--; n < 0 {
			break
		}
	}
	if n != 0 || r.oldest != newer {
		return errors.New("recency: not each class is listed once")
	}
	return nil
}
