package controlplane

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// childAttributes give a child its own process group, and end it with this process,
// however that ends.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// launcher is a goroutine with a thread of its own. The kernel kills children when the
// thread that started them ends, so that thread has to live as long as the process.
var launcher = sync.OnceValue(func() chan func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// startFromLauncher starts the command from the launcher's thread.
func startFromLauncher(cmd *exec.Cmd) error {
	err := make(chan error)
	launcher() <- func() { err <- cmd.Start() }
	return <-err
}

// maxResident is the highest resident set in bytes.
func maxResident(r *syscall.Rusage) int64 { return int64(r.Maxrss) * 1024 }

// ticksPerSecond is USER_HZ, which is 100 on every architecture that Go runs on.
const ticksPerSecond = 100

// liveUsage reads what a running process has taken.
func liveUsage(pid int) (Usage, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Usage{}, err
	}
	// The second field, the name, stands in parentheses and may hold spaces.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return Usage{}, fmt.Errorf("/proc/%d/stat: %d fields after the name, want 13 or more", pid, len(fields))
	}
	var usage Usage
	for _, field := range fields[11:13] {
		ticks, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return Usage{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
		}
		usage.CPU += time.Duration(ticks) * time.Second / ticksPerSecond
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Usage{}, err
	}
	for line := range bytes.Lines(status) {
		if f := bytes.Fields(line); len(f) >= 2 && string(f[0]) == "VmHWM:" {
			kib, err := strconv.ParseInt(string(f[1]), 10, 64)
			if err != nil {
				return Usage{}, fmt.Errorf("/proc/%d/status: %w", pid, err)
			}
			usage.Memory = kib * 1024
		}
	}
	return usage, nil
}
