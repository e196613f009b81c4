package estimator

// A censusTable holds pods by the hash of their names: at that place or, where
// others are, behind it. Pods of one name stand in the order in which they came.
// It is at most half full, and its length is 0 or a power of two.
type censusTable struct {
	entries []censusEntry
	held    int
}

// A censusEntry is a pod with the hash of its name; a nil pod marks a free place.
type censusEntry struct {
	hash uint64
	located
}

// first returns the place of the pod of that name which came first, -1 if there is
// none.
func (t *censusTable) first(name podName, hash uint64) int {
	if t.held == 0 {
		return -1
	}
	return t.search(name, hash, t.start(hash))
}

// next returns the place of the pod of the name that came after the one at a place.
func (t *censusTable) next(name podName, hash uint64, at int) int {
	return t.search(name, hash, t.after(at))
}

func (t *censusTable) search(name podName, hash uint64, at int) int {
	for ; t.entries[at].pod != nil; at = t.after(at) {
		if e := &t.entries[at]; e.hash == hash && nameOf(e.pod.Pod) == name {
			return at
		}
	}
	return -1
}

// add adds a pod behind those of its name.
func (t *censusTable) add(e censusEntry) {
	if 2*t.held >= len(t.entries) {
		t.grow()
	}
	t.held++
	t.put(e)
}

func (t *censusTable) put(e censusEntry) {
	at := t.start(e.hash)
	for t.entries[at].pod != nil {
		at = t.after(at)
	}
	t.entries[at] = e
}

// grow doubles the table. It begins behind a free place, so that pods of one name
// keep their order.
func (t *censusTable) grow() {
	old := t.entries
	t.entries = make([]censusEntry, max(8, 2*len(old)))
	first := 0
	for first < len(old) && old[first].pod != nil {
		first++
	}
	for i := range old {
		if e := old[(first+i)&(len(old)-1)]; e.pod != nil {
			t.put(e)
		}
	}
}

// remove frees the place. Those behind it move up as far as their hashes allow.
func (t *censusTable) remove(free int) {
	t.held--
	for at := t.after(free); t.entries[at].pod != nil; at = t.after(at) {
		if t.from(t.start(t.entries[at].hash), at) >= t.from(free, at) {
			t.entries[free] = t.entries[at]
			free = at
		}
	}
	t.entries[free] = censusEntry{}
}

func (t *censusTable) start(hash uint64) int { return int(hash) & (len(t.entries) - 1) }

func (t *censusTable) after(at int) int { return (at + 1) & (len(t.entries) - 1) }

// from returns how far b is behind a.
func (t *censusTable) from(a, b int) int { return (b - a) & (len(t.entries) - 1) }
