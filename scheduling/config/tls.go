//go:build !noextenders

package config

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// ErrUnreadFile reports that a certificate is in a file but no function to read
// files was given.
var ErrUnreadFile = errors.New("certificate file not read")

// TLS returns the TLS configuration for calls to the extender, nil if the settings
// do not need one. It reads certificate files with readFile, which may be
// os.ReadFile; with a nil readFile they are an [ErrUnreadFile].
//
// Differs: a client certificate and key that are both in files.
// Original: kube-scheduler first uses them when it connects.
// Here: they are checked here.
// Why: a wrong file shows at the start.
//
// Source: kube-scheduler 1.37.1, makeTransport and client-go's TLSConfigFor.
func (e *Extender) TLS(readFile func(name string) ([]byte, error)) (*tls.Config, error) {
	var c ExtenderTLSConfig
	if e.TLSConfig != nil {
		c = *e.TLSConfig
	}
	hasCA := c.CAFile != "" || len(c.CAData) > 0
	hasCert := (c.CertFile != "" || len(c.CertData) > 0) && (c.KeyFile != "" || len(c.KeyData) > 0)
	if e.EnableHTTPS && !hasCA {
		c.Insecure = true
	}
	if !hasCA && !hasCert && !c.Insecure && c.ServerName == "" {
		return nil, nil
	}
	if hasCA && c.Insecure {
		return nil, errors.New("specifying a root certificates file with the insecure flag is not allowed")
	}
	for _, f := range []struct {
		data *[]byte
		file string
	}{{&c.CAData, c.CAFile}, {&c.CertData, c.CertFile}, {&c.KeyData, c.KeyFile}} {
		if len(*f.data) > 0 || f.file == "" {
			continue
		}
		if readFile == nil {
			return nil, fmt.Errorf("%s: %w", f.file, ErrUnreadFile)
		}
		data, err := readFile(f.file)
		if err != nil {
			return nil, err
		}
		*f.data = data
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: c.Insecure, ServerName: c.ServerName}
	if hasCA {
		out.RootCAs = x509.NewCertPool()
		if len(c.CAData) > 0 && !out.RootCAs.AppendCertsFromPEM(c.CAData) {
			return nil, fmt.Errorf("unable to load root certificates: %w", unusable(c.CAData))
		}
	}
	if hasCert {
		cert, err := tls.X509KeyPair(c.CertData, c.KeyData)
		if err != nil {
			return nil, err
		}
		out.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }
	}
	return out, nil
}

// unusable returns why PEM text holds no usable certificate.
func unusable(text []byte) error {
	for len(text) > 0 {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return errors.New("unable to parse bytes as PEM block")
		}
		if block.Type != "CERTIFICATE" || len(block.Headers) != 0 {
			continue
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Errorf("failed to parse certificate: %w", err)
		}
	}
	return errors.New("no valid certificate authority data seen")
}
