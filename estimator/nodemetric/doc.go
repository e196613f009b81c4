// Package nodemetric makes the reports of use that Koordinator's agent, koordlet,
// would make: for simulators and tests.
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
// The samples: nothing here measures. Package estimator reads the reports.
//
// # Determinism and concurrency
//
// Times come in as values, and nothing here reads a clock. A Sampler and a Histogram
// are used by one goroutine at a time.
//
// Source: koordlet 1.8.
package nodemetric
