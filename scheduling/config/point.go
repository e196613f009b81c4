package config

import "strings"

// A Point is an extension point, by its name in configuration files.
type Point string

// The extension points. MultiPoint means all points that a plugin serves; it occurs
// only in files.
const (
	PreEnqueue         Point = "preEnqueue"
	QueueSort          Point = "queueSort"
	PreFilter          Point = "preFilter"
	Filter             Point = "filter"
	PostFilter         Point = "postFilter"
	PreScore           Point = "preScore"
	Score              Point = "score"
	Reserve            Point = "reserve"
	Permit             Point = "permit"
	PreBind            Point = "preBind"
	Bind               Point = "bind"
	PostBind           Point = "postBind"
	PlacementGenerate  Point = "placementGenerate"
	PlacementScore     Point = "placementScore"
	PodGroupPostFilter Point = "podGroupPostFilter"
	MultiPoint         Point = "multiPoint"
)

// Points returns the extension points in the order in which a pod passes them, those
// of pod groups last. It does not include MultiPoint.
func Points() []Point {
	return []Point{
		PreEnqueue, QueueSort, PreFilter, Filter, PostFilter, PreScore, Score, Reserve, Permit,
		PreBind, Bind, PostBind, PlacementGenerate, PlacementScore, PodGroupPostFilter,
	}
}

// allPoints returns the points and MultiPoint.
func allPoints() []Point {
	return []Point{
		PreEnqueue, QueueSort, PreFilter, Filter, PostFilter, PreScore, Score, Reserve, Permit,
		PreBind, Bind, PostBind, PlacementGenerate, PlacementScore, PodGroupPostFilter, MultiPoint,
	}
}

// buildOrder returns the points in the order in which upstream builds a profile, so
// in the order of its errors.
func buildOrder() []Point {
	return []Point{
		PreFilter, Filter, PostFilter, Reserve, PreScore, Score, PreBind, Bind, PostBind, Permit,
		PreEnqueue, QueueSort, PlacementGenerate, PlacementScore, PodGroupPostFilter,
	}
}

// weighted reports whether the plugins of p have weights.
func (p Point) weighted() bool { return p == Score || p == PlacementScore }

// typeName returns upstream's name of the interface of p, such as ScorePlugin.
func (p Point) typeName() string {
	return strings.ToUpper(string(p[:1])) + string(p[1:]) + "Plugin"
}
