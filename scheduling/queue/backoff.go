package queue

import (
	"math"
	"time"

	"github.com/berth-sched/berth/resource"
)

// Backoff says how long a pod waits after failed attempts.
type Backoff struct {
	// Initial is the time after the first failure; 0 means 1 s. The time doubles
	// with every further failure.
	Initial time.Duration
	// Max is the longest time; 0 means 10 s, [NoBackoff] means no backoff.
	Max time.Duration
}

// NoBackoff is the Max of a [Backoff] under which rejected pods do not wait. Two
// cases still wait for 1 s: a pod whose attempt ended with an error, and a pod that
// was rejected after it had taken a node ([Queue.Hold]). On a virtual clock, which
// stands still while a pod is ready, such a pod would otherwise be tried for ever at
// one instant.
const NoBackoff time.Duration = -1

// Duration returns the wait after a number of failures, for a group of pods; pods is
// 1 for a single pod. The longest wait of a group is Max times the square root of
// its size. Without failures the wait is 0.
//
//	failures   1  2  3  4  5  6   7   8
//	1 pod      1  2  4  8 10 10  10  10 s
//	4 pods     1  2  4  8 16 20  20  20 s
//	100 pods   1  2  4  8 16 32  64 100 s
//
// Source: kube-scheduler 1.37, backend/queue, calculateBackoffDuration. Older
// versions have no groups.
//
// Differs: a maximum of 0.
// Original: in kube-scheduler's configuration it means no backoff, and then pods
// whose attempts end with errors are also tried again at once.
// Here: it means 10 s.
// Switch: [NoBackoff]; a pod whose attempt ended with an error then waits for 1 s.
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

// scale multiplies; the result is capped at the longest Duration.
func scale(d time.Duration, by float64) time.Duration {
	return time.Duration(resource.SatFloat(float64(d) * by))
}
