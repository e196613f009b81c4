// Package convert turns the API objects of client-go into those of package
// framework/api, with no JSON in between: one function a kind.
//
//	pod, err := convert.Pod(p) // a *corev1.Pod into an *api.Pod
//
// # What it does
//
// The types of framework/api are those of the Kubernetes API, cut down to what
// scheduling reads. A field of one is the field of the other that has the same name in
// JSON. The package compares each pair of types once, by reflection, when it is loaded,
// and keeps a list of copies. A conversion only runs that list. Kind and APIVersion are
// set, which client-go leaves empty.
//
// # What it leaves to you
//
// The result shares memory with the object wherever both types lay it out alike: labels,
// selectors, tolerations, affinity and more. So neither may change afterwards. Objects of
// informers do not.
//
// # Determinism, concurrency and cost
//
// The result depends on the argument alone, and equals what framework/api decodes from the
// object's JSON. Any number of goroutines may call all functions. A pod of two containers
// takes about two microseconds and at most 20 allocations.
//
// Only nil is an error, which names the kind.
//
// Differs: amounts of 10^1000 and more, which the API server takes.
// Original: kube-scheduler counts the lowest 64 bits of them, which are often 0.
// Here: they become 10^999, which sums count as the largest int64.
// Why: a pod that asks for so much must count where it runs, and fit nowhere.
package convert
