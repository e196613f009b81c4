package topo

import "maps"

// shards is a map that forks share part by part: a write copies only the part with
// its key. A copy of the struct with another owner is a fork.
type shards[V any] struct{ parts [shardCount]*shard[V] }

const shardCount = 64

type shard[V any] struct {
	owner  *owner
	values map[string]V
}

// shardOf spreads keys over the parts. Keys often differ only near their ends.
func shardOf[K string | []byte](key K) uint32 {
	h := uint32(2166136261)
	for i := max(0, len(key)-32); i < len(key); i++ {
		h = (h ^ uint32(key[i])) * 16777619
	}
	return (h ^ h>>16) % shardCount
}

func (s *shards[V]) get(key string) (v V, ok bool) { return s.in(shardOf(key), key) }

// in is get for a key whose part is known.
func (s *shards[V]) in(part uint32, key string) (v V, ok bool) {
	if p := s.parts[part]; p != nil {
		v, ok = p.values[key]
	}
	return v, ok
}

// look is get for a key in a buffer.
func (s *shards[V]) look(key []byte) (v V, ok bool) {
	if p := s.parts[shardOf(key)]; p != nil {
		v, ok = p.values[string(key)]
	}
	return v, ok
}

// own returns the part of a key for writing.
func (s *shards[V]) own(o *owner, key string) map[string]V {
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
