package config_test

import (
	"strings"
	"testing"

	"github.com/berth-sched/berth/scheduling/config"
)

// TestFaultsOfLongTexts: errors about YAML are short, however long the keys and values are that they speak of.
func TestFaultsOfLongTexts(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	for name, text := range map[string]string{
		"a list as a key":              "? [" + strings.Repeat("~,", 50<<10) + "~]\n: 1",
		"lists in lists as a key":      "? - \n  " + strings.Repeat("- \n  ", 10<<10),
		"a mapping as a key":           "? {" + long + ": 1}\n: 1",
		"no number":                    "a: !!int " + long,
		"no fraction":                  "a: !!float " + long,
		"neither true nor false":       "a: !!bool " + long,
		"not null":                     "a: !!null " + long,
		"no time":                      "a: !!timestamp " + long,
		"an unknown anchor":            "a: *" + long,
		"an anchor that has itself":    "&" + long + " [*" + long + "]",
		"an unknown anchor, in a flow": "{a: *" + long + "}",
	} {
		_, plain := config.YAMLToJSON([]byte(text))
		_, _, strict := config.YAMLToJSONStrict([]byte(text))
		_, loaded := config.Load([]byte(text), config.LoadConfig{})
		for reader, err := range map[string]error{"YAMLToJSON": plain, "YAMLToJSONStrict": strict, "Load": loaded} {
			if err == nil || len(err.Error()) > 4<<10 {
				t.Errorf("%s: %s: %.100v, want an error of at most 4 KiB", name, reader, err)
			}
		}
	}
}
