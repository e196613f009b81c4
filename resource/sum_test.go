package resource_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/resource"
)

// A Sum equals the sum of its quantities added one by one.
func TestSumIsAdd(t *testing.T) {
	extremes := []resource.Quantity{
		resource.New(math.MaxInt64, resource.BinarySI), resource.New(math.MinInt64, resource.DecimalSI),
		resource.MustParse("1n"), resource.MustParse("-1n"), resource.MustParse("1e20"), resource.MustParse("-9223372036854775809"),
	}
	rapid.Check(t, func(t *rapid.T) {
		var sum resource.Sum
		var want resource.Quantity
		for range rapid.IntRange(0, 8).Draw(t, "length") {
			q := rapid.SampledFrom(extremes).Draw(t, "extreme")
			if rapid.Bool().Draw(t, "ordinary") {
				q = resource.MustParse(fmt.Sprintf("%d%s", rapid.Int64().Draw(t, "n"), rapid.SampledFrom([]string{"", "m", "u", "n"}).Draw(t, "suffix")))
			}
			sum.Add(q)
			if want = want.Add(q); !sum.Quantity().Equal(want) {
				t.Fatalf("after Add(%s): Quantity() = %s, want %s", q, sum.Quantity(), want)
			}
		}
	})
}

func ExampleSum() {
	var sum resource.Sum
	for _, text := range []string{"250m", "1500u", "2"} {
		sum.Add(resource.MustParse(text))
	}
	q := sum.Quantity()
	fmt.Println(q.String(), q.MilliValue())
	// Output: 2251500u 2252
}
