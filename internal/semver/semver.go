// Package semver reads and compares semantic versions, as semver.org 2.0.0 defines them.
package semver

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Version is a semantic version without its build data, which nothing compares.
type Version struct {
	Number [3]uint64 // major, minor, patch
	Size   int       // bytes of the text
	pre    []preRelease
}

// A preRelease is one identifier of a pre-release: a number or a text.
type preRelease struct {
	number uint64
	text   string
}

// Valid reports whether text is a semantic version. Its numbers may have any size.
func Valid(text string) bool {
	_, err := read(text, func(digits string) (uint64, error) { return 0, checkNumber(digits) })
	return err == nil
}

// Parse reads a semantic version whose numbers fit 64 bits.
//
// Source: github.com/blang/semver/v4.
func Parse(text string) (*Version, error) {
	v, err := read(text, number)
	if err != nil {
		return nil, fmt.Errorf("version %.80q: %w", text, err)
	}
	return v, nil
}

// read reads a version, and its numbers by a function.
func read(text string, number func(digits string) (uint64, error)) (*Version, error) {
	if text == "" {
		return nil, errors.New("it is empty")
	}
	parts := strings.SplitN(text, ".", 3)
	if len(parts) != 3 {
		return nil, errors.New("it is not major.minor.patch")
	}
	patch, build, hasBuild := strings.Cut(parts[2], "+")
	patch, pre, hasPre := strings.Cut(patch, "-")
	v := &Version{Size: len(text)}
	for i, part := range [3]string{parts[0], parts[1], patch} {
		var err error
		if v.Number[i], err = number(part); err != nil {
			return nil, err
		}
	}
	if hasPre {
		for id := range strings.SplitSeq(pre, ".") {
			p, err := readPreRelease(id, number)
			if err != nil {
				return nil, err
			}
			v.pre = append(v.pre, p)
		}
	}
	if hasBuild {
		for id := range strings.SplitSeq(build, ".") {
			if !isIdentifier(id) {
				return nil, fmt.Errorf("invalid build meta data %.80q", id)
			}
		}
	}
	return v, nil
}

// checkNumber checks the digits of a number.
func checkNumber(text string) error {
	if text == "" || !isNumeric(text) {
		return fmt.Errorf("%.80q is no number", text)
	}
	if len(text) > 1 && text[0] == '0' {
		return fmt.Errorf("the number %.80q has a leading zero", text)
	}
	return nil
}

// number reads a number.
func number(text string) (uint64, error) {
	if err := checkNumber(text); err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the number %.80q is too large", text)
	}
	return n, nil
}

// readPreRelease reads one identifier of a pre-release, and by a function if it is a number.
func readPreRelease(id string, number func(digits string) (uint64, error)) (preRelease, error) {
	switch {
	case id == "":
		return preRelease{}, errors.New("empty part of a pre-release")
	case isNumeric(id):
		n, err := number(id)
		return preRelease{number: n}, err
	case isIdentifier(id):
		return preRelease{text: id}, nil
	}
	return preRelease{}, fmt.Errorf("invalid part %.80q of a pre-release", id)
}

func isNumeric(text string) bool { return strings.Trim(text, "0123456789") == "" }

// isIdentifier reports whether text may stand between the dots of a pre-release or of build
// data.
func isIdentifier(text string) bool {
	for i := range len(text) {
		if c := text[i]; c != '-' && !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return text != ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// ParseLoose also reads versions with a leading v, with leading zeros, and
// without minor or patch.
func ParseLoose(text string) (*Version, error) {
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
	return Parse(strings.Join(parts, "."))
}

// Compare returns -1, 0 or 1 by the precedence of versions.
func (v *Version) Compare(o *Version) int {
	for i := range v.Number {
		if c := cmp.Compare(v.Number[i], o.Number[i]); c != 0 {
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
