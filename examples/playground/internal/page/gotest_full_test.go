//go:build full

package page

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGoTestRuns runs the Go tests of pages, which must pass, and one of them with another
// node, which must fail. They are compiled in a module of their own, as a user does.
func TestGoTestRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and runs another program")
	}
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	const module = "module github.com/berth-sched/berth\n"
	text := strings.Replace(string(mod), module, "module example.test/playground\n\nreplace github.com/berth-sched/berth => "+root+"\n\nrequire github.com/berth-sched/berth v0.0.0\n", 1)
	if text == string(mod) {
		t.Fatal("go.mod does not begin as expected")
	}
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", text)
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write("go.sum", string(sum))
	for _, sample := range []string{"shop", "ties", "load"} {
		write(sample+"/playground_test.go", do(t, story(t, sample), Request{Do: "test"}).Text)
	}
	done := opened(t, "shop")
	do(t, done, Request{Do: "place", N: 100}) // nothing is left to decide
	write("done/playground_test.go", do(t, done, Request{Do: "test"}).Text)
	for _, preset := range []string{"1.18", "1.34"} {
		p := opened(t, "shop")
		do(t, p, Request{Do: "preset", Name: preset})
		do(t, p, Request{Do: "pod", Name: "shop/search-1"})
		write("preset"+preset+"/playground_test.go", do(t, p, Request{Do: "test"}).Text)
	}
	run := func(pattern string) (string, error) {
		cmd := exec.Command("go", "test", "-mod=mod", pattern)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("./..."); err != nil {
		t.Errorf("the tests of the page fail: %v\n%s", err, out)
	}
	wrong := strings.Replace(do(t, opened(t, "shop"), Request{Do: "test"}).Text, `c.next("shop/web-0", "b-2"`, `c.next("shop/web-0", "a-1"`, 1)
	write("wrong/playground_test.go", wrong)
	if out, err := run("./wrong"); err == nil || !strings.Contains(out, "shop/web-0 goes to b-2") {
		t.Errorf("a test that names another node passes: %v\n%s", err, out)
	}
}
