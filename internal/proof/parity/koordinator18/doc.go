// Package koordinator compares load-aware scheduling with the real plugin of
// Koordinator 1.8.0, which it imports: random clusters, configurations and
// sequences of events go to both, and their answers must be equal.
//
//	go run ./cmd/compare -seed 1 -cases 20000
//
// The real plugin reads the clock of the process. It therefore runs where that
// clock is simulated (testing/synctest), and time passes only when a case says
// so. Events reach it through the handlers that it registers with its
// informers, as in a scheduler.
//
// Two differences are evened out, both on purpose. Koordinator's arithmetic
// wraps around for enormous nodes: berth is asked to do the same, see
// estimator.Wrapping, and scores of the real plugin are cut to [0,100]. And
// Koordinator takes the default estimator for names that it does not know,
// which berth refuses: such names do not occur.
//
// Three more would show and do not occur in random cases. A metric's
// reportIntervalSeconds of more than 292 years wraps around in Koordinator, and a
// pod's requests do whose sum is beyond int64; berth saturates. And of several
// weights that lack a factor Koordinator names any, berth the first.
//
// The rules of 1.5 and 1.6 are compared with those versions by the packages
// koordinator15 and koordinator16, those of 1.4 with the recorded answers of 1.4.1
// in internal/proof/replay/loadaware.
package koordinator
