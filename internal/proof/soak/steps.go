package soak

import "math/rand/v2"

// Steps are a history whose steps somebody else chooses, such as a state machine.
type Steps struct{ history *history }

// Begin returns a history of that seed after a number of its own steps. What happens is
// counted in res.
func Begin(seed uint64, before int, res *Result) (*Steps, error) {
	h, err := newHistory(rand.New(rand.NewPCG(seed, 0)), seed, res)
	for i := 0; i < before && err == nil; i++ {
		err = h.step()
	}
	return &Steps{h}, err
}

// Draw makes the next steps draw their random numbers from a source.
func (s *Steps) Draw(from rand.Source) { s.history.r = rand.New(from) }

// Each calls f with each kind of step: its name, its share of all steps in percent, and
// what makes one.
func (s *Steps) Each(f func(name string, share int, do func() error)) {
	for _, a := range s.history.kinds {
		f(a.name, a.share, func() error { return s.history.do(a) })
	}
}
