// Package observe tells what a scheduler does to log/slog and to expvar. Its
// types are observers of package lifecycle:
//
//	config.Observer = observe.All(
//		observe.Log{Logger: slog.Default()}.Observer(),
//		observe.NewVars(expvar.NewMap("scheduler")),
//	)
//
// What plugins take, one by one, and scores are told only when asked for, because
// each decision is then made a second time: Log.Plugins, [NewPluginVars] and
// Log.Scores.
//
// It is a room of its own because the rest of the library neither logs nor
// publishes: who does not import it links neither.
//
// # What it leaves to you
//
// The logger with its level, and where the figures are published.
//
// # Determinism and concurrency
//
// Lines and figures depend on what is observed alone; their times are those of
// the scheduler's clock, but a log handler may add the time of the machine. All
// observers may be called by any number of goroutines.
package observe
