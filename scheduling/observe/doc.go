// Package observe reports a scheduler's activity to log/slog and to expvar. Its
// types are observers of package lifecycle:
//
//	config.Observer = observe.All(
//		observe.Log{Logger: slog.Default()}.Observer(),
//		observe.NewVars(expvar.NewMap("scheduler")),
//	)
//
// [Metrics] counts under kube-scheduler's names and writes them as Prometheus reads them.
//
// Times of single plugins, and scores, are reported only on request, because each
// decision is then made a second time: Log.Plugins, [NewPluginVars] and Log.Scores.
//
// It is a separate package because the rest of the library neither logs nor
// publishes: a program that does not import it links neither log/slog nor expvar.
//
// # What it leaves to you
//
// You choose the logger with its level, and where to publish the figures.
//
// # Determinism and concurrency
//
// Lines and figures depend only on the observed events. Times are those of the
// scheduler's clock, but a log handler may add the machine's time. Any number of
// goroutines may call any observer.
package observe
