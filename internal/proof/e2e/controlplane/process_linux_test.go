package controlplane

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asParent is the argument that makes this binary start a child and wait.
const asParent = "be-a-parent"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == asParent {
		p, err := Launch{Name: "child", Path: "/bin/sh", Args: []string{"-c", "sleep 600 & sleep 600"}, Output: os.Args[2]}.Run()
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(p.Pid())
		<-p.Ended()
		return
	}
	os.Exit(m.Run())
}

// TestNoOrphan kills a parent with SIGKILL, so that it cannot do anything, and expects its
// child to end.
func TestNoOrphan(t *testing.T) {
	parent := exec.Command(os.Args[0], asParent, filepath.Join(t.TempDir(), "output"))
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(-child, syscall.SIGKILL) // the grandchild, which is the shell's
	if err := syscall.Kill(child, 0); err != nil {
		t.Fatalf("the child does not run: %v", err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	for end := time.Now().Add(patience); alive(child); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the child runs %v after its parent was killed", patience)
		}
	}
}

// alive reports whether a process runs. One that nobody has waited for does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) {
		return false
	}
	return !strings.Contains(string(stat), ") Z ")
}

func TestProcess(t *testing.T) {
	output := filepath.Join(t.TempDir(), "output")
	run := func(script string) *Process {
		t.Helper()
		p, err := Launch{Name: "child", Path: "/bin/sh", Args: []string{"-c", script}, Output: output}.Run()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		return p
	}
	p := run("echo one; echo two; exit 7")
	if code, err := p.ExitCode(t.Context()); code != 7 || err != nil {
		t.Errorf("ExitCode() = %d, %v, want 7", code, err)
	}
	if got := p.Tail(1); got != "two" {
		t.Errorf("Tail(1) = %q, want two", got)
	}
	if err := run("trap 'exit 0' TERM; echo on; while :; do sleep 0.05; done").stopAfter(output, "on", patience); err != nil {
		t.Errorf("Stop() of one that ends: %v", err)
	}
	err := run("trap '' TERM; echo deaf; while :; do sleep 0.05; done").stopAfter(output, "deaf", 300*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "did not end within") {
		t.Errorf("Stop() of one that does not end: %v", err)
	}
	busy := run("while :; do :; done")
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		usage, err := busy.Usage()
		if err != nil {
			t.Fatal(err)
		}
		if usage.CPU >= 50*time.Millisecond && usage.Memory > 100<<10 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("Usage() = %+v of a busy process", usage)
		}
	}
	busy.Kill()
	if usage, err := busy.Usage(); err != nil || usage.CPU < 50*time.Millisecond {
		t.Errorf("Usage() = %+v, %v after the end", usage, err)
	}
}

// patience is how long a test waits for what must happen: far longer than it takes on a
// slow machine that has much else to do.
const patience = 3 * time.Minute

// stopAfter stops a process that has written a line.
func (p *Process) stopAfter(output, line string, grace time.Duration) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if data, _ := os.ReadFile(output); strings.Contains(string(data), line+"\n") {
			break
		}
	}
	return p.Stop(grace)
}
