package api

import (
	"errors"
	"strconv"
	"strings"
)

// ParseLabelSelector reads a selector in the notation of "kubectl get -l", such
// as
//
//	app=web, tier in (front, back), stage!=test, track, !legacy
//
// Requirements are separated by commas and must all hold. An equality becomes an
// entry of MatchLabels, any other requirement an entry of MatchExpressions. The
// empty text gives a selector for everything. The error is an [*InvalidError].
//
// Differs: a missing value in a set, as in "a in ()" and "a in (b,)".
// Original: kubectl reads it as the empty value.
// Here: it is an error.
// Why: it is more often a mistake than a wish.
//
// Differs: characters in keys and values that Kubernetes does not allow in labels.
// Original: kubectl refuses them.
// Here: they are not checked.
// Why: such a selector is harmless: no valid label matches it.
//
// Source: k8s.io/apimachinery v0.37, pkg/labels.
func ParseLabelSelector(text string) (*LabelSelector, error) {
	reqs, err := parseSelector(text)
	if err != nil {
		return nil, err
	}
	s := new(LabelSelector)
	for i, r := range reqs {
		if r.Operator == NodeSelectorOpGt || r.Operator == NodeSelectorOpLt {
			return nil, selectorError(text, "labels of pods are not compared with > and <")
		}
		if _, taken := s.MatchLabels[r.Key]; r.equality && !taken {
			if s.MatchLabels == nil {
				s.MatchLabels = map[string]string{}
			}
			s.MatchLabels[r.Key] = r.Values[0]
			continue
		}
		if s.MatchExpressions == nil {
			s.MatchExpressions = make([]LabelSelectorRequirement, 0, len(reqs)-i)
		}
		s.MatchExpressions = append(s.MatchExpressions, LabelSelectorRequirement{
			Key: r.Key, Operator: LabelSelectorOperator(r.Operator), Values: r.Values,
		})
	}
	return s, nil
}

// ParseNodeSelectorTerm reads a term of a node selector in the notation of
// [ParseLabelSelector], with two more operators: "cores>4" and "cores<64". The key
// metadata.name makes a requirement on the field instead of a label. The empty text
// gives a term without requirements, which selects nothing.
func ParseNodeSelectorTerm(text string) (NodeSelectorTerm, error) {
	var t NodeSelectorTerm
	reqs, err := parseSelector(text)
	for i, r := range reqs {
		if r.Key == "metadata.name" {
			t.MatchFields = append(t.MatchFields, r.NodeSelectorRequirement)
		} else {
			if t.MatchExpressions == nil {
				t.MatchExpressions = make([]NodeSelectorRequirement, 0, len(reqs)-i)
			}
			t.MatchExpressions = append(t.MatchExpressions, r.NodeSelectorRequirement)
		}
	}
	return t, err
}

// A requirement is one part of a selector. equality marks the form "key=value".
type requirement struct {
	NodeSelectorRequirement
	equality bool
}

func selectorError(text, problem string) error {
	return &InvalidError{Object: "selector", Value: text, Err: errors.New(problem)}
}

// parseSelector reads the requirements of a selector.
func parseSelector(text string) ([]requirement, error) {
	p := &selectorParser{rest: text}
	p.next()
	if p.token == "" {
		return nil, nil
	}
	reqs := make([]requirement, 0, 1+strings.Count(text, ","))
	for {
		r, problem := p.requirement()
		if problem != "" {
			return nil, selectorError(text, problem)
		}
		reqs = append(reqs, r)
		if p.token == "" {
			return reqs, nil
		}
		if p.token != "," {
			return nil, selectorError(text, "want a comma before "+quoteShort(p.token))
		}
		p.next()
	}
}

// A selectorParser reads tokens: words and the signs ( ) , ! = == != > <. At the
// end of the text the token is empty.
type selectorParser struct {
	rest, token string
}

const (
	selectorSigns  = "(),!=<>"
	selectorSpaces = " \t\r\n"
)

func (p *selectorParser) next() {
	s := strings.TrimLeft(p.rest, selectorSpaces)
	n := strings.IndexAny(s, selectorSigns+selectorSpaces)
	switch {
	case strings.HasPrefix(s, "==") || strings.HasPrefix(s, "!="):
		n = 2
	case n == 0:
		n = 1
	case n < 0:
		n = len(s)
	}
	p.token, p.rest = s[:n], s[n:]
}

// word consumes a word; there must be one.
func (p *selectorParser) word() (w, problem string) {
	if p.token == "" || strings.ContainsAny(p.token, selectorSigns) {
		return "", "want a word, got " + quoteShort(p.token)
	}
	w = p.token
	p.next()
	return w, ""
}

// requirement consumes one requirement.
func (p *selectorParser) requirement() (r requirement, problem string) {
	r.Operator = NodeSelectorOpExists
	if p.token == "!" {
		r.Operator = NodeSelectorOpDoesNotExist
		p.next()
	}
	if r.Key, problem = p.word(); problem != "" || r.Operator == NodeSelectorOpDoesNotExist {
		return r, problem
	}
	sign := p.token
	switch sign {
	case "=", "==":
		r.Operator, r.equality = NodeSelectorOpIn, true
	case "!=", "notin":
		r.Operator = NodeSelectorOpNotIn
	case "in":
		r.Operator = NodeSelectorOpIn
	case ">":
		r.Operator = NodeSelectorOpGt
	case "<":
		r.Operator = NodeSelectorOpLt
	default:
		return r, ""
	}
	p.next()
	if sign == "in" || sign == "notin" {
		r.Values, problem = p.set()
		return r, problem
	}
	value := ""
	if p.token != "" && p.token != "," { // "key=" is the empty value
		value, problem = p.word()
	}
	r.Values = []string{value}
	if _, err := strconv.ParseInt(value, 10, 64); err != nil && problem == "" && (sign == ">" || sign == "<") {
		problem = "want an integer after " + sign + ", got " + quoteShort(value)
	}
	return r, problem
}

// set consumes values in parentheses.
func (p *selectorParser) set() (values []string, problem string) {
	if p.token != "(" {
		return nil, "want a parenthesis, got " + quoteShort(p.token)
	}
	for p.token != ")" {
		p.next()
		v, problem := p.word()
		if problem != "" {
			return nil, problem
		}
		values = append(values, v)
		if p.token != "," && p.token != ")" {
			return nil, "want a comma or a closing parenthesis, got " + quoteShort(p.token)
		}
	}
	p.next()
	return values, ""
}
