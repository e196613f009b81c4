package capacity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/errtext"
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
	var read list[struct {
		Grade  uint
		Ranges list[api.ResourceModelRange]
	}]
	if err := decodeModels(data, &read); err != nil {
		return err
	}
	models := make([]api.ResourceModel, len(read))
	for i, m := range read {
		models[i] = api.ResourceModel{Grade: m.Grade, Ranges: m.Ranges}
	}
	var written list[struct {
		Ranges list[struct{ Min, Max json.RawMessage }]
	}]
	if err := decodeModels(data, &written); err != nil {
		return err
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

func decodeModels(data []byte, to any) error {
	err := json.Unmarshal(data, to)
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		err = fmt.Errorf("a JSON %s does not belong there", errtext.Cut(kind.Value, maxErrorText))
	}
	return &api.InvalidError{Field: modelsField, Err: fmt.Errorf("not a list of resource models: %w", err)}
}

// maxErrorText is the number of bytes of a text that an error prints.
const maxErrorText = 64

// list is a slice that is read from JSON in one piece of memory. Slices that grow leave
// several times their size behind, which makes a short text of many small elements costly.
type list[T any] []T

// UnmarshalJSON reads a list.
func (l *list[T]) UnmarshalJSON(data []byte) error {
	*l = make([]T, 0, elements(data))
	return json.Unmarshal(data, (*[]T)(l))
}

// elements returns how many elements a list in valid JSON has, or 1 if it has none.
func elements(data []byte) int {
	n, depth := 1, 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 1 {
				n++
			}
		case '"':
			for i++; data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		}
	}
	return n
}
