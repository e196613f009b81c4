package main

import (
	"os"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/frameworktest"
)

// The README shows this program.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(program), "package main\n")
	if !strings.Contains(string(readme), "```go\npackage main\n"+shown+"```") {
		t.Error("README.md shows another program than main.go")
	}
}

func TestQuiet(t *testing.T) {
	frameworktest.Run(t, Quiet{}, frameworktest.Config{Clusters: 2, Quick: true})
}
