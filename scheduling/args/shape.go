package args

// UtilizationShapePoint is a point of a scoring function: the score of a node at a
// utilization.
type UtilizationShapePoint struct {
	Utilization int32 `json:"utilization"` // percent, 0 to 100
	Score       int32 `json:"score"`       // 0 to 10
}

const (
	maxUtilization = 100
	maxShapeScore  = 10
)

// validateShape checks a scoring function: at least one point, utilization strictly
// increasing (only the first violation is reported), everything in range.
func validateShape(path string, shape []UtilizationShapePoint) []FieldError {
	if len(shape) == 0 {
		return []FieldError{Required(path, "at least one point must be specified")}
	}
	var errs []FieldError
	for i := 1; i < len(shape); i++ {
		if shape[i-1].Utilization >= shape[i].Utilization {
			errs = append(errs, Invalid(child(index(path, i), "utilization"), shape[i].Utilization, "values must be sorted in increasing order"))
			break
		}
	}
	for i, p := range shape {
		if p.Utilization < 0 || p.Utilization > maxUtilization {
			errs = append(errs, Invalid(child(index(path, i), "utilization"), p.Utilization, "not in valid range [0, 100]"))
		}
		if p.Score < 0 || p.Score > maxShapeScore {
			errs = append(errs, Invalid(child(index(path, i), "score"), p.Score, "not in valid range [0, 10]"))
		}
	}
	return errs
}
