//go:build !js

package main

import (
	"bytes"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/berth-sched/berth/examples/playground/internal/pack"
)

//go:embed static
var static embed.FS

func main() {
	switch err := run(os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "playground:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("playground", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", "", "write the page into this `directory` and do not serve it")
	port := flags.Int("port", 8321, "the `port` to serve on, of this machine alone; 0 takes a free one")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	fmt.Fprintln(stderr, "compiling the page ...")
	files, err := build()
	if err != nil {
		return err
	}
	if *out != "" {
		return write(*out, files, stdout)
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		return fmt.Errorf("-port: %w", err)
	}
	fmt.Fprintf(stdout, "http://%s/\n", listener.Addr())
	server := &http.Server{Handler: handler(files), ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(listener)
}

// wasmName is the compiled page. The script unpacks it, so that servers need not compress.
const wasmName = "berth.wasm.gz"

// build makes the files of the page.
func build() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(static, "static", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[path.Base(name)], err = static.ReadFile(name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	root, err := goCommand("", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if files["wasm_exec.js"], err = os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js")); err != nil {
		return nil, err
	}
	wasm, err := compile()
	if err != nil {
		return nil, err
	}
	files[wasmName] = pack.Gzip(wasm)
	return files, nil
}

// compile compiles this program for the browser, without net/http and TLS. Without
// inlining the page is a sixth smaller and, in a browser, about as fast.
func compile() ([]byte, error) {
	dir, err := os.MkdirTemp("", "playground")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "berth.wasm")
	_, err = goCommand("js", "build", "-trimpath", "-ldflags=-s -w", "-gcflags=all=-l", "-tags=noextenders,nochecks", "-o", file, "github.com/berth-sched/berth/examples/playground")
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// goCommand runs the go command for this machine, or for the system js.
func goCommand(system string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Env = os.Environ()
	if system != "" {
		cmd.Env = append(cmd.Env, "GOOS="+system, "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("the go command is not there, and compiles the page: install Go, or use a page that -out has written elsewhere")
	case err != nil:
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, stderr.String())
	}
	return out, nil
}

// write writes the files and lists them.
func write(dir string, files map[string][]byte, stdout io.Writer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(dir, name), files[name], 0o644); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%8d %s\n", len(files[name]), filepath.Join(dir, name))
	}
	return nil
}

// handler serves the files.
func handler(files map[string][]byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name == "" {
			name = "index.html"
		}
		data, ok := files[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if name == wasmName {
			w.Header().Set("Content-Type", "application/octet-stream")
		}
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
	})
}
