// Package extender implements both sides of kube-scheduler's extender protocol.
//
// A [Client] calls an HTTP server about nodes, as kube-scheduler does. Add it to a
// profile:
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
// types below, in any case; keys inside a pod are exact. An answer counts if its status
// is 200.
//
//	filter      Args           ▶ FilterResult      which nodes are feasible
//	prioritize  Args           ▶ []HostPriority    scores from 0 to 10
//	preempt     PreemptionArgs ▶ PreemptionResult  which candidates, which victims
//	bind        BindingArgs    ▶ BindingResult     bind a pod
//
// A nodeCacheCapable extender receives and returns names of nodes, and identifiers
// of victims. Other extenders receive and return whole nodes, and receive whole
// pods. Answers to preempt are always identifiers.
//
// # What it leaves to you
//
// Package scheduling decides when to call extenders, in which order, and how to use
// their answers. The handler does not watch a cluster: you keep the snapshot up to
// date. Your http.Server handles certificates, ports and shutdown.
//
// # Failures
//
// If a server is dead, slow, sends elsewhere, or sends too much or invalid data, the
// call fails with an error that names the URL. No call waits longer than its timeout,
// and no more of an answer is read than MaxBytes, or than the question explains. Timeouts use the machine's time, even if pods are
// scheduled on a virtual clock, because the server is outside of it. An error has
// the same consequences as in kube-scheduler: see [scheduling.Extender].
//
// # Determinism and concurrency
//
// Any number of goroutines may use a Client or a Handler. The Handler holds up to two
// requests decoded at a time and answers one after the other. Its answer is a function of
// request, profile and snapshot.
//
// Differs: the pods and nodes that a client sends.
// Original: kube-scheduler sends all fields.
// Here: they have the fields that scheduling reads.
// Why: the library holds no others.
//
// Differs: nodes changed by a server that is not nodeCacheCapable.
// Original: kube-scheduler scores the nodes that come back.
// Here: only their names count.
// Why: nodes belong to the snapshot.
//
// Differs: redirects.
// Original: kube-scheduler follows them, and so sends pods to other servers.
// Here: they are errors.
// Switch: [Config.HTTP], your own HTTP client with a CheckRedirect.
//
// Differs: large answers of a server.
// Original: kube-scheduler reads any answer to its end.
// Here: an answer may have 1 MiB, twice the request, and 4 KiB for each node.
// Switch: [Config.MaxBytes].
//
// Differs: reasons of a server that are longer than 1 KiB, or have characters that are not seen.
// Original: kube-scheduler repeats them as they are.
// Here: they are cut, and stand in quotes. So do other texts of a server.
// Why: they stand in errors and in conditions of pods, and terminals show them.
//
// Differs: a node or a victim that an answer names twice.
// Original: kube-scheduler counts the node, or the victim, twice where it compares candidates.
// Here: it counts once.
// Why: no node is there twice, and no pod leaves twice.
//
// Differs: numbers of violated budgets below 0, or above the number of pods on the node.
// Original: kube-scheduler compares candidates by them.
// Here: they count as 0, or as that number.
// Why: they are no numbers of pods that could leave.
//
// Differs: proxies named in the environment.
// Original: kube-scheduler uses them.
// Here: they are not used.
// Switch: [Config.HTTP], your own HTTP client.
//
// Source: kube-scheduler 1.37.1, extender.go and kube-scheduler/extender/v1.
package extender
