package kube

import (
	"fmt"
	"net/http"
)

// Handler returns a handler of /metrics, in the text format of Prometheus, and of /healthz,
// /livez and /readyz. Metrics have kube-scheduler's names. /readyz fails until everything
// has been listed, and says what is missing; a scheduler that waits for its lease is ready.
func (s *Scheduler) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		leads := 0
		if now := s.state.Load(); now != nil && now.leads {
			leads = 1
		}
		_, _ = s.metrics.WriteTo(w)
		if now := s.state.Load(); now != nil && now.cluster != nil {
			nodes, pods := now.cluster.Size()
			_, _ = fmt.Fprintf(w, "# TYPE scheduler_cache_size gauge\nscheduler_cache_size{type=\"nodes\"} %d\nscheduler_cache_size{type=\"pods\"} %d\n", nodes, pods)
		}
		_, _ = fmt.Fprintf(w, "# TYPE leader_election_master_status gauge\nleader_election_master_status{name=%q} %d\n", s.config.Identity, leads)
	})
	ok := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }
	mux.HandleFunc("GET /healthz", ok)
	mux.HandleFunc("GET /livez", ok)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		now := s.state.Load()
		switch {
		case now == nil:
			http.Error(w, "not started", http.StatusServiceUnavailable)
		case now.cluster == nil:
			http.Error(w, now.text, http.StatusServiceUnavailable)
		case now.cluster.Waiting() != "":
			http.Error(w, "waiting for the first lists of "+now.cluster.Waiting(), http.StatusServiceUnavailable)
		default:
			ok(w, r)
		}
	})
	return mux
}
