// Package slotlist has what lists by slot, or by another dense number, have in common.
package slotlist

// AtLeast returns the list, made at least n long. New elements are zero, unless the
// memory was used before.
func AtLeast[T any](list []T, n int) []T {
	if len(list) >= n {
		return list
	}
	return append(list, make([]T, n-len(list))...)
}
