// Package nodemetric makes usage reports like those of Koordinator's agent,
// koordlet, for simulators and tests.
//
//	s := nodemetric.NewSampler(nodemetric.SamplerConfig{})
//	s.Add(now, nodemetric.Use{CPU: 1500, Memory: 2 << 30}, nil)
//	report := s.Report("node-1", now) // an *api.NodeMetric
//
// A [Sampler] turns samples of simulated use into reports with averages and
// percentiles. A [Histogram] keeps a distribution that forgets old samples.
// [Percentile] and [Average] are koordlet's formulas for a list of values.
//
// # What it leaves to you
//
// You bring the samples: nothing here measures. Package estimator reads the
// reports.
//
// # Determinism and concurrency
//
// Times are parameters, and nothing here reads a clock. A Sampler or a Histogram
// must be used by one goroutine at a time.
//
// Source: koordlet 1.8.
package nodemetric
