// Package manifest decodes what kubectl prints and people write, as it comes, and finds the
// line of a field again:
//
//	s := manifest.Source{Name: "pods.yaml"}
//	err := s.Decode(&objects, file)
//	line, found := s.Find("pod default/web", "spec.nodeName")
package manifest
