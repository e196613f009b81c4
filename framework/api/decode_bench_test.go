//go:build full

package api_test

import (
	"bytes"
	"encoding/json"
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

// BenchmarkDecodeObject reads one pod of a cluster, as a webhook or an informer
// does, and compares with encoding/json.
func BenchmarkDecodeObject(b *testing.B) {
	data := onePod(b)
	decoders := []struct {
		name   string
		decode func() error
	}{
		{"berth", func() error { _, err := api.DecodeObject[api.Pod](data); return err }},
		{"encoding-json", func() error { return json.Unmarshal(data, new(api.Pod)) }},
	}
	for _, d := range decoders {
		b.Run(d.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := d.decode(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// onePod returns the JSON of the first pod of the test data.
func onePod(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/pods.json")
	must(t, err)
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	must(t, json.Unmarshal(text, &list))
	return list.Items[0]
}
