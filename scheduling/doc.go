// Package scheduling is the door of berth: a profile of plugins, one decision
// at a time, and the reasons for it.
package scheduling
