package extender

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// A Client calls an extender. Any number of goroutines may use it.
type Client struct {
	config Config
	http   *http.Client
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
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	client := &Client{config: c, http: c.HTTP}
	if client.http == nil {
		client.http = &http.Client{Transport: &http.Transport{
			TLSClientConfig: c.TLS, ForceAttemptHTTP2: true,
			MaxIdleConnsPerHost: 8, IdleConnTimeout: 90 * time.Second,
		}}
	}
	return client, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Extender returns the client in the form that a profile needs.
func (c *Client) Extender() scheduling.Extender {
	e := scheduling.Extender{
		Name: c.config.URLPrefix, Ignorable: c.config.Ignorable, Weight: c.config.Weight, Interested: c.Interested,
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

// call posts args to a verb and decodes the answer into result.
func (c *Client) call(ctx context.Context, verb string, args, result any) error {
	if verb == "" {
		return fmt.Errorf("the extender at %q does not answer this call: its verb is empty", c.config.URLPrefix)
	}
	url := strings.TrimRight(c.config.URLPrefix, "/") + "/" + verb
	body, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	timed, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	err = c.post(timed, verb, url, body, result)
	if err != nil && ctx.Err() == nil && errors.Is(timed.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %v: %w", c.config.Timeout, err)
	}
	return err
}

func (c *Client) post(ctx context.Context, verb, url string, body []byte, result any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("failed %s with extender at URL %s, code %d%s", verb, url, resp.StatusCode, firstLine(resp.Body))
	}
	// Reading one byte more than allowed shows whether there is more.
	data, err := io.ReadAll(io.LimitReader(resp.Body, c.config.MaxBytes+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: reading the answer: %w", url, err)
	case int64(len(data)) > c.config.MaxBytes:
		return fmt.Errorf("%s: the answer is larger than %d bytes", url, c.config.MaxBytes)
	}
	// As upstream: the first value counts, whatever follows.
	switch err := json.NewDecoder(bytes.NewReader(data)).Decode(result); {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s: the answer is empty", url)
	case err != nil:
		return fmt.Errorf("%s: the answer is malformed: %w", url, err)
	}
	return nil
}

// firstLine returns the beginning of an error page, to append to a message.
func firstLine(r io.Reader) string {
	const most = 200
	data, _ := io.ReadAll(io.LimitReader(r, most)) // a partial text helps as well
	line, _, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
	line = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(line, "?"))
	if line == "" {
		return ""
	}
	return ": " + line
}
