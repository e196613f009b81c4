// Package podgroups replays recorded cases of kube-scheduler's pod group cycle through
// package gang, and compares every placement, score, text, condition and victim.
package podgroups
