package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v2"

	"github.com/berth-sched/berth/scheduling/args"
)

// decode reads the file and fills in the defaults.
func (l *loader) decode() (*Configuration, error) {
	p := &problems{stage: StageDecode}
	var c *Configuration
	if l.raw = l.text(p); l.raw != nil {
		doc, ok := l.document(l.raw, p)
		l.countProfiles(len(doc.Profiles), p)
		if ok && !p.hopeless() { // defaults take more than such a text
			c = l.complete(doc, p)
		}
	}
	if err := p.located(l.lines); err != nil {
		return nil, err
	}
	return c, nil
}

// A profile with its defaults takes 12 to 16 KB, however short its text is. So a text may
// have freeProfiles, and one more for each bytesPerProfile bytes.
const (
	freeProfiles    = 100
	bytesPerProfile = 256
)

// countProfiles records a problem if there are too many profiles for the size of the text.
func (l *loader) countProfiles(n int, p *problems) {
	if most := freeProfiles + len(l.data)/bytesPerProfile; n > most {
		p.fields("", []args.FieldError{{
			Type: args.TooMany, Field: profilePath(most),
			Detail: fmt.Sprintf("more than %d elements in a text of %d bytes", most, len(l.data)),
		}})
	}
}

// text returns the file as JSON, nil if it cannot be read.
func (l *loader) text(p *problems) []byte {
	limit := l.options.MaxBytes
	if limit == 0 {
		limit = DefaultMaxBytes
	}
	if len(l.data) > limit {
		p.add(Problem{Class: TooLarge, Line: lineAt(l.data, limit), Text: fmt.Sprintf("the configuration has %d bytes, more than %d", len(l.data), limit)})
		return nil
	}
	if looksLikeJSON(l.data) {
		var whole json.RawMessage
		if err := json.Unmarshal(l.data, &whole); err != nil {
			line, text := cutLine(jsonError(l.data, err, 0).Error())
			p.add(Problem{Class: Class(args.Syntax), Line: line, Text: text, err: err})
			return nil
		}
		if at := deepJSON(l.data); at >= 0 {
			p.add(Problem{Class: Class(args.Syntax), Line: lineAt(l.data, at), Text: errNestingJSON.Error(), err: errNestingJSON})
			return nil
		}
		return whole
	}
	decode := func(v any) (err error) {
		l.repeated, err = repeatedKeys(yaml.UnmarshalStrict(l.data, v))
		return err
	}
	var raw []byte
	err := checkYAML(l.data, loadCost)
	if err == nil {
		if raw, err = yamlToJSON(decode, len(l.data)); err != nil {
			err = yamlFault(l.data, 0, err)
		}
	}
	if err == errNotFinite {
		err = notFinite(yamlDocument{l.data, 1})
	}
	if err != nil {
		line, text := cutLine(err.Error())
		p.add(Problem{Class: Class(args.Syntax), Line: line, Text: text, err: err})
		return nil
	}
	return raw
}

// document decodes the JSON of a file of any version. It fails unless that is a
// KubeSchedulerConfiguration of a supported version.
func (l *loader) document(raw []byte, p *problems) (document, bool) {
	h, err := readHeader(raw)
	if err != nil {
		p.add(headerProblem("", err))
		return document{}, false
	}
	known := false
	versions := l.options.versions()
	for _, v := range versions {
		if h.apiVersion == v.apiVersion() {
			l.version, known = v, true
		}
	}
	decoder, isArgs := l.preset.kind(h.kind)
	switch {
	case h.kind == "":
		p.add(Problem{Class: MissingKind, Text: "Object 'Kind' is missing: want kind: " + configurationKind})
	case h.version == "":
		p.add(Problem{Class: MissingVersion, Text: "Object 'apiVersion' is missing: want apiVersion: " + versions[0].apiVersion()})
	case known && h.kind == configurationKind:
		l.duplicates(p)
		return l.decodeDocument(raw, p), true
	case known && isArgs:
		l.duplicates(p)
		_, errs := decoder(raw)
		p.fields("", errs)
		p.add(Problem{Class: WrongKind, Field: "kind", Text: fmt.Sprintf("kind: got %s, want %s", h.kind, configurationKind)})
	default:
		names := make([]string, len(versions))
		for i, v := range versions {
			names[i] = v.apiVersion()
		}
		p.add(Problem{Class: UnknownKind, Field: "apiVersion", Text: fmt.Sprintf("no kind %q is registered for version %q; want kind %s of version %s%s",
			h.kind, h.apiVersion, configurationKind, strings.Join(names, ", "), hintFor(h.kind))})
	}
	return document{}, false
}

