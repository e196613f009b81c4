package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Version is the release of Kubernetes that the programs are built from. It is the one
// of go.mod.
const Version = "v1.37.1"

// Program is a main package that runs as a child process. The tool directives of go.mod
// list all of them.
type Program string

// The programs of a control plane and its schedulers.
const (
	Etcd              Program = "go.etcd.io/etcd/server/v3"
	APIServer         Program = "k8s.io/kubernetes/cmd/kube-apiserver"
	ControllerManager Program = "k8s.io/kubernetes/cmd/kube-controller-manager"
	KubeScheduler     Program = "k8s.io/kubernetes/cmd/kube-scheduler"
	BerthScheduler    Program = "github.com/berth-sched/berth/scheduling/kube/cmd/berth-scheduler"
)

// programs are all programs, the cheapest to build first.
var programs = []Program{Etcd, BerthScheduler, KubeScheduler, APIServer, ControllerManager}

// Name is the command's name, such as kube-apiserver.
func (p Program) Name() string {
	if p == Etcd {
		return "etcd"
	}
	return string(p[strings.LastIndexByte(string(p), '/')+1:])
}

// built holds the paths that this process has asked for.
var built struct {
	sync.Mutex
	paths map[Program]string
}

// Build returns the path of the program, built if it is not in Go's build cache. An empty
// cache costs minutes for kube-apiserver; progress goes to log. The working directory has
// to lie in this module.
func Build(ctx context.Context, p Program, log io.Writer) (string, error) {
	built.Lock()
	defer built.Unlock()
	if path, ok := built.paths[p]; ok {
		return path, nil
	}
	begin := time.Now()
	said := time.AfterFunc(5*time.Second, func() {
		fmt.Fprintf(log, "building %s; with an empty build cache this takes minutes\n", p.Name())
	})
	defer said.Stop()
	// go tool keeps executables in the build cache, keyed by everything they are made of.
	cmd := exec.CommandContext(ctx, "go", "tool", "-n", string(p))
	cmd.Env = append(os.Environ(), "GOFLAGS="+buildFlags())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", p, err, strings.TrimSpace(stderr.String()))
	}
	path := strings.TrimSpace(string(out))
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("build %s: go tool -n: %w", p, err)
	}
	if d := time.Since(begin); d > 5*time.Second {
		fmt.Fprintf(log, "built %s in %.0f s\n", p.Name(), d.Seconds())
	}
	if built.paths == nil {
		built.paths = map[Program]string{}
	}
	built.paths[p] = path
	return path, nil
}

// BuildAll builds all programs that are not in Go's build cache.
func BuildAll(ctx context.Context, log io.Writer) error {
	for _, p := range programs {
		if _, err := Build(ctx, p, log); err != nil {
			return err
		}
	}
	return nil
}

// buildFlags are the flags of the environment, and those that write the release into the
// programs as the project's own build does.
func buildFlags() string {
	major, minor, _ := strings.Cut(strings.TrimPrefix(Version, "v"), ".")
	minor, _, _ = strings.Cut(minor, ".")
	const pkg = "k8s.io/component-base/version."
	return strings.TrimSpace(os.Getenv("GOFLAGS") + fmt.Sprintf(
		" '-ldflags=-s -w -X %sgitVersion=%s -X %sgitMajor=%s -X %sgitMinor=%s'",
		pkg, Version, pkg, major, pkg, minor))
}
