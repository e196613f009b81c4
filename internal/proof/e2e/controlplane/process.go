package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Process is a child process with its own process group. Its output goes to a file.
type Process struct {
	name   string
	cmd    *exec.Cmd
	output string
	ended  chan struct{}
}

// Launch describes a child process.
type Launch struct {
	Name   string // what messages call it
	Path   string
	Args   []string
	Env    []string // added to the environment of this process
	Output string   // file that standard output and standard error are appended to
}

// Run starts the child process.
func (l Launch) Run() (*Process, error) {
	out, err := os.OpenFile(l.Output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", l.Name, err)
	}
	defer out.Close()
	cmd := exec.Command(l.Path, l.Args...)
	cmd.Env = append(os.Environ(), l.Env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = childAttributes()
	if err := startFromLauncher(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", l.Name, err)
	}
	p := &Process{name: l.Name, cmd: cmd, output: l.Output, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // the state says how it ended
		close(p.ended)
	}()
	return p, nil
}

// Name is what messages call the process.
func (p *Process) Name() string { return p.name }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Kill ends the process group at once, as kill -9 does, and waits for it.
func (p *Process) Kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // an error means that it has ended
	<-p.ended
}

// Stop asks the process to end, and kills it if it has not within the time. The error
// says that it had to be killed, or how it ended if not with 0.
func (p *Process) Stop(within time.Duration) error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(within):
		p.Kill()
		return fmt.Errorf("%s did not end within %s of SIGTERM", p.name, within)
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("%s ended with %s", p.name, p.cmd.ProcessState)
	}
	return nil
}

// Pause stops the process where it is (SIGSTOP); Resume lets it go on.
func (p *Process) Pause() { _ = p.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets a paused process go on.
func (p *Process) Resume() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }

// Pid is the process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// ExitCode waits for the end and returns the exit code, or -1 after a signal.
func (p *Process) ExitCode(ctx context.Context) (int, error) {
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("%s still runs: %w", p.name, ctx.Err())
	}
}

// Usage is what a process took.
type Usage struct {
	CPU    time.Duration // user and system
	Memory int64         // highest resident set in bytes
}

// Usage returns what the process has taken until now, or until its end.
func (p *Process) Usage() (Usage, error) {
	select {
	case <-p.ended:
		state := p.cmd.ProcessState
		usage := Usage{CPU: state.UserTime() + state.SystemTime()}
		if r, ok := state.SysUsage().(*syscall.Rusage); ok {
			usage.Memory = maxResident(r)
		}
		return usage, nil
	default:
		return liveUsage(p.Pid())
	}
}

// Output returns what the process has written.
func (p *Process) Output() string {
	data, err := os.ReadFile(p.output)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// Tail returns the last lines of what the process has written.
func (p *Process) Tail(lines int) string {
	all := bytes.Split(bytes.TrimSpace([]byte(p.Output())), []byte("\n"))
	return string(bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
}

// waitFor asks ready until it says yes, the process ends or ctx does.
func (p *Process) waitFor(ctx context.Context, ready func(context.Context) error) error {
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended with %s:\n%s", p.name, p.cmd.ProcessState, p.Tail(15))
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w", p.name, errors.Join(err, errors.New(strings.TrimSpace(p.Tail(15)))))
		case <-time.After(50 * time.Millisecond):
		}
	}
}
