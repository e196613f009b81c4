package queue

// Resize says that the item stands for a group of so many pods: the longest backoff of a
// group grows with the square root of its size. It counts from the next time that the item
// backs off.
func (q *Queue) Resize(it *Item, pods int) {
	if pods > 1 {
		q.SetApart(it)
	}
	it.pods = pods
}
