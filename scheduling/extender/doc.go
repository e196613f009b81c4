// Package extender speaks kube-scheduler's extender protocol, both sides of it.
//
// A [Client] asks an HTTP server about nodes, as kube-scheduler does, and is put
// into a profile:
//
//	c, err := extender.New(extender.Config{
//		URLPrefix: "http://127.0.0.1:8888", FilterVerb: "filter", PrioritizeVerb: "prioritize", Weight: 1,
//	})
//	profile.Extenders = append(profile.Extenders, c.Extender())
//
// A [Handler] is such a server: it answers a stock kube-scheduler from a profile
// of this library, over a snapshot that a function supplies:
//
//	http.Handle("/", &extender.Handler{Scheduler: s, Snapshot: func(context.Context) (*framework.Snapshot, error) { return snap, nil }})
//
// # The protocol
//
// Every call is a POST of JSON to the prefix and a verb. The keys are those of the
// types below, whatever their case; an answer counts if its status is 200.
//
//	filter      Args           ▶ FilterResult      which nodes are feasible
//	prioritize  Args           ▶ []HostPriority    scores from 0 to 10
//	preempt     PreemptionArgs ▶ PreemptionResult  which candidates, which victims
//	bind        BindingArgs    ▶ BindingResult     bind a pod
//
// An extender that is nodeCacheCapable is given, and returns, names of nodes,
// else whole nodes, and identifiers of victims, else whole pods. Answers to
// preempt are identifiers always.
//
// # What it leaves to you
//
// When extenders are asked, in which order, and what their answers count is the
// business of package scheduling. The handler does not watch a cluster: the
// snapshot is yours to keep up to date. Certificates, ports and shutting down are
// those of your http.Server.
//
// # Failures
//
// A server that is dead, slow, too talkative or talks nonsense fails the call with
// an error that names the URL; no call takes longer than its timeout, and no more
// of an answer is read than MaxBytes. The time of timeouts is the machine's, also
// where pods are scheduled on a virtual clock: the server lives outside of it. What an error leads to is kube-scheduler's
// choice: see [scheduling.Extender].
//
// # Determinism and concurrency
//
// A Client may be used by many goroutines, and so may a Handler, which answers one
// request after the other. What the handler answers is a function of request,
// profile and snapshot.
//
// Differs: a client sends pods and nodes as this library holds them, which is what
// scheduling reads. A server that is not nodeCacheCapable may not change the
// nodes: it is their names that count. Proxies named in the environment are not
// used; give a client of your own.
//
// Source: kube-scheduler 1.37.1, extender.go and kube-scheduler/extender/v1.
package extender
