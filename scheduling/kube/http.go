package kube

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// Handler returns a handler of /metrics, in the text format of Prometheus, and of /healthz,
// /livez and /readyz. Metrics have kube-scheduler's names and labels; only
// berth_events_total, which counts what has become of events, is not there. /readyz fails
// until everything has been listed, and says what is missing; a scheduler that waits for its
// lease is ready.
//
// scheduler_cache_size is up to one second old: all clients together make the scheduling
// goroutine count once in that time. Other answers do not use that goroutine.
//
// Differs: who may read the metrics.
// Original: kube-scheduler asks the API server whether a caller may read /metrics.
// Here: everyone who reaches the handler may.
// Why: the metrics hold no names of pods. A program that wants it otherwise wraps the handler.
func (s *Scheduler) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = s.metrics.WriteTo(w)
		s.writeGauges(r.Context(), w)
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

// writeGauges writes the metrics that are not of attempts.
//
// Source: kube-scheduler 1.37, backend/cache; component-base 0.37, leaderelection.
func (s *Scheduler) writeGauges(ctx context.Context, w io.Writer) {
	now := s.state.Load()
	leads := now != nil && now.leads
	if leads {
		if c, err := s.counts.get(ctx); err == nil {
			family(w, "scheduler_cache_size", "gauge", "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.", "type",
				sample{"assumed_pods", uint64(c.Assumed)}, sample{"nodes", uint64(c.Nodes)}, sample{"pods", uint64(c.Assigned + c.UnknownNode)})
		}
	}
	if l := s.config.LeaderElection; l != nil {
		value := uint64(0)
		if leads {
			value = 1
		}
		family(w, "leader_election_master_status", "gauge", "Whether this process leads: 1, or waits for the lease: 0.", "name", sample{l.Name, value})
	}
	c := s.events.Counts()
	family(w, "berth_events_total", "counter", "Number of events by what has become of them: written, joined to a series, dropped for lack of room, or failed.", "result",
		sample{"dropped", c.Dropped}, sample{"failed", c.Failed}, sample{"joined", c.Joined}, sample{"written", c.Written})
}

// A sample is a value with its label.
type sample struct {
	label string
	value uint64
}

func family(w io.Writer, name, kind, help, label string, samples ...sample) {
	_, _ = fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	for _, x := range samples {
		_, _ = fmt.Fprintf(w, "%s{%s=%q} %d\n", name, label, x.label, x.value)
	}
}
