// Package browser tests the page of examples/playground in a real browser: Chromium without
// a window, driven over its own protocol. It is a nested module, because the library needs
// no browser driver.
//
//	go test ./... -args -shots DIR    # also writes pictures of the page into DIR
//
// BERTH_CHROMIUM names the browser; without it the usual names are looked for. If there is
// none, the tests fail and say how to install it.
package browser
