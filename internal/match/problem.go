package match

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/internal/errtext"
)

// child returns the path of a field.
func child(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// root is the path of what is named by nothing but its fields.
func root() string { return "" }

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
	return cut(path) + ": Invalid value: " + cut(text) + ": " + detail
}

// maxText is the number of bytes of others' text that an error prints. kube-scheduler's
// own texts are as long as labels and selectors that an API server accepts, which is far
// less.
const maxText = 1 << 10

func cut(s string) string { return errtext.Cut(s, maxText) }

// unsupported describes a value that is not allowed.
func unsupported[T ~string](path string, value T, allowed []T) string {
	quoted := make([]string, len(allowed))
	for i, a := range allowed {
		quoted[i] = fmt.Sprintf("%q", string(a))
	}
	return path + ": Unsupported value: " + cut(jsonText(value)) + ": supported values: " + strings.Join(quoted, ", ")
}

func jsonText(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// ProblemsError returns the problems as one error, as kube-scheduler writes them: the text of a single problem, or
// all different ones, but no more than 100, in brackets. It returns nil if there are none.
func ProblemsError(problems []string) error {
	var different []string
	for _, p := range problems {
		if len(different) < maxProblems && !slices.Contains(different, p) {
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
