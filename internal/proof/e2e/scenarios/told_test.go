package scenarios

import (
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-sched/berth/internal/proof/e2e/controlplane"
	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// TestEvents has one pod bound and one that no node can take. The events say so in the
// words of the stock scheduler.
func TestEvents(t *testing.T) {
	s := begin(t)
	s.ok(objects.CreateNodesOf(s.ctx, s.client, []int{1}))
	s.start()
	s.pod(objects.Pod("good", "1", "1Gi"))
	s.pod(objects.Pod("large", "20", "1Gi"))
	for _, want := range []eventsv1.Event{
		{Reason: "Scheduled", Type: "Normal", Action: "Binding", Note: "Successfully assigned default/good to node-0001"},
		{
			Reason: "FailedScheduling", Type: "Warning", Action: "Scheduling",
			Note: "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
		},
	} {
		var seen []string
		s.Cleanup(func() {
			if s.Failed() {
				s.Logf("events: %q", seen)
			}
		})
		s.eventually(fmt.Sprintf("event %q: %q", want.Reason, want.Note), func() bool {
			seen = nil
			list, err := s.client.EventsV1().Events(objects.Namespace).List(s.ctx, metav1.ListOptions{})
			s.ok(err)
			for i := range list.Items {
				e := &list.Items[i]
				seen = append(seen, e.Note)
				if e.Reason == want.Reason && e.Type == want.Type && e.Action == want.Action && e.Note == want.Note &&
					e.ReportingController == "default-scheduler" && e.Regarding.Kind == "Pod" {
					return true
				}
			}
			return false
		})
	}
}

// TestServes asks berth-scheduler whether it is healthy and ready, and for its metrics.
func TestServes(t *testing.T) {
	berthOnly(t, "kube-scheduler asks who may read its metrics")
	s := begin(t)
	const n = 20
	s.nodes(5)
	p, get := s.serving()
	s.eventually("the scheduler is ready", func() bool {
		code, _ := get("/readyz")
		return code == http.StatusOK
	})
	for _, path := range []string{"/healthz", "/livez"} {
		if code, body := get(path); code != http.StatusOK {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	s.pods(n, objects.Mixed)
	s.someBound(n)
	large := objects.Pod("large", "20", "1Gi")
	s.pod(large)
	var metrics string
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(shorten(metrics, "scheduler_schedule_attempts", "scheduler_pending", "attempt_duration_seconds_count"))
		}
	})
	for _, want := range []string{
		fmt.Sprintf(`(?m)^scheduler_schedule_attempts_total\{.*result="scheduled".*\} %d$`, n),
		`(?m)^scheduler_schedule_attempts_total\{.*result="unschedulable".*\} [1-9]`,
		`(?m)^scheduler_pending_pods\{queue="unschedulable"\} 1$`,
		`(?m)^scheduler_pod_scheduling_sli_duration_seconds_count\{attempts="1"\} [1-9]`,
		`(?m)^berth_events_total\{result="written"\} [1-9]`,
		fmt.Sprintf(`(?m)^scheduler_scheduling_attempt_duration_seconds_count\{.*result="scheduled".*\} %d$`, n),
	} {
		pattern := regexp.MustCompile(want)
		s.eventually("a metric matches "+want, func() bool {
			_, metrics = get("/metrics")
			return pattern.MatchString(metrics)
		})
	}
	s.stop(p)
}

// serving starts berth-scheduler with a port, and returns what asks it.
func (s *scenario) serving() (p *controlplane.Process, get func(path string) (int, string)) {
	s.Helper()
	port := s.freePort()
	p = s.start(func(c *controlplane.Scheduler) { c.Args = []string{fmt.Sprint("--secure-port=", port)} })
	// The certificate is signed by itself.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	s.Cleanup(client.CloseIdleConnections)
	return p, func(path string) (int, string) {
		answer, err := client.Get(fmt.Sprintf("https://127.0.0.1:%d%s", port, path))
		if err != nil {
			return 0, err.Error()
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		s.ok(err)
		return answer.StatusCode, string(body)
	}
}

// freePort returns a port that nobody listens at. It is below those that systems give away,
// so that no other process is given it before it is used.
func (s *scenario) freePort() int {
	s.Helper()
	for range 100 {
		if l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 11000+rand.IntN(20000))); err == nil {
			defer l.Close()
			return l.Addr().(*net.TCPAddr).Port
		}
	}
	s.Fatal("none of 100 ports is free")
	return 0
}

// shorten keeps the lines that have one of the words.
func shorten(text string, words ...string) string {
	var kept []string
	for line := range strings.Lines(text) {
		for _, word := range words {
			if strings.Contains(line, word) && !strings.HasPrefix(line, "#") {
				kept = append(kept, line)
			}
		}
	}
	return strings.Join(kept, "")
}
