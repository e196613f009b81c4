package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/berth-sched/berth/scheduling/config"
)

// file writes a file and returns its name.
func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// port is the port of a listener.
func port(l net.Listener) string { return strconv.Itoa(l.Addr().(*net.TCPAddr).Port) }

// free returns a port that nobody listens at. It is below those that systems give away, so
// that no other process is given it before it is used.
func free(t *testing.T) string {
	t.Helper()
	for range 100 {
		if l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 11000+rand.IntN(20000))); err == nil {
			defer l.Close()
			return port(l)
		}
	}
	t.Fatal("none of 100 ports is free")
	return ""
}

const header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

// What is wrong with flags and files is a message, and run fails before it has done
// anything.
func TestErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	kubeconfig := file(t, "apiVersion: v1\nkind: Config\n")
	inFile := file(t, header+"clientConnection: {kubeconfig: /no/such/file}\n")
	for _, test := range []struct {
		name      string
		arguments []string
		want      []string
	}{
		{"flag", []string{"--no-such-flag"}, []string{"flag provided but not defined: -no-such-flag"}},
		{"argument", []string{"now"}, []string{`unexpected argument "now"`}},
		{"no file", []string{"--config", "/no/such/file"}, []string{"--config: open /no/such/file: no such file"}},
		{"errors", []string{"--config", file(t, header+"parallelism: -1\npercentageOfNodesToScore: 101\n")}, []string{"parallelism", "percentageOfNodesToScore"}},
		{"plugin", []string{"--master", "http://127.0.0.1:1", "--config", file(t, header+"profiles: [{plugins: {filter: {enabled: [{name: Nobody}]}}}]\n")}, []string{"Nobody"}},
		{"no kubeconfig", []string{"--kubeconfig", "/no/such/file"}, []string{"--kubeconfig /no/such/file: stat /no/such/file: no such file"}},
		{"empty kubeconfig", []string{"--kubeconfig", kubeconfig}, []string{"--kubeconfig " + kubeconfig + ": invalid configuration"}},
		{"no cluster", nil, []string{"neither --kubeconfig nor --master is given"}},
		{"port taken", []string{"--master", "http://127.0.0.1:1", "--bind-address", "127.0.0.1", "--secure-port", port(taken)}, []string{"--bind-address, --secure-port: listen", "address already in use"}},
		{"port", []string{"--secure-port", "65536"}, []string{"--secure-port: 65536: must be between 0 and 65535, inclusive"}},
		{"address", []string{"--bind-address", "nowhere"}, []string{`--bind-address: "nowhere": must be an IP address`}},
		{"certificate without key", []string{"--tls-cert-file", "a"}, []string{"--tls-cert-file needs --tls-private-key-file"}},
		{"key without certificate", []string{"--tls-private-key-file", "a"}, []string{"--tls-private-key-file needs --tls-cert-file"}},
		{"no certificate", []string{"--master", "http://127.0.0.1:1", "--secure-port", "1", "--tls-cert-file", "/no/such", "--tls-private-key-file", "/no/such"}, []string{"--tls-cert-file, --tls-private-key-file: stat /no/such"}},
		{"bad certificate", []string{"--master", "http://127.0.0.1:1", "--secure-port", "1", "--tls-cert-file", kubeconfig, "--tls-private-key-file", kubeconfig}, []string{"--tls-cert-file, --tls-private-key-file: " + kubeconfig, "PEM"}},
		{"NaN", []string{"--kube-api-qps", "NaN"}, []string{"--kube-api-qps: NaN: must be a finite number"}},
		{"infinite", []string{"--kube-api-qps", "-Inf"}, []string{"--kube-api-qps: -Inf: must be a finite number"}},
		{"too large", []string{"--kube-api-qps", "1e39"}, []string{"--kube-api-qps: +Inf: must be a finite number"}},
		{"negative burst", []string{"--kube-api-burst", "-1"}, []string{"--kube-api-burst: -1: must be between 0 and 2147483647, inclusive"}},
		{"large burst", []string{"--kube-api-burst", "2147483648"}, []string{"--kube-api-burst: 2147483648: must be between 0 and"}},
		{"infinite in the file", []string{"--config", file(t, header+"clientConnection: {qps: .inf}\n")}, []string{"a number that JSON does not have"}},
		{"kubeconfig in the file", []string{"--config", inFile}, []string{"--config " + inFile + ": clientConnection.kubeconfig /no/such/file: stat /no/such/file"}},
		{"kubeconfig of the flag wins", []string{"--config", inFile, "--kubeconfig", "/no/other"}, []string{"--kubeconfig /no/other: stat /no/other"}},
		{"master", []string{"--master", "http://[::1"}, []string{`host must be a URL or a host:port pair: "http://[::1"`}},
		{"election", []string{"--master", "http://127.0.0.1:1", "--leader-elect-renew-deadline", "1m"}, []string{"LeaderElection.LeaseDuration: 15s: must be longer than RenewDeadline, 1m0s"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
			defer cancel()
			var out bytes.Buffer
			err := run(ctx, test.arguments, &out)
			if err == nil || ctx.Err() != nil {
				t.Fatalf("run: %v (%v)", err, ctx.Err())
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the message does not say %q:\n%v", want, err)
				}
			}
		})
	}
	var out bytes.Buffer
	if err := run(context.Background(), []string{"-h"}, &out); err != nil || !strings.Contains(out.String(), "-kubeconfig") {
		t.Errorf("-h: %v, %s", err, &out)
	}
}

