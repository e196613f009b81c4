package strictjson

import (
	"bytes"
	"hash/maphash"
	"reflect"
	"slices"
)

// A Counter is a [Handler] that only counts unknown names, and stops at every misfit.
type Counter interface {
	Handler

	// Counter returns where to count the unknown names at path, for as long as the
	// decoder is used. With own it counts nothing else, so it may be kept.
	Counter(path Path, name []byte) (n *int, own bool)
}

// Bounds of what is kept while a text is read.
const (
	maxSharedText   = 16 << 10 // bytes of a value
	maxSharedValues = 4096     // of one site
	sharedTexts     = 4096     // strings
)

// Share lets equal parts of the values that are read from now on share memory: the
// maps, lists and pointers that have the same text at the same field of the same type.
// The pods of one template do, in most of their parts. Shared lists have no room to
// append to. The handler that the decoder was initialized with must be a [Counter].
func (d *Decoder) Share() {
	d.roots = map[reflect.Type]*site{}
	size := sharedTexts
	for size > len(d.firstTexts) && size > len(d.data)/16 { // a short text has few texts in it
		size /= 2
	}
	if size > len(d.recent) {
		d.recent = make(recentTexts, size)
	}
	d.seed = maphash.MakeSeed() // shows in no result: texts that collide are not shared
}

// A site is a field of a type, reached from a root on one path without indexes and
// keys. It holds what was read there.
type site struct {
	fields  []*site // of the struct there, by number
	unknown map[string]*int
	values  map[uint64]sharedValue // by hash of their text

	// A site whose values do not repeat rests, so that it does not cost more than it
	// saves: it is tried again for a few values now and then.
	credit, rest int
}

// The credit of a site: what it begins with, what a hit adds, how far it goes, what it is
// after a rest, and how many values a rest lasts.
const (
	firstCredit   = 32
	creditOfHit   = 4
	mostCredit    = 64
	creditToRetry = 2
	restValues    = 64
)

// A sharedValue is a value that was read, its text, and the unknown names in it.
type sharedValue struct {
	text   []byte
	value  reflect.Value
	counts []*int
	grown  int // as the decoder counts it
}

// child returns the site of a field of the struct at s.
func (s *site) child(f *field, of *shape) *site {
	if s.fields == nil {
		s.fields = make([]*site, len(of.fields))
	}
	c := s.fields[f.number]
	if c == nil {
		c = &site{credit: firstCredit}
		s.fields[f.number] = c
	}
	return c
}

// root returns the site of a value of type t, nil if nothing is shared.
func (d *Decoder) root(t reflect.Type) *site {
	if d.roots == nil || t.Kind() != reflect.Struct {
		return nil
	}
	s := d.roots[t]
	if s == nil {
		s = new(site)
		d.roots[t] = s
	}
	return s
}

// shared reads the next value into v if it has been read before at this site, or reads
// and keeps it. It reports whether it did either.
func (d *Decoder) shared(v reflect.Value, s *shape) (bool, error) {
	at := d.site
	if at.rest > 0 {
		at.rest--
		return false, nil
	}
	begin := d.Mark()
	text, err := d.Raw()
	if err != nil || len(text) > maxSharedText {
		d.Scanner.Reset(begin) // read without sharing, it has the right error
		at.miss()
		return false, nil
	}
	key := maphash.Bytes(d.seed, text)
	if e, ok := at.values[key]; ok && e.value.Type() == s.typ && bytes.Equal(e.text, text) {
		if d.grown+e.grown > d.mostGrown && d.mostGrown > 0 {
			d.Scanner.Reset(begin)
			return false, nil // the limit is in it
		}
		d.grown += e.grown
		at.credit = min(at.credit+creditOfHit, mostCredit)
		v.Set(e.value)
		for _, n := range e.counts {
			d.count(n)
		}
		return true, nil
	}
	at.miss()
	d.Scanner.Reset(begin)
	noted, uncounted, grown := len(d.noted), d.uncounted, d.grown
	d.recording++
	err = d.plain(v, s)
	d.recording--
	if err == nil && d.uncounted == uncounted {
		at.keep(key, sharedValue{text, copyOf(v), slices.Clone(d.noted[noted:]), d.grown - grown})
	}
	if d.recording == 0 {
		d.noted = d.noted[:0]
	}
	return true, err
}

// copyOf returns the value of v, which stays when v changes.
func copyOf(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}

func (s *site) keep(key uint64, v sharedValue) {
	if s.values == nil || len(s.values) >= maxSharedValues {
		s.values = map[uint64]sharedValue{}
	}
	s.values[key] = v
}

func (s *site) miss() {
	if s.credit--; s.credit <= 0 {
		s.credit, s.rest = creditToRetry, restValues
	}
}

// count counts an unknown name, and notes that for the values around it that are being
// kept.
func (d *Decoder) count(n *int) {
	*n++
	if d.recording > 0 {
		d.noted = append(d.noted, n)
	}
}

// countUnknown counts a name that is no field of the struct that is being read.
func (d *Decoder) countUnknown(name []byte) {
	if d.Peek() == 'n' {
		return // null: as if it were not there
	}
	n := d.site.unknown[string(name)]
	if n == nil {
		var own bool
		if n, own = d.handler.(Counter).Counter(d.path, name); own {
			if d.site.unknown == nil {
				d.site.unknown = map[string]*int{}
			}
			d.site.unknown[string(name)] = n
		}
	}
	d.count(n)
}
