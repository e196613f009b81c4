// Package expr evaluates the conditions that classes and claims put on devices: a part of
// the Common Expression Language (CEL), in the standard library.
//
// # What it takes
//
//	device           device.driver, .allowMultipleAllocations, .attributes[d].x, .capacity[d].x
//	operators        == != < <= > >= in && || ! ?: + - * / %, [i], .x, [?k], .?x
//	literals         integers, floating-point numbers, strings (also raw), booleans, lists
//	macros           has, all, exists, exists_one, cel.bind
//	strings          startsWith, endsWith, contains, matches, find, size, lowerAscii, upperAscii,
//	                 trim, indexOf, replace, split, substring
//	quantities       quantity, isQuantity, sign, isLessThan, isGreaterThan, compareTo, add, sub,
//	                 isInteger, asInteger
//	versions         semver, isSemver, isLessThan, isGreaterThan, compareTo, major, minor, patch
//	optional values  hasValue, orValue, value
//	conversions      int, string, dyn
//
// What it takes it answers exactly as kube-scheduler's compiler does, with the same class
// of error. Everything else is a [*RefusedError] that names the part of the language: it
// is never guessed. A few things show only when a device is there, such as a value of an
// unusual type; these are refused then.
//
// # Limits
//
// kube-scheduler stops an evaluation at a cost of 1,000,000. The cost here is not counted
// in the same way: an evaluation is refused long before it can reach that limit. An
// expression is refused if it is longer than 10 KiB, nests too deep, or has patterns of
// more than 4,096 parts, where x{1000} has a thousand. A pattern counts once, however often
// it is there. A table of Unicode, such as \pL, counts at least 512 parts.
//
// # Concurrency and determinism
//
// A [Program] and a [Device] never change, so any number of goroutines may use them. Maps
// are visited in the order of their keys.
//
// Source: k8s.io/dynamic-resource-allocation/cel 0.37 and github.com/google/cel-go 0.29.
package expr
