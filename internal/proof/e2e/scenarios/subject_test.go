package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/kube"

	"github.com/berth-sched/berth/internal/proof/e2e/controlplane"
)

// The subject is a scheduler made with package kube that can be looked into: it serves
// its snapshot, and at its end it counts its goroutines. It is this test binary, started
// again with an argument that no test has.

// asSubject is the argument that makes this binary a subject. Others follow: a
// configuration file, and a file for the address that it serves.
const asSubject = "be-the-subject"

// leaked is the exit code of a subject that ended in order and left goroutines.
const leaked = 3

// subject is a subject's process, seen from a scenario.
type subject struct {
	*controlplane.Process
	s    *scenario
	base string // of its addresses
}

// startSubject starts a subject and waits until it serves.
func (s *scenario) startSubject(configure ...func(*controlplane.Scheduler)) *subject {
	s.Helper()
	c := controlplane.Scheduler{User: controlplane.Berth, URL: cluster.URL()}
	for _, f := range configure {
		f(&c)
	}
	kubeconfig, err := cluster.Kubeconfig(c.User, c.URL)
	s.ok(err)
	file, err := cluster.WriteFile("config.yaml", []byte(c.Configuration(kubeconfig)))
	s.ok(err)
	address, err := cluster.WriteFile("address", nil)
	s.ok(err)
	self, err := os.Executable()
	s.ok(err)
	process, err := cluster.RunPath(controlplane.Launch{Name: "subject", Path: self, Args: []string{asSubject, file, address}})
	s.ok(err)
	s.Cleanup(func() { s.end(process) })
	sub := &subject{Process: process, s: s}
	s.eventually("the subject serves", func() bool {
		data, err := os.ReadFile(address)
		sub.base = strings.TrimSpace(string(data))
		return err == nil && sub.base != ""
	})
	return sub
}

// ask gets JSON from the subject.
func (p *subject) ask(path string, into any) error {
	request, err := http.NewRequestWithContext(p.s.ctx, http.MethodGet, p.base+path, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", path, answer.Status, data)
	}
	return json.Unmarshal(data, into)
}

// snapshot is the node of every pod in the subject's snapshot, by node.
func (p *subject) snapshot() (map[string][]string, error) {
	var nodes map[string][]string
	return nodes, p.ask("/snapshot", &nodes)
}

// runSubject is what a subject does. It returns the exit code.
func runSubject(args []string) int {
	flags := flag.NewFlagSet(asSubject, flag.ExitOnError)
	_ = flags.Parse(args)
	if flags.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "want a configuration file and a file for the address")
		return 2
	}
	if err := serveSubject(flags.Arg(0), flags.Arg(1)); err != nil {
		fmt.Fprintln(os.Stderr, "subject:", err)
		return 1
	}
	return countGoroutines()
}

func serveSubject(file, address string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	scheduler, err := newSubject(file)
	if err != nil {
		return err
	}
	verbs := &counter{counts: map[string]int{}}
	mux := http.NewServeMux()
	mux.Handle("/", scheduler.Handler())
	mux.HandleFunc("GET /snapshot", func(w http.ResponseWriter, r *http.Request) { serveSnapshot(w, r, scheduler) })
	mux.HandleFunc("GET /verbs", func(w http.ResponseWriter, _ *http.Request) { answer(w, verbs.all()) })
	if handler, err := scheduler.Extender(answering); err == nil {
		mux.Handle("/extender/", verbs.count(http.StripPrefix("/extender", handler)))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: mux}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	defer serving.Wait()
	defer server.Close()
	if err := os.WriteFile(address, []byte("http://"+listener.Addr().String()), 0o600); err != nil {
		return err
	}
	if err := scheduler.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// newSubject makes the scheduler of a configuration file.
func newSubject(file string) (*kube.Scheduler, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c, err := config.Load(data, config.LoadConfig{})
	if err != nil {
		return nil, err
	}
	rest, err := clientcmd.BuildConfigFromFlags("", c.ClientConnection.Kubeconfig)
	if err != nil {
		return nil, err
	}
	rest.QPS, rest.Burst = float32(c.ClientConnection.QPS), int(c.ClientConnection.Burst)
	rest.ContentType = c.ClientConnection.ContentType
	client, err := kubernetes.NewForConfig(rest)
	if err != nil {
		return nil, err
	}
	return kube.New(kube.Config{
		Client: client, Configuration: c, Identity: fmt.Sprintf("subject-%d", os.Getpid()),
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

// serveSnapshot answers with the pods of every node, and checks the snapshot.
func serveSnapshot(w http.ResponseWriter, r *http.Request, scheduler *kube.Scheduler) {
	nodes := map[string][]string{}
	var broken error
	err := scheduler.Do(r.Context(), func(snapshot *framework.Snapshot) {
		broken = snapshot.Check()
		for _, node := range snapshot.All() {
			pods := make([]string, 0, len(node.Pods))
			for _, p := range node.Pods {
				pods = append(pods, p.Pod.Name)
			}
			slices.Sort(pods)
			nodes[node.Name()] = pods
		}
	})
	if err := errors.Join(err, broken); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer(w, nodes)
}

func answer(w http.ResponseWriter, value any) {
	if err := json.NewEncoder(w).Encode(value); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// counter counts requests by their last element.
type counter struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *counter) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.counts[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]]++
		c.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

func (c *counter) all() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]int{}
	for verb, n := range c.counts {
		all[verb] = n
	}
	return all
}

// countGoroutines waits until only the main goroutine and those of the runtime are left.
// Connections that nobody uses any more do not count: they are the client's, not the
// scheduler's.
func countGoroutines() int {
	var left []string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		stacks := make([]byte, 1<<22)
		stacks = stacks[:runtime.Stack(stacks, true)]
		left = nil
		for _, stack := range strings.Split(strings.TrimSpace(string(stacks)), "\n\n")[1:] {
			if !strings.Contains(stack, "os/signal.") && !strings.Contains(stack, "net/http") &&
				!strings.Contains(stack, "golang.org/x/net/http2") && !strings.Contains(stack, "klog") {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			return 0
		}
	}
	fmt.Fprintf(os.Stderr, "%d goroutines are left:\n%s\n", len(left), strings.Join(left, "\n\n"))
	return leaked
}
