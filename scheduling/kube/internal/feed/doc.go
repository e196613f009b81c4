// Package feed turns what the API server lists and watches into events of package
// lifecycle.
//
// A kind is applied in the order of keys, so the same cluster always gives the same order
// of nodes. A version that is known, or older, does nothing; a new UID under an old name is
// another object; objects that no longer count, such as ended pods, are deleted. Fields that
// scheduling does not read are not kept.
//
// What was written is taken in at once; see [Objects.Written].
package feed