// An API server that does not answer is no error: the command says so, serves its health,
// tries again, and ends when it is told to.
func TestServerThatFails(t *testing.T) {
	asked := make(chan struct{}, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		select {
		case asked <- struct{}{}:
		default:
		}
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	at := free(t)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	var out lockedBuffer
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"--master", server.URL, "--bind-address", "127.0.0.1", "--secure-port", at, "-v", "1"}, &out)
	}()
	<-asked
	for path, want := range map[string]int{"/livez": http.StatusOK, "/readyz": http.StatusServiceUnavailable, "/metrics": http.StatusOK} {
		r, err := client.Get("https://127.0.0.1:" + at + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s: %s, want %d", path, r.Status, want)
		}
	}
	for end := time.Now().Add(3 * time.Minute); !strings.Contains(out.String(), "the API server does not answer; trying again") && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("run: %v", err)
	}
	for _, want := range []string{"the API server does not answer; trying again", "msg=stopped"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, out.String())
		}
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Flags that are given win over the file; the file wins over the flags' defaults.
func TestSettings(t *testing.T) {
	name := file(t, header+"clientConnection: {qps: 7, burst: 9}\nleaderElection: {leaderElect: true, resourceName: mine, leaseDuration: 30s}\n")
	endless := filepath.Join(t.TempDir(), "endless.yaml")
	if err := os.WriteFile(endless, bytes.Repeat([]byte("#"), 8<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := readConfig(endless); err != nil || len(data) != config.DefaultMaxBytes+1 {
		t.Errorf("%d bytes of a large configuration are read, %v; want %d", len(data), err, config.DefaultMaxBytes+1)
	}
	settings := func(arguments ...string) (*options, *config.Configuration) {
		o, err := parse(arguments, os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		c, err := o.settings()
		if err != nil {
			t.Fatal(err)
		}
		return o, c
	}
	o, c := settings("--config", name)
	if l := o.election(c); l == nil || l.Name != "mine" || l.Namespace != "kube-system" || l.LeaseDuration != 30*time.Second || c.ClientConnection.QPS != 7 {
		t.Errorf("the file: %+v, %+v", l, c.ClientConnection)
	}
	o, c = settings("--config", name, "--kube-api-qps", "100", "--kube-api-burst", "200", "--leader-elect-resource-name", "other")
	if l := o.election(c); l == nil || l.Name != "other" || c.ClientConnection.QPS != 100 || c.ClientConnection.Burst != 200 {
		t.Errorf("file and flags: %+v, %+v", l, c.ClientConnection)
	}
	o, c = settings("--config", name, "--leader-elect=false")
	if l := o.election(c); l != nil {
		t.Errorf("--leader-elect=false: %+v", l)
	}
	o, c = settings()
	if l := o.election(c); l == nil || l.Name != "berth-scheduler" || c.ClientConnection.QPS != 50 {
		t.Errorf("no flags: %+v, %+v", l, c.ClientConnection)
	}
	_, c = settings("--kube-api-qps", "0", "--kube-api-burst", "0")
	if c.ClientConnection.QPS != 50 || c.ClientConnection.Burst != 100 {
		t.Errorf("limits of 0: %+v", c.ClientConnection)
	}
	_, c = settings("--kube-api-qps", "-1")
	if c.ClientConnection.QPS != -1 { // client-go limits nothing then
		t.Errorf("no limit: %+v", c.ClientConnection)
	}
	if one, two := (&options{name: "me"}).identity(), (&options{name: "me"}).identity(); one == two || !strings.HasPrefix(one, "me_") {
		t.Errorf("two processes are %s and %s", one, two)
	}
	_, c = settings()
	r, err := (&options{master: "http://127.0.0.1:1"}).connect(c)
	if err != nil || !r.DisableCompression || r.ContentType != "application/vnd.kubernetes.protobuf" || r.Burst != 100 || r.UserAgent != "berth-scheduler" {
		t.Errorf("connection %+v, %v", r, err)
	}
}

// The configuration in the manifests is one that the command reads, and its lease is the
// one that the manifests give rights for.
func TestManifests(t *testing.T) {
	data, err := os.ReadFile("../../manifests/berth-scheduler.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, document := range strings.Split(string(data), "\n---\n") {
		var o struct {
			Kind string
			Data map[string]string
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct{ Args []string }
					}
				}
			}
			Rules []struct{ ResourceNames []string }
		}
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			t.Fatal(err)
		}
		found[o.Kind] = true
		switch o.Kind {
		case "ConfigMap":
			c, err := config.Load([]byte(o.Data["config.yaml"]), config.LoadConfig{})
			if err != nil {
				t.Fatal(err)
			}
			if c.LeaderElection.ResourceName != "berth-scheduler" || c.Profiles[0].SchedulerName != "berth-scheduler" {
				t.Errorf("configuration %+v", c)
			}
		case "Deployment":
			if _, err := parse(o.Spec.Template.Spec.Containers[0].Args, os.Stderr); err != nil {
				t.Error(err)
			}
		case "Role":
			if got := o.Rules[1].ResourceNames; len(got) != 1 || got[0] != "berth-scheduler" {
				t.Errorf("rights for the leases %v", got)
			}
		}
	}
	for _, kind := range []string{"ServiceAccount", "ClusterRoleBinding", "Role", "RoleBinding", "ConfigMap", "Deployment"} {
		if !found[kind] {
			t.Errorf("no %s", kind)
		}
	}
}
