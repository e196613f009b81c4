// Package resource holds the numbers that scheduling is about: resource names,
// exact quantities in Kubernetes' notation, resource lists, and the dense
// vectors into which lists are turned before anything is compared.
//
//	schema := resource.NewSchema()
//	var requests resource.List
//	err := json.Unmarshal([]byte(`{"cpu":"100m","memory":"500Mi"}`), &requests)
//	...
//	v := schema.Vector(requests)
//	v.At(resource.IndexCPU)    // 100 (thousandths of a CPU)
//	v.At(resource.IndexMemory) // 524288000 (bytes)
//
// # What it does
//
// A [Quantity] accepts every text that Kubernetes accepts as a quantity and
// prints Kubernetes' canonical text. Its value is exact to the nano-unit,
// whatever is added to it or taken from it; only [Quantity.Value] and
// [Quantity.MilliValue] round, and they round away from zero and stop at the
// ends of int64. A [List] is the resource list of the Kubernetes API. A
// [Schema] numbers resource names, and a [Vector] is a List in the units of
// kube-scheduler, one int64 for each number.
//
// # What it leaves to you
//
// It does not judge whether a quantity makes sense where it stands: a negative
// memory request parses. It knows no pods and no nodes; how the requests of
// containers become the request of a pod is the framework's business.
//
// # Determinism and concurrency
//
// Nothing here reads a clock, a file or a random source that could be seen in
// a result. The numbering of a Schema depends on nothing but the order in which
// names were added, and [Schema.Vector] adds the names of one list in sorted
// order. A Quantity is immutable and may be copied and shared freely. A Schema
// is safe for concurrent use. A List and a Vector are a map and a slice, with
// the rules that these have.
//
// # Bounded work
//
// A text beyond a fixed length is refused unread, and no exponent makes parsing
// take more than some microseconds and kilobytes. Texts may therefore come from
// anywhere.
//
// # Source
//
// Kubernetes 1.37: k8s.io/apimachinery pkg/api/resource for quantities,
// pkg/api/validate/content for names, and the kube-scheduler's resource
// accounting for units and for which names count. The deviations are listed
// under "Differs:" at [Parse], [Quantity.String], [Quantity.Value] and
// [Quantity.Add].
package resource
