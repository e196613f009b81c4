//go:build full

package effort

const full = true
