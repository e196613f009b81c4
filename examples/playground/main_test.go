//go:build full

package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// maxPacked bounds the compressed page.
const maxPacked = 3_400_000 // bytes

// TestOut writes the page, and looks at what a server would send.
func TestOut(t *testing.T) {
	if testing.Short() {
		t.Skip("packs 12 MB, which takes minutes under the race detector; it has one goroutine")
	}
	dir := t.TempDir()
	var stdout, stderr strings.Builder
	if err := run([]string{"-out", dir}, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, name := range []string{"index.html", "page.js", "worker.js", "style.css", "wasm_exec.js", wasmName} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		files[name] = data
		if !strings.Contains(stdout.String(), name) {
			t.Errorf("the output does not list %s", name)
		}
	}
	if n := len(files[wasmName]); n > maxPacked {
		t.Errorf("%s has %d bytes, more than %d: find what it links with: GOOS=js GOARCH=wasm go list -deps -tags noextenders ./examples/playground", wasmName, n, maxPacked)
	} else {
		t.Logf("%s has %d bytes", wasmName, n)
	}
	z, err := gzip.NewReader(bytes.NewReader(files[wasmName]))
	if err != nil {
		t.Fatal(err)
	}
	wasm, err := io.ReadAll(z)
	if err != nil || !bytes.HasPrefix(wasm, []byte("\x00asm")) {
		t.Errorf("%s holds no WebAssembly: %v", wasmName, err)
	}
	h := handler(files)
	for path, want := range map[string]string{"/": "text/html", "/page.js": "text/javascript", "/worker.js": "text/javascript", "/style.css": "text/css", "/" + wasmName: "application/octet-stream", "/nothing": "", "/../main.go": ""} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
		if want == "" && w.Code != http.StatusNotFound || want != "" && (w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), want)) {
			t.Errorf("GET %s: %d %s, want %s", path, w.Code, w.Header().Get("Content-Type"), want)
		}
	}
	if strings.Contains(string(files["index.html"])+string(files["page.js"])+string(files["worker.js"])+string(files["style.css"]), "https://") {
		t.Error("the page names an address outside itself")
	}
}

// TestLinked checks that the page links no network, no TLS, and nothing that browsers have.
func TestLinked(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-tags=noextenders", ".")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Fields(string(out))
	for _, name := range list {
		if name == "net" || strings.HasPrefix(name, "net/") || strings.HasPrefix(name, "compress/") || strings.HasPrefix(name, "crypto/") || strings.HasSuffix(name, "/scheduling/extender") {
			t.Errorf("the page links %s", name)
		}
	}
	if len(list) < 50 {
		t.Errorf("only %d packages are linked: is this the page?", len(list))
	}
}

// TestUsage checks flags that are wrong.
func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-nonsense"}, {"extra"}, {"-port", "x"}} {
		var stdout, stderr strings.Builder
		if err := run(args, &stdout, &stderr); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}
