package openb

import "runtime"

// A Result is a run and what it gave.
type Result struct {
	Config
	*Series
}

// RunAll makes the runs, as many at once as there are processors, and calls progress after
// each with how many are done. The results are in the order of the configs; the error is
// that of one of the runs.
func RunAll(trace *Trace, configs []Config, progress func(done int)) ([]Result, error) {
	results := make([]Result, len(configs))
	next, done := make(chan int), make(chan error)
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for i := range next {
				series, err := Run(trace, configs[i])
				results[i] = Result{configs[i], series}
				done <- err
			}
		}()
	}
	go func() {
		for i := range configs {
			next <- i
		}
		close(next)
	}()
	var first error
	for i := range configs {
		if err := <-done; err != nil && first == nil {
			first = err
		}
		progress(i + 1)
	}
	return results, first
}
