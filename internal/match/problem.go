package match

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// child returns the path of a field.
func child(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// element returns the path of a list element.
func element(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// invalid describes a bad value in the words of the Kubernetes API. The value is a
// string or a list of strings.
func invalid(path string, value any, detail string) string {
	text, ok := value.(string)
	if ok {
		text = fmt.Sprintf("%q", text)
	} else {
		text = jsonText(value)
	}
	return path + ": Invalid value: " + text + ": " + detail
}

// unsupported describes a value that is not allowed.
func unsupported[T ~string](path string, value T, allowed []T) string {
	quoted := make([]string, len(allowed))
	for i, a := range allowed {
		quoted[i] = fmt.Sprintf("%q", string(a))
	}
	return path + ": Unsupported value: " + jsonText(value) + ": supported values: " + strings.Join(quoted, ", ")
}

func jsonText(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// ProblemsError returns the problems as one error, as kube-scheduler writes them: the text of a single problem, or
// all different ones in brackets. It returns nil if there are none.
func ProblemsError(problems []string) error {
	var different []string
	for _, p := range problems {
		if !slices.Contains(different, p) {
			different = append(different, p)
		}
	}
	switch len(different) {
	case 0:
		return nil
	case 1:
		return errors.New(different[0])
	}
	return errors.New("[" + strings.Join(different, ", ") + "]")
}
