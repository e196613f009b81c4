package resource

import (
	"strings"
	"testing"
)

func TestNameKinds(t *testing.T) {
	const (
		extended = 1 << iota
		hugePages
		scalar
		qualified
	)
	tests := []struct {
		name Name
		want int
	}{
		{"", 0},
		{CPU, qualified},
		{Memory, qualified},
		{EphemeralStorage, qualified},
		{Pods, qualified},
		{Storage, qualified},
		{"example.com/gpu", extended | scalar | qualified},
		{"nvidia.com/mig-1g.5gb", extended | scalar | qualified},
		{"koordinator.sh/gpu-core", extended | scalar | qualified},
		{"x/y", extended | scalar | qualified},
		{"x/Y_z.0", extended | scalar | qualified},
		{"requests.example.com/gpu", qualified},
		{"requests./gpu", 0},
		{"kubernetes.io/batch-cpu", scalar | qualified},
		{"batch.kubernetes.io/x", scalar | qualified},
		{"kubernetes.io/", scalar},
		{"a//kubernetes.io/b", scalar},
		{"kubernetes.iox/y", extended | scalar | qualified},
		{"hugepages-2Mi", hugePages | scalar | qualified},
		{"hugepages-", hugePages | scalar},
		{"hugepages", qualified},
		{"attachable-volumes-csi-x", scalar | qualified},
		{"attachable-volumes-", scalar},
		{"/gpu", 0},
		{"example.com/", 0},
		{"example.com/gpu/0", 0},
		{"Example.com/gpu", 0},
		{"example_.com/gpu", 0},
		{"-example.com/gpu", 0},
		{"example-.com/gpu", 0},
		{"example.-com/gpu", 0},
		{"example..com/gpu", 0},
		{".com/gpu", 0},
		{"example./gpu", 0},
		{"example-/gpu", 0},
		{"example.com/-gpu", 0},
		{"example.com/gpu.", 0},
		{"example.com/g pu", 0},
		{"example.com/gpü", 0},
		{"gpu\n", 0},
		{Name(strings.Repeat("n", 63)), qualified},
		{Name(strings.Repeat("n", 64)), 0},
		{Name("x/" + strings.Repeat("n", 64)), 0},
		// In a quota, a name carries "requests." before its domain, and both share
		// the 253 bytes.
		{Name(strings.Repeat("d", 244) + "/n"), extended | scalar | qualified},
		{Name(strings.Repeat("d", 245) + "/n"), qualified},
		{Name(strings.Repeat("d", 253) + "/n"), qualified},
		{Name(strings.Repeat("d", 254) + "/n"), 0},
	}
	for _, test := range tests {
		t.Run(string(test.name), func(t *testing.T) {
			for _, m := range []struct {
				method string
				bit    int
				got    bool
			}{
				{"IsExtended", extended, test.name.IsExtended()},
				{"IsHugePages", hugePages, test.name.IsHugePages()},
				{"IsScalar", scalar, test.name.IsScalar()},
				{"IsQualified", qualified, test.name.IsQualified()},
			} {
				if want := test.want&m.bit != 0; m.got != want {
					t.Errorf("Name(%q).%s() = %t, want %t", test.name, m.method, m.got, want)
				}
			}
		})
	}
}
