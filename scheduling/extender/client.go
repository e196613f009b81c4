package extender

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/scheduling"
)

// maxHeader bounds the header of an answer.
const maxHeader = 64 << 10

// A Client calls an extender. Any number of goroutines may use it.
type Client struct {
	config Config
	http   *http.Client
	shown  string // the URL prefix without a password, for names and errors: users read them
}

// New returns a client. It does not connect: an unreachable extender shows only at
// the first call.
func New(c Config) (*Client, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	h := http.Client{Transport: &http.Transport{
		TLSClientConfig: c.TLS, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: 8, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: maxHeader,
	}}
	if c.HTTP != nil {
		h = *c.HTTP
	}
	if h.CheckRedirect == nil {
		h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return &Client{config: c, http: &h, shown: c.Name()}, nil
}

// Name is the URL of the extender as texts show it: without its password.
func (c *Config) Name() string { return redacted(c.URLPrefix) }

// redacted returns the URL without its password, also one that cannot be parsed. A user without
// a password may be a token. Where the characters /, ? or # come before the last @, nobody can
// tell what is the password, and all before the @ is left out.
func redacted(prefix string) string {
	end := max(strings.LastIndex(prefix, "@"), strings.LastIndex(prefix, "%40"))
	if end < 0 {
		return prefix
	}
	begin := strings.Index(prefix[:end], "://") + len("://")
	if begin < len("://") {
		begin = 0
	}
	if u, err := url.Parse(prefix); err == nil && u.User != nil && !strings.ContainsAny(prefix[begin:end], "/?#") {
		if _, has := u.User.Password(); has {
			return u.Redacted()
		}
	}
	return prefix[:begin] + "xxxxx" + prefix[end:]
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Extender returns the client in the form that a profile needs.
func (c *Client) Extender() scheduling.Extender {
	e := scheduling.Extender{
		Name: c.shown, Ignorable: c.config.Ignorable, Weight: c.config.Weight, Interested: c.Interested,
	}
	if e.Name == "" {
		e.Name = "(no urlPrefix)"
	}
	if c.config.FilterVerb != "" {
		e.Filter = c.Filter
	}
	if c.config.PrioritizeVerb != "" {
		e.Prioritize = c.Prioritize
	}
	if c.config.PreemptVerb != "" {
		e.Preempt = c.Preempt
	}
	if c.config.BindVerb != "" {
		e.Bind = c.Bind
	}
	return e
}

// Interested reports whether a container or init container of the pod requests, or
// is limited to, a resource that the extender manages. Without managed resources it
// is always true.
func (c *Client) Interested(pod *framework.PodInfo) bool {
	if len(c.config.ManagedResources) == 0 {
		return true
	}
	asks := func(k api.Container) bool {
		for _, name := range c.config.ManagedResources {
			if _, ok := k.Resources.Requests[name]; ok {
				return true
			}
			if _, ok := k.Resources.Limits[name]; ok {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(pod.Pod.Spec.Containers, asks) || slices.ContainsFunc(pod.Pod.Spec.InitContainers, asks)
}

// limit bounds the answer to a request of so many bytes about so many nodes or
// candidates.
func (c *Client) limit(bytes, items int) int64 {
	if c.config.MaxBytes > 0 {
		return c.config.MaxBytes
	}
	return min(DefaultMaxBytes, 1<<20+2*int64(bytes)+4<<10*int64(items))
}

// call posts args, which are about so many nodes or candidates, to a verb and decodes
// the answer into result.
func (c *Client) call(ctx context.Context, verb string, args, result any, items int) error {
	if verb == "" {
		return fmt.Errorf("the extender at %q does not answer this call: its verb is empty", c.shown)
	}
	at := strings.TrimRight(c.shown, "/") + "/" + verb
	body, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	timed, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	if err = c.post(timed, verb, at, body, result, c.limit(len(body), items)); err == nil {
		return nil
	}
	err = errtext.Brief(err, 2*maxText) // package http quotes what it cannot read
	if ctx.Err() == nil && errors.Is(timed.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %v: %w", c.config.Timeout, err)
	}
	return err
}

// renamed is an error of package http that names the place at, and not the whole URL. An error
// about the URL itself shows parts of it, and is left out where they may be a password.
func (c *Client) renamed(err error, at string) error {
	var of *url.Error
	if errors.As(err, &of) {
		if of.Op == "parse" && c.shown != c.config.URLPrefix {
			return &url.Error{Op: of.Op, URL: at, Err: errors.New("not a valid URL")}
		}
		return &url.Error{Op: of.Op, URL: at, Err: of.Err}
	}
	return err
}

// post is call; errors name the place at.
func (c *Client) post(ctx context.Context, verb, at string, body []byte, result any, limit int64) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(c.config.URLPrefix, "/")+"/"+verb, bytes.NewReader(body))
	if err != nil {
		return c.renamed(err, at)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return c.renamed(err, at)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("failed %s with extender at URL %s, code %d%s", verb, at, resp.StatusCode, firstLine(resp.Body))
	}
	// Reading one byte more than allowed shows whether there is more.
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: reading the answer: %w", at, err)
	case int64(len(data)) > limit:
		return fmt.Errorf("%s: the answer is larger than %d bytes", at, limit)
	}
	// As upstream: the first value counts, whatever follows.
	switch err := decode(data, result); {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s: the answer is empty", at)
	case err != nil:
		return fmt.Errorf("%s: the answer is malformed: %w", at, err)
	}
	return nil
}

// firstLine returns the beginning of an error page, to append to a message.
func firstLine(r io.Reader) string {
	const most = 200
	data, _ := io.ReadAll(io.LimitReader(r, most)) // a partial text helps as well
	line, _, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
	line = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) { // also what turns the direction of text, or ends its line
			return ' '
		}
		return c
	}, strings.ToValidUTF8(line, "?"))
	if line == "" {
		return ""
	}
	return ": " + line
}
