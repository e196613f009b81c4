//go:build full

package policy

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadme runs the program of the README, all its Go blocks in one file, and
// compares what it prints with what the README says that it prints.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	program := strings.Join(blocks(string(text), "go"), "\n")
	want := blocks(string(text), "text")
	if program == "" || len(want) != 1 {
		t.Fatalf("README.md has %d bytes of Go and %d blocks of output, want a program and its output", len(program), len(want))
	}
	if got := runProgram(t, program); got != want[0] {
		t.Errorf("the program of README.md prints\n%s\nand not, as it says,\n%s", got, want[0])
	}
}

// blocks returns the contents of the fenced blocks of a language.
func blocks(text, language string) []string {
	var list []string
	for {
		_, rest, ok := strings.Cut(text, "```"+language+"\n")
		if !ok {
			return list
		}
		block, rest, ok := strings.Cut(rest, "```\n")
		if !ok {
			return list
		}
		list, text = append(list, block), rest
	}
}

// runProgram runs a program as if it were a package of this module, and returns
// what it prints.
func runProgram(t *testing.T, program string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(module, "internal", "proof", "policy", "readme", "main.go") // on paper only
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{place: file}})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "-overlay", list, "./internal/proof/policy/readme")
	cmd.Dir = module
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the program of README.md: %v\n%s", err, complaints.String())
	}
	return string(out)
}

func TestBlocks(t *testing.T) {
	const text = "a\n```go\nx\n```\nb\n```text\ny\n```\n```go\nz\n```\n"
	if got := strings.Join(blocks(text, "go"), "|"); got != "x\n|z\n" {
		t.Errorf("blocks = %q, want both blocks of Go", got)
	}
}
