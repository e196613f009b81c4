//go:build unix && !linux

package controlplane

import (
	"errors"
	"os/exec"
	"syscall"
)

// childAttributes give a child its own process group.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func startFromLauncher(cmd *exec.Cmd) error { return cmd.Start() }

// maxResident is the highest resident set in bytes.
func maxResident(r *syscall.Rusage) int64 { return int64(r.Maxrss) }

// liveUsage is for Linux only; elsewhere, usage is known when a process has ended.
func liveUsage(int) (Usage, error) {
	return Usage{}, errors.New("the usage of a running process is read on Linux only")
}
