// Package cases makes random clusters, with a pod to place in each, for the
// comparison with kube-scheduler.
//
// Every case belongs to a family, which is about one plugin or one subject. The rest
// of its objects have a small share of everything else, so that plugins meet. Values
// are drawn from small sets, so ties, full nodes and matching selectors are
// frequent. Some values are odd, and some are wrong in ways that an API server would
// reject but a scheduler must handle.
//
//	c := cases.Generate("spread", 1, 42)
//
// A case is a function of family, seed and number. Sixteen neighbouring numbers
// share one configuration, so that a kube-scheduler built for it can be used again.
package cases
