// Package direct creates objects with half of the CPU of client-go's requests, which build
// their URL eight times and decode an answer that nobody reads.
//
// It only knows success. Whatever else the API server says, the caller asks again by a
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

// Post creates an object, whose TypeMeta must be set, at a path that does not begin with a
// slash. It reports whether the API server says that it has done so. An error means that
// nobody knows.
func (p Poster) Post(ctx context.Context, path string, object runtime.Object) (done bool, err error) {
	if p.client == nil {
		return false, nil
	}
	if limits := p.client.GetRateLimiter(); limits != nil {
		if err := limits.Wait(ctx); err != nil {
			return false, err
		}
	}
	body, err := runtime.Encode(encoder, object)
	if err != nil {
		return false, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "", bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	at := p.server
	at.Path += path
	request.URL = &at
	request.Header.Set("Content-Type", runtime.ContentTypeProtobuf)
	request.Header.Set("Accept", runtime.ContentTypeProtobuf)
	answer, err := p.client.Client.Transport.RoundTrip(request)
	if err != nil {
		return false, fmt.Errorf("posting %s: %w", path, err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body) // so that the connection is used again
	return answer.StatusCode/100 == 2, nil
}