// hintFor says where to find the configuration in an object kind that usually wraps
// one.
func hintFor(kind string) string {
	if kind != "ConfigMap" {
		return ""
	}
	return "; the configuration is the text of a key under the ConfigMap's data: load that text alone, " +
		"after registering the plugins that it names and kube-scheduler lacks (scheduling.LoadAware registers Koordinator's)"
}

// duplicates records keys that occur twice in a mapping of the file. Only YAML needs
// this: its conversion to JSON hides them.
func (l *loader) duplicates(p *problems) {
	for _, text := range l.repeated {
		line, text := cutLine(text)
		p.add(Problem{Class: DuplicateKey, Line: line, Text: text})
	}
}

// kind returns the decoder for arguments of an API kind.
func (p Preset) kind(kind string) (args.Decoder, bool) {
	name, ok := strings.CutSuffix(kind, "Args")
	decoder := p.Plugins[name].Args
	return decoder, ok && decoder != nil
}

// decodeDocument decodes the JSON of a file of a known version into v1's shape.
func (l *loader) decodeDocument(raw []byte, p *problems) document {
	switch {
	case l.version.topLevelProfile:
		doc := documentV1alpha1{settings: newSettings()}
		p.fields("", args.Decode(raw, &doc))
		return document{settings: doc.settings, Profiles: []profileDocument{{
			SchedulerName: doc.SchedulerName, Plugins: doc.Plugins, PluginConfig: doc.PluginConfig,
		}}}
	case l.version.perPoint:
		doc := documentV1beta2{document: document{settings: newSettings()}}
		p.fields("", args.Decode(raw, &doc))
		return doc.document
	default:
		doc := document{settings: newSettings()}
		p.fields("", args.Decode(raw, &doc))
		return doc
	}
}

// decodeArgs returns the arguments of a plugin with a decoder, decoded from raw; nil raw
// means none.
func (l *loader) decodeArgs(path, plugin string, raw json.RawMessage, p *problems) any {
	decoder := l.preset.Plugins[plugin].Args
	version, ok := l.isArgsOf(plugin, path, raw, p)
	if !ok {
		return nil
	}
	decoded, errs := decoder(raw)
	p.fields(path, errs)
	if v, ok := decoded.(interface{ GivenIn(apiVersion string) }); ok {
		v.GivenIn(version)
	}
	return decoded
}

// isArgsOf checks the kind and version that arguments may state: the plugin's kind,
// and the version of the file or v1. It returns the version.
func (l *loader) isArgsOf(plugin, path string, raw json.RawMessage, p *problems) (version string, ok bool) {
	h, err := readHeader(raw)
	if err != nil {
		p.add(headerProblem(path, err))
		return "", false
	}
	want := plugin + "Args"
	h.kind = cmp.Or(h.kind, want)
	if h.version == "" && (h.group == "" || h.group == group) {
		h.apiVersion = l.version.apiVersion()
	}
	known := h.apiVersion == args.APIVersion || h.apiVersion == l.version.apiVersion()
	decoder, isArgs := l.preset.kind(h.kind)
	switch {
	case !known || !isArgs && h.kind != configurationKind:
		p.add(Problem{Class: UnknownKind, Field: path, Text: fmt.Sprintf("%s: no kind %q is registered for version %q", path, h.kind, h.apiVersion)})
		return "", false
	case h.kind == want:
		return h.apiVersion, true
	}
	errs := args.Decode(raw, new(document))
	if isArgs {
		_, errs = decoder(raw)
	}
	p.fields(path, hard(errs))
	p.add(Problem{Class: ArgsKind, Field: path, Text: fmt.Sprintf("%s: args for plugin %s were not of type %s, got %s", path, plugin, want, h.kind)})
	return "", false
}

// hard returns the errors other than unknown and duplicate fields.
func hard(errs []args.FieldError) []args.FieldError {
	var out []args.FieldError
	for _, e := range errs {
		if e.Type != args.UnknownField && e.Type != args.DuplicateField {
			out = append(out, e)
		}
	}
	return out
}

// pluginConfigPath returns the path of the arguments of a pluginConfig entry.
func pluginConfigPath(profile, entry int) string {
	return profilePath(profile) + ".pluginConfig[" + strconv.Itoa(entry) + "].args"
}

func profilePath(i int) string { return "profiles[" + strconv.Itoa(i) + "]" }
