package topo

import "maps"

// shards is a map that forks share part by part: a write copies only the part with
// its key, and the list of parts. A copy of the struct with another owner is a fork.
type shards[V any] struct {
	owner *owner
	parts *[shardCount]*shard[V] // nil if nothing was ever put in
}

const shardCount = 64

type shard[V any] struct {
	owner  *owner
	values map[string]V
}

// shardOf spreads keys over the parts. Keys often differ only near their ends.
func shardOf[K string | []byte](key K) uint32 {
	const mix = 0x9e3779b97f4a7c15
	h := uint64(len(key))
	i := max(0, len(key)-32)
	for ; i+8 <= len(key); i += 8 {
		k := key[i : i+8]
		h ^= uint64(k[0]) | uint64(k[1])<<8 | uint64(k[2])<<16 | uint64(k[3])<<24 |
			uint64(k[4])<<32 | uint64(k[5])<<40 | uint64(k[6])<<48 | uint64(k[7])<<56
		h = (h ^ h>>29) * mix
	}
	for ; i < len(key); i++ {
		h = (h ^ uint64(key[i])) * mix
	}
	return uint32((h >> 32) % shardCount)
}

func (s *shards[V]) get(key string) (v V, ok bool) { return s.in(shardOf(key), key) }

// in is get for a key whose part is known.
func (s *shards[V]) in(part uint32, key string) (v V, ok bool) {
	if s.parts == nil {
		return v, false
	}
	if p := s.parts[part]; p != nil {
		v, ok = p.values[key]
	}
	return v, ok
}

// look is get for a key in a buffer.
func (s *shards[V]) look(key []byte) (v V, ok bool) {
	if s.parts == nil {
		return v, false
	}
	if p := s.parts[shardOf(key)]; p != nil {
		v, ok = p.values[string(key)]
	}
	return v, ok
}

// own returns the part of a key for writing.
func (s *shards[V]) own(o *owner, key string) map[string]V {
	switch {
	case s.parts == nil:
		s.owner, s.parts = o, new([shardCount]*shard[V])
	case s.owner != o:
		copied := *s.parts
		s.owner, s.parts = o, &copied
	}
	at := &s.parts[shardOf(key)]
	switch {
	case *at == nil:
		*at = &shard[V]{o, map[string]V{}}
	case (*at).owner != o:
		*at = &shard[V]{o, maps.Clone((*at).values)}
	}
	return (*at).values
}

func (s *shards[V]) set(o *owner, key string, v V) { s.own(o, key)[key] = v }
func (s *shards[V]) remove(o *owner, key string)   { delete(s.own(o, key), key) }
