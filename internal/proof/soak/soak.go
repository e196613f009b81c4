package soak

import (
	"fmt"
	"math/rand/v2"
)

// Run makes steps random steps. progress, if not nil, is called now and then
// with the number of steps made. An error means that the run itself failed.
func Run(steps int, seed uint64, progress func(done int)) (Result, error) {
	var res Result
	for epoch := uint64(0); res.Steps < steps; epoch++ {
		r := rand.New(rand.NewPCG(seed, epoch))
		h, err := newHistory(r, epoch, &res)
		if err != nil {
			return res, err
		}
		for range min(pick(r, 300, 1000, 3000), steps-res.Steps) {
			if err := h.step(); err != nil {
				return res, fmt.Errorf("seed %d, epoch %d, step %d: %w", seed, epoch, res.Steps, err)
			}
		}
		h.mix.add(h.incremental.Stats())
		if progress != nil {
			progress(res.Steps)
		}
	}
	return res, nil
}
