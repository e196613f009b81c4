// Package dump writes the text of a cluster as "kubectl get nodes -o json" and
// "kubectl get pods -A -o json" print it, for tests and benchmarks of decoding.
//
// The objects have all the parts that a real cluster fills in: probes, environments,
// projected tokens under a name of their own in each pod, conditions, and container
// states. Pods come from templates of 20 replicas each. Everything is a function of
// the indexes, so equal sizes give equal bytes.
package dump

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"
)

// Config says how much to write.
type Config struct {
	Nodes, Pods   int
	ManagedFields bool // as with --show-managed-fields, and as the API server sends them
}

// replicas is the number of pods of a template.
const replicas = 20

type (
	object = map[string]any
	list   = []any
)

// NodeList returns the text of the nodes.
func (c Config) NodeList() []byte { return kubectl(c.Nodes, c.node) }

// PodList returns the text of the pods.
func (c Config) PodList() []byte { return kubectl(c.Pods, c.pod) }

// kubectl writes a list as kubectl does: with the keys sorted, and four spaces to a
// level.
func kubectl(n int, item func(int) object) []byte {
	var b bytes.Buffer
	b.WriteString("{\n    \"apiVersion\": \"v1\",\n    \"items\": [")
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n        ")
		text, err := json.MarshalIndent(item(i), "        ", "    ")
		if err != nil {
			panic("dump: " + err.Error()) // maps of strings and numbers always have a text
		}
		b.Write(text)
	}
	b.WriteString("\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n")
	return b.Bytes()
}

// hash returns some letters and digits, at most 64, that depend on the arguments.
func hash(digits int, args ...any) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, args...)))[:digits]
}

func uid(args ...any) string {
	h := hash(32, args...)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// stamp returns a time, another one for each number.
func stamp(i int) string {
	return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(i) * 97 * time.Second).Format(time.RFC3339)
}

func nodeName(i int) string {
	return fmt.Sprintf("ip-10-%d-%d-%d.eu-central-1.compute.internal", i/10000, i/100%100, i%100)
}
