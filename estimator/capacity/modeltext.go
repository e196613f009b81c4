package capacity

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

// ValidateModelsJSON checks a JSON list of models, the value of a cluster's
// spec.resourceModels, by the rules of [ValidateModels], but exactly as
// Karmada's admission does: where two models meet, both must write the place in
// the same way, but for quotes and space around it. It is for tools that say beforehand what Karmada will refuse.
//
// JSON that is not a list of models is an error too.
//
// Source: Karmada 1.13.
//
// Differs: Karmada never lets models meet at an amount that its parser cannot
// hold in 64 bits with room to spare (100Ti, 1Pi, 1.5Gi), even if both write it
// alike.
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

// textOf returns a quantity as Karmada's parser sees it: without the quotes,
// which a number needs not have, and without the space within them.
func textOf(quantity json.RawMessage) []byte {
	if n := len(quantity); n >= 2 && quantity[0] == '"' && quantity[n-1] == '"' {
		quantity = quantity[1 : n-1]
	}
	return bytes.TrimSpace(quantity)
}
