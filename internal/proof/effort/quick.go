//go:build !full

package effort

const full = false
