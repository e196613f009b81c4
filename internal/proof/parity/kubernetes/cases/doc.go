// Package cases makes random clusters, with a pod to place in each, for the
// comparison with kube-scheduler.
//
// Every case belongs to a family, which is about one plugin or one subject; the
// rest of its objects come with a small share of everything else, so that
// plugins meet. Values are drawn from small sets: ties, full nodes and selectors
// that match are frequent. Some are odd, and some are wrong in ways that an API
// server would refuse but a scheduler has to bear.
//
//	c := cases.Generate("spread", 1, 42)
//
// A case is a function of family, seed and number. Sixteen neighbouring numbers
// share one configuration, so that a kube-scheduler that was built for it can be
// used again.
package cases
