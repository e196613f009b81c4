package framework

// A Key identifies a value that plugins share within one cycle. Its type makes
// assertions unnecessary: a key made with NewKey[int] holds ints.
//
// Keys are compared by identity. Make one per purpose, as a package variable
// or a field, and share it.
type Key[T any] struct{ name string }

// NewKey returns a new key. The name is only for people; two keys of one name are
// different keys.
func NewKey[T any](name string) *Key[T] { return &Key[T]{name} }

// Name returns the key's name.
func (k *Key[T]) Name() string { return k.name }

// Get returns the cycle's value for the key, and whether there is one.
func (k *Key[T]) Get(c *Cycle) (T, bool) {
	v, ok := c.values[k].(held[T])
	return v.value, ok
}

// Set stores the value for the rest of the cycle. A plugin that sets one in PreFilter
// or PreScore is asked in every decision, whatever its [Scope] declares, so the value
// is always there and is this pod's.
func (k *Key[T]) Set(c *Cycle, v T) {
	c.runner.Sets++
	k.Offer(c, v)
}

// Offer stores the value like Set, but does not make the plugin be asked: the value is
// missing in decisions that are made from kept answers. It must be the same for all
// pods that are equal in the parts that the plugin's Scope names.
func (k *Key[T]) Offer(c *Cycle, v T) {
	if c.values == nil {
		c.values = make(map[any]any)
	}
	c.values[k] = held[T]{v}
}

// held distinguishes a stored nil from nothing stored if T is an interface.
type held[T any] struct{ value T }

// Delete removes the cycle's value for the key.
func (k *Key[T]) Delete(c *Cycle) { delete(c.values, k) }
