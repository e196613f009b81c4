// Package lifecycle is a whole scheduler: it follows a cluster by events, keeps
// the queue, makes one attempt after the other and sees each placement through
// to the binding.
//
//	source ─events▶ mailbox ─▶ ┌───────────── scheduling goroutine ────────────┐
//	                     ▲     │ queue ─▶ Schedule ─▶ Assume, Reserve ─▶ Permit │
//	                     │     │            one framework.Snapshot              │
//	                     │     └────────────────────────┬───────────────────────┘
//	                     └──── results ◀── PreBind, Bind, PostBind (tasks) ──▶ binder
//
//	d, err := lifecycle.New(lifecycle.Config{
//		Profiles: []scheduling.Profile{scheduling.Kubernetes137()},
//		Binder:   binder,
//		Clock:    framework.ClockOf(time.Now, time.AfterFunc),
//		Bindings: 8,
//	})
//	err = d.Run(ctx, source)
//
// # What it does
//
// One snapshot is updated in place, so answers that the scheduler keeps stay
// valid. Several profiles share it, and the queue. A pod whose node is chosen
// counts there at once (it is assumed); if anything fails before it is bound,
// Unreserve runs in reverse order, the pod is forgotten and goes back to the
// queue, and pods that its leaving may help are woken.
//
// The outside world is a [Source] of events and a [Binder]. A simulator needs
// no source: it calls [Driver.Apply] and [Driver.ScheduleOne], or lets
// [Driver.Simulate] move a virtual clock.
//
// # What it leaves to you
//
// It does not talk to an API server, retry a binding, or log. It does not know
// what a plugin waits for: plugins say so ([framework.EnqueueExtensions]). Those
// of package filter do. Whatever gives up room is an event for them: a pod that
// is bound elsewhere than was decided, or turns out smaller, and a nomination that
// is taken back.
//
// # Determinism
//
// With Config.Bindings 0 and a virtual clock everything runs in one goroutine,
// and equal profiles, seeds and events give equal decisions. With bindings of
// their own goroutines, the order in which their results come back is not
// determined, and so is not what is decided after that.
//
// # Concurrency
//
// Apply and the methods of a [Handle], but Snapshot, may be called by any
// goroutine. Everything else happens in the scheduling goroutine: that of Run,
// or the caller's. A pod that waits on Permit takes no goroutine, so it cannot
// keep others from being bound, however few bindings may run at once.
//
// Differs: a pod whose victims are being evicted is in flight until all have
// been asked to leave; the original keeps it in the queue behind a gate. A pod that
// waits on Permit when an event puts it on a node is rejected there, and Bind is not
// called; the original tries to bind it and fails. Pod
// groups and sampling of metrics are left out.
//
// Source: kube-scheduler 1.37, schedule_one.go, eventhandlers.go,
// backend/cache and framework/runtime.
package lifecycle
