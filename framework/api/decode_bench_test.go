package api_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/berth-sched/berth/framework/api"
)

func BenchmarkDecode(b *testing.B) {
	one, err := os.ReadFile("testdata/pods.json")
	if err != nil {
		b.Fatal(err)
	}
	for _, documents := range []int{1, 1000} {
		data := bytes.Repeat(one, documents)
		b.Run(fmt.Sprintf("pods=%d", 2*documents), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := api.Decode(data); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(2*documents)*float64(b.N)/b.Elapsed().Seconds(), "pods/s")
		})
	}
}
