package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Duration is a time.Duration whose JSON form is text such as "1m30s".
type Duration struct{ time.Duration }

// MarshalJSON returns the duration as a JSON string.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads a JSON string in the form of time.ParseDuration. Null leaves
// d unchanged.
func (d *Duration) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return errors.New("want a string such as \"5m0s\"")
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return errors.New("want a number with a unit, such as \"5m0s\"")
	}
	d.Duration = v
	return nil
}

// IntOrString is a number or a text, such as 3 or "25%".
type IntOrString struct {
	Type   IntOrStringType
	IntVal int32
	StrVal string
}

// IntOrStringType says which field of an IntOrString counts.
type IntOrStringType int

// The types of an IntOrString.
const (
	Int    IntOrStringType = iota // IntVal counts
	String                        // StrVal counts
)

// String returns the value as text.
func (v IntOrString) String() string {
	if v.Type == String {
		return v.StrVal
	}
	return strconv.Itoa(int(v.IntVal))
}

// MarshalJSON returns a JSON number or string.
func (v IntOrString) MarshalJSON() ([]byte, error) {
	switch v.Type {
	case Int:
		return json.Marshal(v.IntVal)
	case String:
		return json.Marshal(v.StrVal)
	default:
		return nil, fmt.Errorf("IntOrString of type %d", int(v.Type))
	}
}

// UnmarshalJSON reads a JSON number or string. Null leaves v unchanged.
func (v *IntOrString) UnmarshalJSON(data []byte) error {
	switch {
	case string(data) == "null":
		return nil
	case len(data) > 0 && data[0] == '"':
		*v = IntOrString{Type: String}
		return json.Unmarshal(data, &v.StrVal)
	default:
		*v = IntOrString{Type: Int}
		if err := json.Unmarshal(data, &v.IntVal); err != nil {
			return errors.New("want an integer of 32 bits or a string")
		}
		return nil
	}
}
