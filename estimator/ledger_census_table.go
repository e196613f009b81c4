package estimator

// A censusTable is a hash table of pods by name, with linear probing. Pods of one
// name are in their order of arrival. It is at most half full, and its length is 0
// or a power of two.
type censusTable struct {
	entries []censusEntry
	held    int
}

// A censusEntry is a pod with the hash of its name; a nil pod marks a free place.
type censusEntry struct {
	hash uint64
	located
}

// first returns the index of the first pod of that name to arrive, or -1.
func (t *censusTable) first(name podName, hash uint64) int {
	if t.held == 0 {
		return -1
	}
	return t.search(name, hash, t.start(hash))
}

// next returns the index of the next pod of the name after the one at index at, or
// -1.
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

// add adds a pod after the others of its name.
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

// grow doubles the table. It starts after a free place, so that pods of one name
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

// remove frees the place. The entries after it move up as far as their hashes
// allow.
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

// from returns the distance from a forward to b.
func (t *censusTable) from(a, b int) int { return (b - a) & (len(t.entries) - 1) }
