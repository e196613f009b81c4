//go:build js && wasm

package main

import (
	"runtime/debug"
	"syscall/js"

	"github.com/berth-sched/berth/examples/playground/internal/page"
)

// main offers the page to the script and waits for its calls.
func main() {
	debug.SetGCPercent(400) // a collection stops the page, and memory is there
	p := page.New()
	js.Global().Set("berthCall", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(p.Call([]byte(args[0].String())))
	}))
	js.Global().Call("berthReady")
	select {}
}
