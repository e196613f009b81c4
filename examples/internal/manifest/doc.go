// Package manifest decodes what kubectl prints and people write, as it comes, and finds the
// lines of fields again:
//
//	s := manifest.Source{Name: "pods.yaml"}
//	err := s.Decode(&objects, file)
//	field := manifest.Field{Object: "pod default/web", Path: "spec.nodeName"}
//	s.Find([]*manifest.Field{&field})
package manifest
