// Package page is what the playground does, without a browser: it maps texts, presets,
// states and clicks to the data that the page shows.
//
//	p := page.New()
//	reply := p.Call([]byte(`{"do":"open"}`)) // JSON in, JSON out
//
// The state of a page is its texts and a list of steps: pods placed, weights changed,
// nodes added or drained, pods evicted. Everything shown follows from the state, so a
// link holds the state and nothing else, and going back means to take all steps but the
// last one again. For the seed of a link, the answers are the same on every machine.
//
// A changed weight decides nothing anew: the scores of the next decision, and those of the
// classes of waiting pods, are kept and weighed again.
//
// # What it leaves to you
//
// Showing, and packing the state into a link and out of it, which browsers do themselves.
// Bound what you unpack. The clock stands still, at the newest NodeMetric of the texts. Preemption and
// extenders are not asked.
//
// # Concurrency
//
// One goroutine at a time may use a Page.
package page
