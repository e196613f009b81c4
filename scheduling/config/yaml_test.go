package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/scheduling/config"
)

func TestYAMLToJSON(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
		err        string
	}{
		{name: "empty"},
		{name: "comments only", text: "# a\n---\n# b\n---\n"},
		{name: "one document", text: "kind: Node\nmetadata: {name: n1}\n", want: []string{`{"kind":"Node","metadata":{"name":"n1"}}`}},
		{name: "several documents", text: "%YAML 1.1\n---\na: 1\n--- # next\nb: 2\n...\n# c\n---\n- 3\n", want: []string{`{"a":1}`, `{"b":2}`, `[3]`}},
		{name: "a document on the marker's line", text: "--- {a: 1}\n--- {b: 2}", want: []string{`{"a":1}`, `{"b":2}`}},
		{name: "a marker inside a text", text: "a: |\n  ---\n  b\n", want: []string{`{"a":"---\nb\n"}`}},
		{name: "line ends of Windows", text: "a: 1\r\n---\r\nb: 2\r\n", want: []string{`{"a":1}`, `{"b":2}`}},
		{name: "keys become strings", text: "1: a\ntrue: b\n1.5: c\n", want: []string{`{"1":"a","1.5":"c","true":"b"}`}},
		{name: "anchors and merges", text: "a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3\n", want: []string{`{"a":{"p":1,"q":2},"b":{"p":1,"q":3}}`}},
		{name: "the last key counts", text: "a: 1\na: 2\n", want: []string{`{"a":2}`}},
		{name: "JSON stream", text: " {\"b\":1,\"a\":2}\n[3]\n", want: []string{`{"b":1,"a":2}`, `[3]`}},
		{name: "flow YAML", text: "{a: 1}\n", want: []string{`{"a":1}`}},
		{name: "long flow YAML", text: "{a: 1} #" + strings.Repeat("x", 1<<20-8), want: []string{`{"a":1}`}},
		{name: "flow YAML that is too long", text: "{a: 1} #" + strings.Repeat("x", 1<<20), err: "line 1: invalid character 'a' looking for beginning of object key string"},
		{name: "broken JSON", text: "{\"a\":\n1", err: "line 2: unexpected EOF"},
		{name: "broken YAML, second document", text: "a: 1\n---\nb:\n\t- 1\n", err: "line 4: found character that cannot start any token"},
		{name: "a text", text: "a: 1\n---\nonly text\n", err: "line 2: the document is neither a mapping nor a list"},
		{name: "a number after JSON", text: "{}\n5", err: "line 2: the document is neither a mapping nor a list"},
		{name: "two flow documents without a marker", text: "a: 1\n--- {b: 1}\n{c: 2}", err: "line 2: did not find expected <document start>"},
		{name: "a mapping as a key", text: "{a: b}: c", err: "line 1: invalid character 'a' looking for beginning of object key string"},
		{name: "null as a key", text: "~: c", err: "line 1: a <nil> cannot be the key of a mapping"},
		{name: "keys that become equal", text: "1: a\n'1': b\n", err: `line 2: the keys of a mapping are not unique: "1"`},
		{name: "not a number", text: "a: .nan", err: "line 1: .nan is a number that JSON does not have; write a finite number"},
		{name: "infinite", text: "---\na: 1\n---\n# .inf\na: [1,\n -.inf]", err: "line 6: -.inf is a number that JSON does not have; write a finite number"},
		{name: "tagged", text: "\na: !!float \".nan\"", err: "line 2: the document has a number that JSON does not have; write a finite number"},
		{name: "a tag directive", text: "# a\n%TAG !a! b\n---\na: !a!c d\n", err: "line 2: %TAG directives are not supported; write tags in full"},
		{name: "a tag directive after a carriage return", text: "\r%TAG !a! b\r---\r- !a!c d", err: "line 1: %TAG directives are not supported; write tags in full"},
		{name: "a tag directive in a text", text: "a: b %TAG c\n", want: []string{`{"a":"b %TAG c"}`}},
		{name: "UTF-16", text: "\xff\xfea\x00:\x00 \x001\x00", err: "line 1: the text is UTF-16; write it as UTF-8"},
		{name: "values of one byte", text: "a:\n [" + strings.Repeat("1,", 200_000) + "]", err: "line 2: too many values for the size of the text"},
		{name: "control character", text: "a: é\n---\nb: \"\x01\"", err: "line 3: control characters are not allowed"},
		{name: "no UTF-8", text: "a: b\n\nc: \xff", err: "line 3: invalid leading UTF-8 octet"},
		{name: "an alias in itself", text: "ok: &a [1]\nok2: *a\n# *b\na: &b\n  c: 'x *b'\n  d: {e: *b}\n", err: "line 6: anchor 'b' value contains itself"},
		{name: "an alias of the second document in itself", text: "a: &b x\nc: *b\n---\na: &b\n- *b\n", err: "line 5: anchor 'b' value contains itself"},
		{name: "an unknown alias", text: "a: '*b'\nc:\n- *b", err: "line 3: unknown anchor 'b' referenced"},
		{name: "many aliases", text: "a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n", err: "line 5: document too large once its aliases are resolved"},
		{name: "many aliases of little", text: "a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n", err: "line 2: document contains excessive aliasing"},
		{name: "a mapping as a key", text: "a: 1\nb:\n  ? {c: d}\n  : e\n", err: `line 3: invalid map key: map[interface {}]interface {}{"c":"d"}`},
		{name: "one key in two forms", text: "a: 1\nb:\n  1: c\n  '1': d\n", err: `line 4: the keys of a mapping are not unique: "1"`},
		{name: "a merge with a number", text: "a: {<<: {b: 1}}\nc:\n  d: 1\n  <<: 3\n", err: "line 4: map merge requires map or sequence of maps as the value"},
		{name: "a tag that does not suit", text: "a: !!int 3\nb: c\nd:\n  e: 1\n  f: !!int x\n", err: "line 5: cannot decode !!str `x` as a !!int"},
		{name: "no base64", text: "a:\n  b: !!binary '***'\n", err: "line 2: !!binary value contains invalid base64 data"},
		{name: "another version of YAML", text: "# a\n%YAML 9.9\n---\na: b\n", err: "line 1: found incompatible YAML document"},
		{name: "many documents", text: strings.Repeat("---\nkind: Namespace\nmetadata:\n  name: a\n", 3) + "---\n5", err: "line 13: the document is neither a mapping nor a list"},
		{name: "grows", text: "a: &a " + strings.Repeat("x", 1<<10) + "\nb: [" + strings.Repeat("*a, ", 100) + "]", err: "line 2: document too large once its aliases are resolved"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			docs, err := config.YAMLToJSON([]byte(tt.text))
			var got []string
			for _, d := range docs {
				got = append(got, string(d))
			}
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Errorf("error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
		})
	}
}
