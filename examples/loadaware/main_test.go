//go:build full

package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the expected output anew")

// TestOutput checks the program's output, which is the same on every run.
func TestOutput(t *testing.T) {
	var out bytes.Buffer
	if err := run(nil, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "output.txt")
	if *update {
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("output (-want +got)\n%s", diff)
	}
}

// TestArguments expects help if it is asked for, and no story with other arguments.
func TestArguments(t *testing.T) {
	tests := []struct {
		args []string
		help string
		want string
	}{
		{[]string{"-h"}, "takes no flags", flag.ErrHelp.Error()},
		{[]string{"-seed", "1"}, "", "flag provided but not defined: -seed"},
		{[]string{"fast"}, "", `unexpected argument "fast": it takes none`},
	}
	for _, test := range tests {
		var stdout, stderr bytes.Buffer
		err := run(test.args, &stdout, &stderr)
		if err == nil || err.Error() != test.want || errors.Is(err, flag.ErrHelp) != (test.help != "") {
			t.Errorf("run(%q) = %v, want %s", test.args, err, test.want)
		}
		if stdout.Len() > 0 || !strings.Contains(stderr.String(), test.help) || (test.help == "") != (stderr.Len() == 0) {
			t.Errorf("run(%q): it printed %q and %q", test.args, &stdout, &stderr)
		}
	}
}
