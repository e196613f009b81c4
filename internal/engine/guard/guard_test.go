package guard

import "testing"

// TestReturned: a call whose callback panicked is the engine's fault, although the call
// recovers.
func TestReturned(t *testing.T) {
	var g Guard
	call := func(callback func()) (blamed any) {
		defer func() { blamed = recover() }()
		g.Enter()
		func() {
			defer func() { _ = recover() }()
			g.Leave()
			callback()
			g.Enter()
			panic("the plugin's own")
		}()
		g.Returned()
		return nil
	}
	if blamed := call(func() {}); blamed != nil {
		t.Errorf("a plugin that panics: the engine is blamed: %v", blamed)
	}
	if blamed := call(func() { panic("boom") }); blamed == nil {
		t.Error("a callback that panics: the plugin is blamed")
	}
	if g.InPlugin() {
		t.Error("InPlugin() after the call")
	}
}
