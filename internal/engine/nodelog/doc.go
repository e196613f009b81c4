// Package nodelog says which nodes of a snapshot changed, and when.
//
//	Order    places of the node order, and the slots that they stand for
//	Tracker  follows one snapshot after the other: when did each node change last?
//
// Its values must be used by one goroutine at a time.
package nodelog
