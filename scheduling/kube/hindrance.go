package kube

import (
	"crypto/x509"
	"errors"
	"strings"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// hindrance says in a sentence what keeps the API server from doing as asked. The error
// itself names the right.
func hindrance(err error) string {
	var (
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
	)
	switch {
	case apierrors.IsUnauthorized(err):
		return "the API server does not accept the credentials: the token or the client certificate is missing, wrong or expired"
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), `"system:anonymous"`):
		return "the API server got no credentials: see users in the kubeconfig file"
	case apierrors.IsForbidden(err):
		return "the credentials lack a right"
	case errors.As(err, &unknown), errors.As(err, &hostname), errors.As(err, &invalid):
		return "the certificate of the API server is not trusted: see certificate-authority in the kubeconfig file"
	}
	return "the API server does not answer"
}

// denied logs an error that missing rights have caused.
func (s *Scheduler) denied(err error) {
	if apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) {
		s.warn(hindrance(err), "error", err)
	}
}

// warn logs a text, each at most every ten seconds, as thousands of pods may fail alike.
func (s *Scheduler) warn(text string, arguments ...any) {
	times, _ := s.warnings.LoadOrStore(text, &rate.Sometimes{Interval: 10 * time.Second})
	times.(*rate.Sometimes).Do(func() { s.config.Log.Warn(text, arguments...) })
}
