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
	if x := c.value(k); x != nil && x.isSet {
		return x.held.(*held[T]).value, true
	}
	var none T
	return none, false
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
	x := c.value(k)
	if x == nil {
		c.values = append(c.values, cycleValue{key: k, held: new(held[T])})
		x = &c.values[len(c.values)-1]
	}
	x.held.(*held[T]).value, x.isSet = v, true
}

// Delete removes the cycle's value for the key.
func (k *Key[T]) Delete(c *Cycle) {
	if x := c.value(k); x != nil {
		x.clear()
	}
}

// maxKept bounds how many values' memory a cycle keeps for the next pod.
const maxKept = 64

// A cycleValue is the memory for the value of one key. A cycle keeps it for the next pod.
type cycleValue struct {
	key   any
	held  heldValue // the key's *held[T]
	isSet bool
}

type heldValue interface {
	clear()
	clone() heldValue
}

type held[T any] struct{ value T }

func (h *held[T]) clear() { *h = held[T]{} }

func (h *held[T]) clone() heldValue {
	c := *h
	return &c
}

func (v *cycleValue) clear() {
	if v.isSet {
		v.held.clear()
		v.isSet = false
	}
}

// value returns the memory for the value of a key, nil if there is none yet.
func (c *Cycle) value(key any) *cycleValue {
	for i := range c.values {
		if c.values[i].key == key {
			return &c.values[i]
		}
	}
	return nil
}
