package scenarios

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"testing"

	"github.com/berth-sched/berth/internal/proof/e2e/controlplane"
	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// TestRefused starts the scheduler with what cannot work. It ends with an exit code other
// than 0, and says on standard error what is wrong.
func TestRefused(t *testing.T) {
	berthOnly(t, "the messages are berth-scheduler's")
	s := begin(t)
	kubeconfig, err := cluster.Kubeconfig(controlplane.Berth, cluster.URL())
	s.ok(err)
	file := func(text string) string {
		t.Helper()
		name, err := cluster.WriteFile("config.yaml", []byte(text))
		s.ok(err)
		return name
	}
	const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"no such kubeconfig", []string{"--kubeconfig=/nowhere/config"}, `--kubeconfig /nowhere/config: .*no such file`},
		{"a kubeconfig that is none", []string{"--kubeconfig=" + file("not: [a kubeconfig")}, `--kubeconfig .*config.yaml: `},
		{"no such configuration", []string{"--config=/nowhere/scheduler.yaml"}, `--config: open /nowhere/scheduler.yaml: no such file`},
		{"an unknown field", []string{"--config=" + file(head+"profils: []\n")}, `--config .*config.yaml: .*line 3.*profils`},
		{"a bad value", []string{"--config=" + file(head+"percentageOfNodesToScore: 101\n")}, `percentageOfNodesToScore.*101`},
		{"an unknown plugin", []string{"--config=" + file(head+"profiles:\n- plugins:\n    score:\n      enabled: [{name: Nonesuch}]\n")}, `Nonesuch`},
		{"another kind", []string{"--config=" + file("apiVersion: v1\nkind: Pod\n")}, `Pod`},
		{"an unknown flag", []string{"--kubeconfig=" + kubeconfig, "--leader-elekt=false"}, `leader-elekt`},
		{"an argument too many", []string{"--kubeconfig=" + kubeconfig, "now"}, `unexpected argument "now"`},
		{"a bad port", []string{"--kubeconfig=" + kubeconfig, "--secure-port=99999999"}, `--secure-port: 99999999: `},
		{"a rate that is none", []string{"--kubeconfig=" + kubeconfig, "--kube-api-qps=NaN"}, `--kube-api-qps: NaN: `},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := cluster.Run(s.ctx, controlplane.BerthScheduler, test.args...)
			s.ok(err)
			defer p.Kill()
			ctx, cancel := context.WithTimeout(s.ctx, patience)
			defer cancel()
			code, err := p.ExitCode(ctx)
			if err != nil {
				t.Fatalf("%v; its output is:\n%s", err, p.Output())
			}
			if code == 0 {
				t.Errorf("the exit code is 0")
			}
			if got := p.Output(); !regexp.MustCompile(test.want).MatchString(got) {
				t.Errorf("the output is\n%s\nwant a match of %s", got, test.want)
			}
			if got := p.Output(); regexp.MustCompile(`panic|goroutine \d`).MatchString(got) {
				t.Errorf("the output has a stack:\n%s", got)
			}
		})
	}
}

// TestWaits starts the scheduler where it cannot work yet. It says why and tries again,
// and does nothing by halves.
func TestWaits(t *testing.T) {
	berthOnly(t, "the messages are berth-scheduler's")
	for _, test := range []struct {
		name      string
		configure func(c *controlplane.Scheduler)
		want      string
	}{
		{"nobody answers", func(c *controlplane.Scheduler) { c.URL = "https://127.0.0.1:1" }, `API server does not answer.*connection refused`},
		{"an unknown token", func(c *controlplane.Scheduler) { c.User = controlplane.Unknown }, `does not accept the credentials.*trying again`},
		{"no token", func(c *controlplane.Scheduler) { c.User = controlplane.Anonymous }, `got no credentials.*trying again`},
		{"no rights", func(c *controlplane.Scheduler) { c.User = controlplane.Stranger }, `pods is forbidden: User .*stranger`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := begin(t)
			s.nodes(4)
			s.pods(3, objects.Mixed)
			p := s.start(test.configure)
			want := regexp.MustCompile(test.want)
			s.eventually("the output says "+test.want, func() bool { return want.MatchString(p.Output()) })
			select {
			case <-p.Ended():
				t.Errorf("the scheduler ended:\n%s", p.Tail(5))
			default:
			}
			if v := s.guard.View(); v.Binds != 0 {
				t.Errorf("%d bindings", v.Binds)
			}
			s.stop(p)
		})
	}
}

// TestOtherMinor has the scheduler meet an API server of another minor version. It says
// so and works.
func TestOtherMinor(t *testing.T) {
	berthOnly(t, "the messages are berth-scheduler's")
	s := begin(t)
	target, err := url.Parse(cluster.URL())
	s.ok(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cluster.CA())
	forward := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}, FlushInterval: -1,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" {
			_ = json.NewEncoder(w).Encode(map[string]string{"major": "1", "minor": "34", "gitVersion": "v1.34.5"})
			return
		}
		forward.ServeHTTP(w, r)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cluster.Certificate()}, NextProtos: []string{"h2", "http/1.1"}}
	server.StartTLS()
	defer func() {
		server.CloseClientConnections() // watches
		server.Close()
	}()
	s.nodes(4)
	s.pods(3, objects.Mixed)
	p := s.start(func(c *controlplane.Scheduler) { c.URL = server.URL })
	s.bound(3)
	if got := p.Output(); !regexp.MustCompile(`WARN.*another version.*v1\.34\.5`).MatchString(got) {
		t.Errorf("the output is\n%s\nwant a warning that names v1.34.5", got)
	}
	s.stop(p)
}

// TestTwoOfOneName runs two schedulers for the same pods. With a lease, the second says who
// leads and waits. Without, they get in each other's way, and nothing is bound twice.
func TestTwoOfOneName(t *testing.T) {
	t.Run("with a lease", func(t *testing.T) {
		berthOnly(t, "the messages are berth-scheduler's")
		s := begin(t)
		s.nodes(4)
		first := s.start(leading)
		s.eventually("the first leads", func() bool { return s.holder() != "" })
		second := s.start(leading)
		want := regexp.MustCompile(`the leader is.*` + regexp.QuoteMeta(s.holder()))
		s.eventually("the second says who leads", func() bool { return want.MatchString(second.Output()) })
		s.pods(3, objects.Mixed)
		s.bound(3)
		s.stop(second) // while it waits
		s.stop(first)
	})
	t.Run("without", func(t *testing.T) {
		s := begin(t)
		n := size(200, 2000)
		s.nodes(200)
		// The second samples nodes. Two that decide alike would bind alike, and not notice.
		first, second := s.start(), s.start(func(c *controlplane.Scheduler) { c.Sample = true })
		want := regexp.MustCompile(`another scheduler has bound a pod; two that serve one profile must share a lease" pod=`)
		said := func() bool { return want.MatchString(first.Output()) || want.MatchString(second.Output()) }
		made := 0
		// Both have to be at work, and meet.
		for round := 0; round == 0 || !*stock && round < 10 && !said(); round++ {
			s.pods(n, objectsAfter(made))
			made += n
			if v := s.bound(made); v.Binds != made {
				t.Errorf("%d bindings of %d pods", v.Binds, made)
			}
		}
		if !*stock && !said() {
			t.Errorf("neither scheduler says that there is another:\n%s", first.Tail(5))
		}
		for i, p := range []*controlplane.Process{first, second} {
			select {
			case <-p.Ended():
				t.Errorf("scheduler %d ended:\n%s", i, p.Tail(5))
			default:
			}
		}
		s.stop(first)
		s.stop(second)
	})
}
