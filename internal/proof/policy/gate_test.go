package policy

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGateLeavesOut runs the gate where there is no browser and no package manager: its last
// line must name what it left out, and it must not pass if it has to be complete.
func TestGateLeavesOut(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err == nil {
		err = errors.Join(os.Mkdir(bin, 0o755), os.Mkdir(filepath.Join(dir, ".ci"), 0o755), os.WriteFile(filepath.Join(dir, ".ci", "run"), script, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bash", "go", "dirname", "mktemp", "rm", "id", "tr"} {
		file, err := exec.LookPath(name)
		if err != nil {
			t.Skip(err)
		}
		if err := os.Symlink(file, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		sections, setting string
		status            int
		end               string
	}{
		{"examples", "", 0, "=== all passed"}, // there are none
		{"examples browser", "", 0, "=== passed"},
		{"examples browser", "BERTH_COMPLETE=1", 3, "=== NOT PASSED"},
		{"browser", "", 3, "=== nothing ran"},
	} {
		cmd := exec.Command(bash, append([]string{filepath.Join(dir, ".ci", "run")}, strings.Fields(test.sections)...)...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + bin, "HOME=" + os.Getenv("HOME"), "GOROOT=" + os.Getenv("GOROOT"), "TMPDIR=" + dir, test.setting}
		out, _ := cmd.CombinedOutput() // the status says it
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		last := lines[len(lines)-1]
		if status := cmd.ProcessState.ExitCode(); status != test.status || !strings.HasPrefix(last, test.end) || strings.Contains(last, "LEFT OUT: browser") != strings.Contains(test.sections, "browser") {
			t.Errorf("%s with %q: status %d, want %d; it ends with %q, want %s:\n%s", test.sections, test.setting, status, test.status, last, test.end, out)
		}
	}
}
