// Package guard tells a panic of a plugin from one of the engine.
package guard

import "errors"

// A Guard says whose code is running, so that a panic is blamed on the right side.
// The engine enters before it calls plugins and leaves afterwards. While a plugin
// calls back, for instance to list the feasible nodes, the engine has left.
//
// Neither call may be deferred: the code that recovers reads what the panic left behind.
//
// Invariant: a plugin's code runs only between Enter and Leave, and the engine's own
// code only outside.
type Guard struct{ inPlugin bool }

// Enter says that a plugin is called next.
func (g *Guard) Enter() { g.inPlugin = true }

// Leave says that the engine runs again.
func (g *Guard) Leave() { g.inPlugin = false }

// InPlugin reports whether a plugin is running.
func (g *Guard) InPlugin() bool { return g.inPlugin }

// Returned is Leave after a call that recovers panics by itself. If the engine was
// running in a callback when it panicked, the guard has left already: Returned panics,
// because the engine is to blame.
func (g *Guard) Returned() {
	if !g.inPlugin {
		panic(errors.New("a panic in a callback of the engine was recovered as the plugin's"))
	}
	g.inPlugin = false
}
