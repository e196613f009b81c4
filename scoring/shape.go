package scoring

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// A ShapePoint is a point of a [Shape].
type ShapePoint struct {
	// Utilization in percent.
	Utilization int64 `json:"utilization"`
	// Score from 0 to 10.
	Score int64 `json:"score"`
}

// A Shape is a piecewise linear function of the utilization of a resource. Its
// points are in ascending order of utilization.
type Shape []ShapePoint

// At returns the function's value at a utilization: the first point's score up to
// that point, the last point's score beyond it, and in between
//
//	a.Score + (b.Score-a.Score)*(utilization-a.Utilization)/(b.Utilization-a.Utilization)
//
// for the neighbouring points a and b, the fraction truncated toward zero. A
// shape without points is 0 everywhere.
//
// Source: kube-scheduler 1.37, BuildBrokenLinearFunction; exact for all int64.
func (s Shape) At(utilization int64) int64 {
	for i, b := range s {
		if utilization > b.Utilization {
			continue
		}
		if i == 0 {
			return b.Score
		}
		a := s[i-1]
		return a.Score + scaledStep(a, b, utilization)
	}
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].Score
}

// scaledStep returns the distance of the score from a's on the way to b. All
// differences fit 64 bits without a sign, and the step is no longer than the one
// between the scores.
func scaledStep(a, b ShapePoint, utilization int64) int64 {
	way := uint64(utilization) - uint64(a.Utilization)
	whole := uint64(b.Utilization) - uint64(a.Utilization)
	rise := uint64(b.Score) - uint64(a.Score)
	if b.Score < a.Score {
		rise = -rise
	}
	step := resource.MulDiv(rise, way, 0, whole)
	if b.Score < a.Score {
		return -int64(step)
	}
	return int64(step)
}

// maxShapeScore is the largest score of a shape in a configuration.
const maxShapeScore = 10

// check reports why the shape cannot map a utilization in percent.
func (s Shape) check() error {
	if len(s) == 0 {
		return fmt.Errorf("shape: at least one point must be specified")
	}
	for i, p := range s {
		switch {
		case p.Utilization < 0 || p.Utilization > 100:
			return fmt.Errorf("shape[%d]: utilization %d is not from 0 to 100", i, p.Utilization)
		case i > 0 && p.Utilization <= s[i-1].Utilization:
			return fmt.Errorf("shape[%d]: utilization %d is not above that of the point before, %d", i, p.Utilization, s[i-1].Utilization)
		case p.Score < 0 || p.Score > maxShapeScore:
			return fmt.Errorf("shape[%d]: score %d is not from 0 to %d", i, p.Score, maxShapeScore)
		}
	}
	return nil
}

// A shapeTable holds a shape's values, stretched to [0,100], at every whole
// percent of utilization.
type shapeTable struct {
	shape  Shape // as configured
	scaled Shape
	at     [framework.MaxNodeScore + 1]int64
}

// follow fills the table for a shape, unless the table already holds it.
func (t *shapeTable) follow(s Shape) {
	if slices.Equal(t.shape, s) {
		return
	}
	t.shape = append(t.shape[:0], s...)
	t.scaled = append(t.scaled[:0], s...)
	for i := range t.scaled {
		t.scaled[i].Score *= framework.MaxNodeScore / maxShapeScore
	}
	for u := range t.at {
		t.at[u] = t.scaled.At(int64(u))
	}
}
