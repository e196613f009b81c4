package resource

import (
	"encoding/json"
	"testing"
)

func BenchmarkParse(b *testing.B) {
	for _, text := range []string{"4", "100m", "500Mi", "1.5Gi", "0.25", "1e3", "123456789012345678901234567890"} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkString(b *testing.B) {
	for _, text := range []string{"4", "100m", "500Mi", "123456789012345678901234567890"} {
		q := MustParse(text)
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = q.String()
			}
		})
	}
}

func BenchmarkQuantity(b *testing.B) {
	x, y := MustParse("100m"), MustParse("500Mi")
	b.Run("Add", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = x.Add(y)
		}
	})
	b.Run("Cmp", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = x.Cmp(y)
		}
	})
	b.Run("Value", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = x.Value()
		}
	})
}

func BenchmarkListUnmarshal(b *testing.B) {
	data := []byte(`{"cpu":"4","memory":"32Gi","ephemeral-storage":"100Gi","pods":"110"}`)
	b.ReportAllocs()
	for b.Loop() {
		var l List
		if err := json.Unmarshal(data, &l); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSchema(b *testing.B) {
	s := NewSchema()
	l := list("cpu", "4", "memory", "32Gi", "pods", "110", "example.com/gpu", "8")
	b.Run("Vector", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = s.Vector(l)
		}
	})
	b.Run("Index", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = s.Index("example.com/gpu")
		}
	})
}

func BenchmarkVectorAdd(b *testing.B) {
	v, w := Vector{0, 0, 0, 0}, Vector{100, 500 << 20, 0, 1}
	b.ReportAllocs()
	for b.Loop() {
		v = v.Add(w)
	}
}
