package loadaware_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/replay/loadaware"
)

var versions = []estimator.Rules{estimator.Koordinator14, estimator.Koordinator15, estimator.Koordinator16, estimator.Koordinator18}

// FuzzNodeMetric feeds any data that decodes as a NodeMetric to the ledger of a
// random cluster. The ledger must never panic, and scores stay from 0 to 100.
func FuzzNodeMetric(f *testing.F) {
	for i, seed := range []string{
		`{}`, `{"status":{"nodeMetric":{}}}`,
		`{"status":{"updateTime":"2026-01-01T00:00:00Z","nodeMetric":{"nodeUsage":{"resources":{"cpu":"-1","memory":"9999999999999999999999"}}}}}`,
		`{"status":{"updateTime":"9999-12-31T23:59:59Z","podsMetric":[null,{"name":"p0","namespace":"default","podUsage":{"resources":{"cpu":"-9223372036854775808"}}}]}}`,
		`{"spec":{"metricCollectPolicy":{"reportIntervalSeconds":9223372036854775807}},"status":{"updateTime":"0001-01-01T00:00:00Z","nodeMetric":{"aggregatedNodeUsages":[{"duration":"-5m","usage":{"":{"resources":{"":"1"}},"p95":{"resources":{"cpu":"1n"}}}}]}}}`,
	} {
		f.Add([]byte(seed), uint64(i), byte(i))
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text []byte, seed uint64, version byte) {
		m := new(api.NodeMetric)
		if json.Unmarshal(text, m) != nil {
			return
		}
		m.Name = "node-0"
		c := loadaware.Random(rand.New(rand.NewPCG(seed, 0)), now)
		c.NodeMetrics = append(c.NodeMetrics, m)
		answer, err := loadaware.Run(c, versions[int(version)%len(versions)])
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range answer.Nodes {
			if n.Score < 0 || n.Score > 100 {
				t.Errorf("node %s: score %d, want 0 to 100", n.Name, n.Score)
			}
		}
	})
}

// Equal seeds give equal cases.
func TestRandomRepeats(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for seed := range uint64(100) {
		var texts [2]string
		for i := range texts {
			text, err := json.Marshal(loadaware.Random(rand.New(rand.NewPCG(seed, 2)), now))
			if err != nil {
				t.Fatal(err)
			}
			texts[i] = string(text)
		}
		if texts[0] != texts[1] {
			t.Fatalf("seed %d makes different cases:\n%s\n%s", seed, texts[0], texts[1])
		}
	}
}

// Random cases can be played by the rules of every version.
func TestRandomCases(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	scores, rejected, invalid, questions := 0, 0, 0, 0
	for seed := range uint64(300) {
		for _, rules := range versions {
			c := loadaware.Random(rand.New(rand.NewPCG(seed, 1)), now)
			answer, err := loadaware.Run(c, rules)
			if err != nil {
				t.Fatalf("seed %d, rules %s: %v", seed, rules, err)
			}
			if answer.ArgsError != "" {
				invalid++
			}
			questions += len(answer.Questions)
			for _, n := range answer.Nodes {
				if n.Score > 0 {
					scores++
				}
				if n.FilterCode != "Success" {
					rejected++
				}
			}
		}
	}
	if scores < 300 || rejected < 300 || invalid == 0 || questions < 300 {
		t.Errorf("%d scores, %d rejections, %d questions, %d invalid arguments: too few to mean much", scores, rejected, questions, invalid)
	}
}
