package resource

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestZeroQuantity(t *testing.T) {
	var q Quantity
	if q.String() != "0" || q.Value() != 0 || q.MilliValue() != 0 || q.Sign() != 0 || !q.IsZero() || q.Format() != DecimalSI {
		t.Errorf("the zero value is %v (%v)", q, q.Format())
	}
	if got := q.Add(MustParse("1Gi")).Sub(MustParse("1Gi")); !got.Equal(q) {
		t.Errorf("0 + 1Gi - 1Gi = %v, want 0", got)
	}
}

func TestConstructors(t *testing.T) {
	tests := []struct {
		name string
		got  Quantity
		want string
	}{
		{"New(0, BinarySI)", New(0, BinarySI), "0"},
		{"New(5, DecimalSI)", New(5, DecimalSI), "5"},
		{"New(1000, BinarySI)", New(1000, BinarySI), "1k"},
		{"New(1<<30, BinarySI)", New(1<<30, BinarySI), "1Gi"},
		{"New(1<<30, DecimalSI)", New(1<<30, DecimalSI), "1073741824"},
		{"New(1e6, DecimalExponent)", New(1e6, DecimalExponent), "1e6"},
		{"New(MaxInt64, BinarySI)", New(math.MaxInt64, BinarySI), "9223372036854775807"},
		{"New(MinInt64, DecimalSI)", New(math.MinInt64, DecimalSI), "-9223372036854775808"},
		{"Milli(0)", Milli(0), "0"},
		{"Milli(100)", Milli(100), "100m"},
		{"Milli(-4000)", Milli(-4000), "-4"},
		{"Milli(MinInt64)", Milli(math.MinInt64), "-9223372036854775808m"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.got.String(); got != test.want {
				t.Errorf("%s = %s, want %s", test.name, got, test.want)
			}
			if !wellFormed(test.got) {
				t.Errorf("%s = %#v, not the one representation of its value", test.name, test.got)
			}
		})
	}
}

// Value and MilliValue round away from zero, and saturate at the ends of int64.
func TestRounding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuantity(t, "q").Add(drawQuantity(t, "r"))
		v := exact(q)
		if got, want := q.Value(), saturated(roundAway(v)); got != want {
			t.Errorf("(%v).Value() = %d, want %d", q, got, want)
		}
		if got, want := q.MilliValue(), saturated(roundAway(v.Mul(v, big.NewRat(1000, 1)))); got != want {
			t.Errorf("(%v).MilliValue() = %d, want %d", q, got, want)
		}
	})
}

// A copy keeps its value whatever happens to the original.
func TestQuantityIsImmutable(t *testing.T) {
	for _, text := range []string{"1", "1n", "123456789012345678901234567890", "8Ei"} {
		q := MustParse(text)
		before := q.String()
		for _, o := range []Quantity{q, New(1, DecimalSI), MustParse("1e40")} {
			q.Add(o)
			q.Sub(o)
			o.Sub(q)
			q.Cmp(o)
		}
		q.Neg()
		q.Value()
		q.MilliValue()
		if got := q.String(); got != before {
			t.Errorf("%s became %s", before, got)
		}
	}
}

func TestOrdinaryQuantitiesDoNotAllocate(t *testing.T) {
	a, b, data := MustParse("100m"), MustParse("500Mi"), []byte(`"500Mi"`)
	tests := []struct {
		name string
		do   func()
	}{
		{"Parse 100m", func() { _, _ = Parse("100m") }},
		{"Parse 500Mi", func() { _, _ = Parse("500Mi") }},
		{"Parse 1.5Gi", func() { _, _ = Parse("1.5Gi") }},
		{"Parse 1e3", func() { _, _ = Parse("1e3") }},
		{"UnmarshalJSON", func() { var q Quantity; _ = q.UnmarshalJSON(data) }},
		{"Value", func() { a.Value() }},
		{"MilliValue", func() { b.MilliValue() }},
		{"Add", func() { _ = a.Add(b) }},
		{"Sub", func() { _ = a.Sub(b) }},
		{"Cmp", func() { a.Cmp(b) }},
	}
	for _, test := range tests {
		if got := testing.AllocsPerRun(100, test.do); got != 0 {
			t.Errorf("%s allocates %v times, want 0", test.name, got)
		}
	}
}
