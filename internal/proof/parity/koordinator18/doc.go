// Package koordinator compares load-aware scheduling with the real plugin of
// Koordinator 1.8.0, which it imports. Random clusters, configurations and sequences
// of events go to both, and their answers must be equal.
//
//	go run ./cmd/compare -seed 1 -cases 20000
//
// The real plugin reads the clock of the process. So it runs with a simulated clock
// (testing/synctest), and time passes only if a case says so. Events reach it
// through the handlers that it registers with its informers, as in a scheduler.
//
// The comparison removes two intended differences. First, Koordinator's arithmetic
// wraps around for enormous nodes: berth does the same here, see estimator.Wrapping,
// and scores of the real plugin are cut to [0,100]. Second, Koordinator takes the
// default estimator for unknown names, which berth rejects: such names do not occur.
//
// There are three more differences that do not occur in random cases. A metric's
// reportIntervalSeconds of more than 292 years wraps around in Koordinator, and so
// do a pod's requests if their sum exceeds int64; berth saturates. If several
// weights lack a factor, Koordinator names any of them, berth the first.
//
// Random clusters also go to the descheduler's plugin LowNodeLoad, whose classes of nodes
// must be those of whatif's Rebalance. The plugin tells them only to its log. It panics at
// a metric without use if no expiration is set, so all cases have one. Which pods
// leave is compared where every pod has a place elsewhere: in other clusters Rebalance
// differs by intention, as its page says.
//
//	go run ./cmd/compare -family lownodeload
//
// The packages koordinator15 and koordinator16 compare the rules of 1.5 and 1.6 with
// those versions. internal/proof/replay/loadaware compares the rules of 1.4 with the
// recorded answers of 1.4.1.
package koordinator
