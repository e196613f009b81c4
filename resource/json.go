package resource

import "bytes"

// MarshalJSON returns the canonical text of q as a JSON string. It never fails.
func (q Quantity) MarshalJSON() ([]byte, error) {
	dst := append(make([]byte, 0, 24), '"')
	return append(q.appendTo(dst), '"'), nil
}

// UnmarshalJSON sets q to the quantity in a JSON string or number; null is 0. It
// ignores spaces around the text. Like Kubernetes it takes the text literally, so a
// string with escapes is an error. The error is a [*SyntaxError]; q is then
// unchanged.
func (q *Quantity) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*q = Quantity{}
		return nil
	}
	if n := len(data); n >= 2 && data[0] == '"' && data[n-1] == '"' {
		data = data[1 : n-1]
	}
	parsed, err := Parse(string(bytes.TrimSpace(data)))
	if err != nil {
		return err
	}
	*q = parsed
	return nil
}
