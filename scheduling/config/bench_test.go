package config_test

import (
	"testing"

	"github.com/berth-sched/berth/scheduling/config"
)

// BenchmarkLoad loads a file of two profiles, as YAML and as JSON.
func BenchmarkLoad(b *testing.B) {
	files := map[string]string{
		"yaml": head + "profiles:\n- schedulerName: a\n  plugins: {score: {enabled: [{name: ImageLocality, weight: 5}]}}\n- schedulerName: b\n",
		"json": `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[{"schedulerName":"a","plugins":{"score":{"enabled":[{"name":"ImageLocality","weight":5}]}}},{"schedulerName":"b"}]}`,
	}
	for name, file := range files {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := config.Load([]byte(file), config.LoadConfig{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
