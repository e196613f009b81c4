package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-sched/berth/scheduling"
)

// DefaultMaxBytes is the largest text that [Load] accepts by default: as much as a
// ConfigMap can hold.
const DefaultMaxBytes = 1 << 20

// LoadConfig configures Load. The zero value loads files for kube-scheduler 1.37.
type LoadConfig struct {
	// Preset is the release that defines plugins and defaults. The zero value means
	// the preset of Registry's release, or [Kubernetes137] if it has none.
	Preset Preset
	// Registry makes the plugins when profiles are built, and describes the plugins
	// that the preset does not have. nil means the registry of the preset's release.
	Registry *scheduling.Registry
	// Plugins describes plugins besides the preset's, by name, so that you can
	// examine a file without a Registry that has them. If the preset has the name
	// too, Load panics, because registering a plugin twice fails upstream. To
	// replace an in-tree plugin, change the preset.
	Plugins map[string]Known
	// OnlyV1 rejects the versions before v1, as kube-scheduler 1.37 does.
	OnlyV1 bool
	// ReadFile reads the certificates that extenders name, so that unreadable ones
	// are reported; it may be os.ReadFile. nil leaves them unread.
	ReadFile func(name string) ([]byte, error)
	// MaxBytes bounds the text; 0 means DefaultMaxBytes.
	MaxBytes int
}

// Load reads a KubeSchedulerConfiguration, fills in the defaults, validates it and
// resolves its profiles. The error is an [*Error] with every problem of the first
// stage that found any.
//
// Load reads only the first document of a YAML stream, as upstream does. Text that
// starts with a brace is read as JSON only.
//
// Time and memory are linear in the size of data, which is bounded. Nesting and
// growth by aliases have the bounds of [YAMLToJSON]; beyond about 5,000 values YAML text
// must have some 10 bytes for each; lists and objects in JSON may nest
// 1,000 levels.
//
// Differs: very many short profiles.
// Original: kube-scheduler reads any number of profiles.
// Here: a text may have 100 profiles, and one more for each 256 bytes.
// Why: each takes 12 to 16 KB with its defaults, even if its text has 20 bytes.
func Load(data []byte, o LoadConfig) (*Configuration, error) {
	o.complete()
	preset := o.preset()
	l := &loader{options: o, preset: preset, data: data}
	c, err := l.decode()
	if err != nil {
		return nil, err
	}
	if err := l.validate(c); err != nil {
		return nil, err
	}
	if err := l.build(c); err != nil {
		return nil, err
	}
	c.registry, c.preset, c.readFile = o.Registry, o.Preset, o.ReadFile
	return c, nil
}

// complete fills in the registry and the preset, each by the other's release.
func (o *LoadConfig) complete() {
	if o.Preset.Plugins == nil {
		o.Preset = Kubernetes137()
		if o.Registry != nil {
			switch o.Registry.Release() {
			case "1.18":
				o.Preset = Kubernetes118()
			case "1.34":
				o.Preset = Kubernetes134()
			}
		}
	}
	if o.Registry == nil {
		switch o.Preset.Release {
		case "1.18":
			o.Registry = scheduling.Kubernetes118Registry()
		case "1.34":
			o.Registry = scheduling.Kubernetes134Registry()
		case "1.37":
			o.Registry = scheduling.Kubernetes137Registry()
		default:
			o.Registry = scheduling.NewRegistry()
		}
	}
}

// preset returns the preset with all plugins in its table.
func (o LoadConfig) preset() Preset {
	p := o.Preset.clone()
	for _, name := range slices.Sorted(maps.Keys(o.Plugins)) {
		if _, twice := p.Plugins[name]; twice {
			panic(fmt.Sprintf("config: a plugin named %q already exists", name))
		}
		p.Plugins[name] = o.Plugins[name]
	}
	p.register(o.Registry)
	return p
}

// A loader holds the state that the stages of loading share.
type loader struct {
	options  LoadConfig
	preset   Preset
	data     []byte
	raw      []byte   // the document as JSON
	repeated []string // errors about keys that are given twice in a mapping of YAML
	version  version
	places   *place
	perPoint *Plugins // the default plugins at each point, once they are needed
}

// lines returns the places of the file's values.
func (l *loader) lines() *place {
	if l.places == nil {
		if l.places = placesOf(l.data, loadPlaceCost); l.places == nil {
			l.places = new(place)
		}
		if l.version.topLevelProfile && l.places.fields != nil {
			profiles := &place{items: []*place{{fields: l.places.fields}}}
			if own := l.places.fields["profiles"]; own != nil {
				profiles.line = own.line // of a field that must not exist
			}
			l.places.fields["profiles"] = profiles
		}
	}
	return l.places
}
