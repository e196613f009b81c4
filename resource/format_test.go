package resource

import (
	"math"
	"testing"
)

func TestFormatString(t *testing.T) {
	for f, want := range map[Format]string{
		DecimalSI: "DecimalSI", BinarySI: "BinarySI", DecimalExponent: "DecimalExponent", 7: "Format(7)",
	} {
		if got := f.String(); got != want {
			t.Errorf("Format(%d).String() = %q, want %q", uint8(f), got, want)
		}
	}
}

// Results without a text that Parse accepts print exactly too.
func TestStringOfResults(t *testing.T) {
	doubled := func(q Quantity, times int) Quantity {
		for range times {
			q = q.Add(q)
		}
		return q
	}
	tests := []struct {
		name string
		q    Quantity
		want string
	}{
		{"above Ei", doubled(MustParse("1Ei"), 10), "1024Ei"},
		{"far above Ei", doubled(MustParse("-1Ei"), 20), "-1048576Ei"},
		{"above E", MustParse("1000E"), "1000E"},
		{"far above E", MustParse("-1000000000000000E"), "-1000000000000000E"},
		{"binary beyond int64", MustParse("8Ei").Add(New(1, BinarySI)), "8Ei"},
		{"smallest int64, binary", New(math.MinInt64, BinarySI), "-8Ei"},
		{"binary with a fraction", MustParse("8Ei").Add(MustParse("1n")), "9223372036854775807000000001n"},
		{"binary below 1024", MustParse("1Ki").Sub(MustParse("1")), "1023"},
		{"binary round decimal", MustParse("1Ki").Sub(MustParse("24")), "1k"},
		{"exponents beyond 18", MustParse("1e20").Add(MustParse("1e21")), "1100e18"},
		{"a notation that is none", New(5000, Format(9)), "5k"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.q.String(); got != test.want {
				t.Errorf("String() = %q, want %q", got, test.want)
			}
		})
	}
}
