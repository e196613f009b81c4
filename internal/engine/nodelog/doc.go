// Package nodelog says which nodes of a snapshot changed, and when.
//
//	Order    places of the node order, and the slots that they stand for
//	Tracker  follows one snapshot: when did each node change last?
//	Recent   the trackers of the snapshots used last
//
// Its values must be used by one goroutine at a time.
package nodelog
