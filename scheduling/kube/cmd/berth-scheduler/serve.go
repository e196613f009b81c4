package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

// serving says where and with which certificate the command serves.
type serving struct {
	address   string
	port      int // 0: it does not
	cert, key string
}

func (s serving) check() error {
	switch {
	case s.port < 0 || s.port > 65535:
		return fmt.Errorf("--secure-port: %d: must be between 0 and 65535, inclusive; 0 serves nothing", s.port)
	case net.ParseIP(s.address) == nil:
		return fmt.Errorf("--bind-address: %q: must be an IP address", s.address)
	case s.cert == "" && s.key != "":
		return errors.New("--tls-private-key-file needs --tls-cert-file")
	case s.cert != "" && s.key == "":
		return errors.New("--tls-cert-file needs --tls-private-key-file")
	}
	return nil
}

// start serves the handler by HTTPS until stop is called. Without files, the certificate is
// a new one, signed by itself.
func (s serving) start(h http.Handler, log *slog.Logger) (stop func(), err error) {
	if s.port == 0 {
		return func() {}, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	if s.cert != "" {
		files := &certificateFiles{cert: s.cert, key: s.key, log: log}
		if err := files.load(); err != nil {
			return nil, fmt.Errorf("--tls-cert-file, --tls-private-key-file: %w", err)
		}
		config.GetCertificate = files.get
	} else {
		made, err := selfSigned(time.Now())
		if err != nil {
			return nil, fmt.Errorf("making a certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{made}
	}
	l, err := net.Listen("tcp", net.JoinHostPort(s.address, strconv.Itoa(s.port)))
	if err != nil {
		return nil, fmt.Errorf("--bind-address, --secure-port: %w", err)
	}
	server := newServer(h, log)
	server.TLSConfig = config
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.ServeTLS(l, "", ""); !errors.Is(err, http.ErrServerClosed) {
			log.Error("serving metrics and health", "error", err)
		}
	}()
	return func() {
		_ = server.Close()
		<-done
	}, nil
}

// Clients must send a request, and take its answer, within patience. An answer takes little
// more than a second and is some 100 KB at most. Connections without a request are closed
// after idlePatience.
const (
	headerPatience = 10 * time.Second
	patience       = 30 * time.Second
	idlePatience   = 2 * time.Minute
)

// newServer returns a server that no client keeps busy by being slow or by doing nothing.
func newServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerPatience, ReadTimeout: patience, WriteTimeout: patience, IdleTimeout: idlePatience,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug), // callers that do not trust the certificate
	}
}

// selfSigned returns a certificate for the host itself, for a year, as kube-scheduler makes
// it.
func selfSigned(now time.Time) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: fmt.Sprintf("localhost@%d", now.Unix())},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(365 * 24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	data, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{data}, PrivateKey: key}, nil
}

// certificateFiles is a certificate that is read again when one of its files has changed.
type certificateFiles struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	read    [2]time.Time // when the files had been changed that current is from
}

func (c *certificateFiles) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if err := c.load(); err != nil {
		c.log.Warn("the certificate cannot be read again; the one before is served", "error", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current, nil
}

// load reads the files if they have changed.
func (c *certificateFiles) load() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var changed [2]time.Time
	for i, name := range []string{c.cert, c.key} {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		changed[i] = info.ModTime()
	}
	if c.current != nil && changed == c.read {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", c.cert, c.key, err)
	}
	c.current, c.read = &pair, changed
	return nil
}
