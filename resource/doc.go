// Package resource holds the numbers behind scheduling: resource names, exact
// quantities in Kubernetes' notation, resource lists, and dense vectors. Lists
// become vectors before anything is compared.
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
// A [Quantity] accepts every text that Kubernetes accepts as a quantity and prints
// Kubernetes' canonical text. Its value is exact to the nano-unit, whatever you add
// or subtract. Only [Quantity.Value] and [Quantity.MilliValue] round; they round
// away from zero and saturate at the ends of int64. A [List] is the resource list
// of the Kubernetes API. A [Schema] numbers resource names, and a [Vector] is a
// List in the units of kube-scheduler, one int64 for each number.
//
// # What it leaves to you
//
// The package does not judge whether a quantity makes sense in its context: a
// negative memory request parses. It knows no pods and no nodes; package framework
// turns the requests of containers into the request of a pod.
//
// # Determinism and concurrency
//
// No result depends on a clock, a file or a random source. The numbering of a
// Schema depends only on the order in which names are added, and [Schema.Vector]
// adds the names of one list in sorted order. A Quantity is immutable and may be
// copied and shared freely. A Schema is safe for concurrent use. A List is a map
// and a Vector is a slice, with the usual rules for both.
//
// # Bounded work
//
// Parse refuses a text beyond a fixed length unread, and no exponent makes it take
// more than some microseconds and kilobytes. Texts may therefore come from
// anywhere.
//
// # Source
//
// Kubernetes 1.37: k8s.io/apimachinery pkg/api/resource for quantities,
// pkg/api/validate/content for names, and the kube-scheduler's resource accounting
// for units and for the names that count. The deviations are listed under
// "Differs:" at [Parse], [Quantity.String], [Quantity.Value] and [Quantity.Add].
package resource
