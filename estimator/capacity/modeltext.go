package capacity

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

// ValidateModelsJSON checks a JSON list of models, the value of a cluster's
// spec.resourceModels. It applies the rules of [ValidateModels] exactly as
// Karmada's admission does: where two models meet, both must write the border in
// the same way, apart from quotes and spaces around it. Use it in tools to predict
// Karmada's refusals.
//
// It returns an error for JSON that is not a list of models.
//
// Source: Karmada 1.13.
//
// Differs: borders that Karmada's parser cannot safely hold in 64 bits (100Ti, 1Pi,
// 1.5Gi).
// Original: models never meet there, even if both write the border alike.
// Here: they meet.
// Why: the models are valid; whether they pass must not depend on the parser.
func ValidateModelsJSON(data []byte) error {
	var models []api.ResourceModel
	if err := json.Unmarshal(data, &models); err != nil {
		return &api.InvalidError{Field: modelsField, Err: fmt.Errorf("not a list of resource models: %w", err)}
	}
	var written []struct {
		Ranges []struct{ Min, Max json.RawMessage }
	}
	if err := json.Unmarshal(data, &written); err != nil {
		return &api.InvalidError{Field: modelsField, Err: fmt.Errorf("not a list of resource models: %w", err)}
	}
	return firstViolation(models, func(i, j int) bool {
		return bytes.Equal(textOf(written[i-1].Ranges[j].Max), textOf(written[i].Ranges[j].Min))
	})
}

// textOf returns a quantity as Karmada's parser sees it: without quotes, which a
// number may lack, and without spaces inside them.
func textOf(quantity json.RawMessage) []byte {
	if n := len(quantity); n >= 2 && quantity[0] == '"' && quantity[n-1] == '"' {
		quantity = quantity[1 : n-1]
	}
	return bytes.TrimSpace(quantity)
}
