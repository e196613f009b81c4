package expr

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A version is a semantic version without its build data, which nothing compares.
type version struct {
	number [3]uint64
	pre    []preRelease
	size   int // bytes of the text
}

// A preRelease is one identifier of a pre-release: a number or a text.
type preRelease struct {
	number uint64
	text   string
}

// parseVersion reads a semantic version.
//
// Source: github.com/blang/semver/v4.
func parseVersion(text string) (*version, error) {
	v, err := readVersion(text)
	if err != nil {
		return nil, fmt.Errorf("version %.80q: %w", text, err)
	}
	return v, nil
}

func readVersion(text string) (*version, error) {
	if text == "" {
		return nil, errors.New("it is empty")
	}
	parts := strings.SplitN(text, ".", 3)
	if len(parts) != 3 {
		return nil, errors.New("it is not major.minor.patch")
	}
	patch, build, hasBuild := strings.Cut(parts[2], "+")
	patch, pre, hasPre := strings.Cut(patch, "-")
	v := &version{size: len(text)}
	for i, part := range [3]string{parts[0], parts[1], patch} {
		var err error
		if v.number[i], err = versionNumber(part); err != nil {
			return nil, err
		}
	}
	if hasPre {
		for id := range strings.SplitSeq(pre, ".") {
			p, err := parsePreRelease(id)
			if err != nil {
				return nil, err
			}
			v.pre = append(v.pre, p)
		}
	}
	if hasBuild {
		for id := range strings.SplitSeq(build, ".") {
			if id == "" || !isIdentifier(id) {
				return nil, fmt.Errorf("invalid build meta data %.80q", id)
			}
		}
	}
	return v, nil
}

func versionNumber(text string) (uint64, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, fmt.Errorf("%.80q is no number", text)
	}
	if len(text) > 1 && text[0] == '0' {
		return 0, fmt.Errorf("the number %.80q has a leading zero", text)
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the number %.80q is too large", text)
	}
	return n, nil
}

func parsePreRelease(id string) (preRelease, error) {
	switch {
	case id == "":
		return preRelease{}, errors.New("empty part of a pre-release")
	case strings.Trim(id, "0123456789") == "":
		n, err := versionNumber(id)
		return preRelease{number: n}, err
	case isIdentifier(id):
		return preRelease{text: id}, nil
	}
	return preRelease{}, fmt.Errorf("invalid part %.80q of a pre-release", id)
}

func isIdentifier(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '-' && (c == '_' || !isLetter(c) && !isDigit(c)) {
			return false
		}
	}
	return true
}

// parseLooseVersion also reads versions with a leading v, with leading zeros, and
// without minor or patch.
func parseLooseVersion(text string) (*version, error) {
	parts := strings.SplitN(strings.TrimPrefix(text, "v"), ".", 3)
	for i, p := range parts {
		if len(p) > 1 {
			if p = strings.TrimLeft(p, "0"); p == "" || !isDigit(p[0]) {
				p = "0" + p
			}
			parts[i] = p
		}
	}
	if len(parts) < 3 && strings.ContainsAny(parts[len(parts)-1], "+-") {
		return nil, errors.New("short version cannot contain PreRelease/Build meta data")
	}
	for len(parts) < 3 {
		parts = append(parts, "0")
	}
	return parseVersion(strings.Join(parts, "."))
}

// compare returns -1, 0 or 1 by the precedence of versions.
func (v *version) compare(o *version) int {
	for i := range v.number {
		if c := cmp.Compare(v.number[i], o.number[i]); c != 0 {
			return c
		}
	}
	switch {
	case len(v.pre) == 0 && len(o.pre) == 0:
		return 0
	case len(v.pre) == 0:
		return 1
	case len(o.pre) == 0:
		return -1
	}
	for i := range min(len(v.pre), len(o.pre)) {
		if c := v.pre[i].compare(o.pre[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(v.pre), len(o.pre))
}

// compare puts numbers before texts.
func (p preRelease) compare(q preRelease) int {
	return cmp.Or(cmp.Compare(min(len(p.text), 1), min(len(q.text), 1)), cmp.Compare(p.number, q.number), strings.Compare(p.text, q.text))
}
