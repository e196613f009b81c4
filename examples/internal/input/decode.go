package input

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/simulate"
)

// decode adds the objects in data to o. The content decides the format: tables of
// the OpenB trace begin with a line of column names, and JSON begins with a brace.
// Everything else is YAML, also data that begins with a brace but is not JSON.
func decode(o *api.Objects, data []byte) error {
	if simulate.IsOpenB(data) {
		return simulate.DecodeOpenB(o, data)
	}
	var jsonErr *api.SyntaxError
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		if err := o.Decode(data); !errors.As(err, &jsonErr) {
			return err
		}
	}
	documents, err := config.YAMLToJSON(data)
	switch {
	case err != nil && jsonErr != nil:
		return jsonErr
	case err != nil:
		return err
	}
	for i, d := range documents {
		if d[0] != '{' && d[0] != '[' { // a list has an error of its own
			return &api.InvalidError{Object: fmt.Sprintf("document %d", i+1), Value: string(d), Err: errors.New("is no Kubernetes object")}
		}
	}
	return o.Decode(bytes.Join(documents, []byte("\n")))
}
