package config

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/berth-sched/berth/scheduling/args"
)

const (
	group             = "kubescheduler.config.k8s.io"
	configurationKind = "KubeSchedulerConfiguration"
)

// A version is a version of the file format.
type version struct {
	name string
	// topLevelProfile: one profile, at the top level of the file.
	topLevelProfile bool
	// perPoint: the default plugins are listed at their points, not at multiPoint.
	perPoint bool
}

// versions returns the supported versions, the newest first.
func (o LoadConfig) versions() []version {
	all := []version{
		{name: "v1"},
		{name: "v1beta3"},
		{name: "v1beta2", perPoint: true},
		{name: "v1alpha1", perPoint: true, topLevelProfile: true},
	}
	if o.OnlyV1 {
		return all[:1]
	}
	return all
}

// apiVersion returns the version as written in files.
func (v version) apiVersion() string { return group + "/" + v.name }

// A header identifies the type of a JSON object.
type header struct {
	apiVersion, group, version, kind string
}

// readHeader returns the header of a JSON value.
func readHeader(raw []byte) (header, error) {
	var meta struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &meta); err != nil {
			return header{}, err
		}
	}
	h := header{apiVersion: meta.APIVersion, kind: meta.Kind}
	switch strings.Count(meta.APIVersion, "/") {
	case 0:
		h.version = meta.APIVersion
	case 1:
		h.group, h.version, _ = strings.Cut(meta.APIVersion, "/")
	default:
		return h, errors.New("unexpected GroupVersion string: " + meta.APIVersion)
	}
	return h, nil
}

// headerProblem returns the problem of a value with an unreadable header.
func headerProblem(path string, err error) Problem {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return Problem{Class: Class(args.BadValue), Field: path, Text: err.Error(), err: err}
	}
	want := "an object"
	if wrong.Field != "" {
		want = "a string"
		if path != "" {
			path += "."
		}
		path += wrong.Field
	}
	got := "a " + wrong.Value
	switch wrong.Value {
	case "array":
		got = "a list"
	case "object":
		got = "an object"
	case "bool":
		got = "true or false"
	}
	text := "got " + got + ", want " + want
	if path != "" {
		text = path + ": " + text
	}
	return Problem{Class: Class(args.WrongType), Field: path, Text: text, err: err}
}
