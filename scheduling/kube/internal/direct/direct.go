// Package direct creates objects with half of the CPU of client-go's requests, which build
// their URL eight times and decode an answer that nobody reads.
//
// It only knows the status of an answer. Unless that is success, the caller asks again by a
// request of client-go, which explains a refusal and waits if the API server is busy.
package direct

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/rest"
)

// A Poster creates objects. Any goroutine may use it.
type Poster struct {
	client *rest.RESTClient // nil: there is no transport
	server url.URL          // its path ends with a slash
}

// New returns a poster that uses the connections, credentials and limits of a client. That
// of a client without a transport, such as client-go's fake, or with a timeout of its own
// posts nothing.
func New(c rest.Interface) Poster {
	client, _ := c.(*rest.RESTClient)
	if client == nil || client.Client == nil || client.Client.Transport == nil || client.Client.Timeout > 0 {
		return Poster{}
	}
	server := *client.Post().AbsPath("/").URL()
	server.Path = strings.TrimSuffix(server.Path, "/") + "/"
	return Poster{client, server}
}

var encoder = protobuf.NewSerializer(nil, nil)

// An Answer is the status of an answer, 0 if nothing was posted.
type Answer int

// IsDone reports whether the API server says that it has created the object.
func (a Answer) IsDone() bool { return a/100 == 2 }

// IsUncertain reports whether the API server, or what stands before it, says that something has
// failed, so that the object may still be created. It reports some errors of its storage as
// conflicts.
func (a Answer) IsUncertain() bool { return a >= 500 || a == http.StatusConflict }

// Post creates an object, whose TypeMeta must be set, at a path that does not begin with a
// slash. An error means that nobody knows whether the API server has done so.
func (p Poster) Post(ctx context.Context, path string, object runtime.Object) (Answer, error) {
	if p.client == nil {
		return 0, nil
	}
	if limits := p.client.GetRateLimiter(); limits != nil {
		if err := limits.Wait(ctx); err != nil {
			return 0, err
		}
	}
	body, err := runtime.Encode(encoder, object)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	at := p.server
	at.Path += path
	request.URL = &at
	request.Header.Set("Content-Type", runtime.ContentTypeProtobuf)
	request.Header.Set("Accept", runtime.ContentTypeProtobuf)
	answer, err := p.client.Client.Transport.RoundTrip(request)
	if err != nil {
		return 0, fmt.Errorf("posting %s: %w", path, err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body) // so that the connection is used again
	return Answer(answer.StatusCode), nil
}
