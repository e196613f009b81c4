package queue

import (
	"math"
	"time"
)

// Backoff is how long a pod waits after failed attempts.
type Backoff struct {
	// Initial is the time after the first failure; 0 means 1 s. It doubles with
	// every further one.
	Initial time.Duration
	// Max is the longest time; 0 means 10 s, and [NoBackoff] that there is none.
	Max time.Duration
}

// NoBackoff is the Max of a [Backoff] that keeps no pod waiting that was
// rejected. A pod whose attempt ended with an error, and one that was rejected
// after it had taken a node ([Queue.Hold]), waits for 1 s all the same: on a
// virtual clock, which stands still while a pod is ready, it would be tried for
// ever at one instant.
const NoBackoff time.Duration = -1

// Duration returns the time after so many failures for a group of so many
// pods, 1 for a pod that is alone. The longest time of a group is Max times
// the square root of its size. Without a failure it is 0.
//
//	failures   1  2  3  4  5  6   7   8
//	1 pod      1  2  4  8 10 10  10  10 s
//	4 pods     1  2  4  8 16 20  20  20 s
//	100 pods   1  2  4  8 16 32  64 100 s
//
// Source: kube-scheduler 1.37, backend/queue, calculateBackoffDuration. Older
// versions know no groups.
//
// Differs: in kube-scheduler's configuration a maximum of 0 means no backoff, and
// then also pods whose attempts end with errors are tried again at once.
func (b Backoff) Duration(failures, pods int) time.Duration {
	if failures <= 0 || b.Max < 0 {
		return 0
	}
	initial, most := b.Initial, b.Max
	if initial == 0 {
		initial = time.Second
	}
	if most == 0 {
		most = 10 * time.Second
	}
	if pods > 1 {
		most = scale(most, math.Sqrt(float64(pods)))
	}
	shift := uint(failures - 1)
	if initial > most>>shift {
		return most
	}
	return initial << shift
}

// scale multiplies, and stops at the longest duration there is.
func scale(d time.Duration, by float64) time.Duration {
	scaled := float64(d) * by
	if scaled >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(scaled)
}
