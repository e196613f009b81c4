package kube

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// sends counts how often a request was sent. A client sends one again by itself, for example after an
// error of the storage that says when to come back, and returns the last answer only.
type sends struct{ count atomic.Int32 }

// counting returns a context for one call of a client, and the count of what it sends.
func counting(ctx context.Context) (context.Context, *sends) {
	n := new(sends)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { n.count.Add(1) }}), n
}

// refused reports whether the API server has certainly not carried out the request, whose answer is err. If
// it was sent more than once, the answer says nothing of what was sent before.
func (n *sends) refused(err error) bool { return n.count.Load() <= 1 && refuses(err) }

// refuses reports whether an answer says that the API server has not carried out the request.
func refuses(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsInvalid(err) ||
		apierrors.IsBadRequest(err) || apierrors.IsTooManyRequests(err) || apierrors.IsMethodNotSupported(err)
}
