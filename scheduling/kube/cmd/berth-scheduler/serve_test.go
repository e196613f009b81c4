package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// serve starts a server that answers "yes", and returns its address.
func serve(t *testing.T, s serving, log io.Writer) string {
	t.Helper()
	var err error
	if s.port, err = strconv.Atoi(free(t)); err != nil {
		t.Fatal(err)
	}
	s.address = "127.0.0.1"
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	stop, err := s.start(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "yes") }), slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return fmt.Sprintf("127.0.0.1:%d", s.port)
}

// presented returns the certificate that a server presents.
func presented(t *testing.T, address string) *x509.Certificate {
	t.Helper()
	c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0]
}

// Without files, the certificate is made for this host and signed by itself: who trusts it
// reaches the server by its name and address, and nobody by an old version of TLS.
func TestSelfSigned(t *testing.T) {
	address := serve(t, serving{}, io.Discard)
	made := presented(t, address)
	if left := time.Until(made.NotAfter); left < 364*24*time.Hour || left > 366*24*time.Hour {
		t.Errorf("the certificate is good for %v, want a year", left)
	}
	pool := x509.NewCertPool()
	pool.AddCert(made)
	for _, host := range []string{"127.0.0.1", "localhost"} {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: host}}}
		r, err := client.Get("https://" + address)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		client.CloseIdleConnections()
		if err != nil || string(body) != "yes" {
			t.Errorf("%s: %q, %v", host, body, err)
		}
	}
	if _, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11}); err == nil {
		t.Error("the server speaks TLS 1.1")
	}
	if r, err := http.Get("http://" + address); err == nil {
		r.Body.Close()
		if r.StatusCode == http.StatusOK {
			t.Error("the server answers without TLS")
		}
	}
}

// A certificate of files is read again when it is renewed; a broken one changes nothing.
func TestCertificateFiles(t *testing.T) {
	dir := t.TempDir()
	s := serving{cert: filepath.Join(dir, "cert"), key: filepath.Join(dir, "key")}
	var log lockedBuffer
	first := write(t, s, 1)
	address := serve(t, s, &log)
	if got := presented(t, address); got.SerialNumber.Cmp(first.SerialNumber) != 0 {
		t.Error("the server does not present the certificate of the file")
	}
	second := write(t, s, 2)
	if got := presented(t, address); got.SerialNumber.Cmp(second.SerialNumber) != 0 {
		t.Error("the server does not present the renewed certificate")
	}
	if err := os.WriteFile(s.cert, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := presented(t, address); got.SerialNumber.Cmp(second.SerialNumber) != 0 {
		t.Error("the server does not keep the certificate that it has")
	}
	if want := "the certificate cannot be read again"; !strings.Contains(log.String(), want) {
		t.Errorf("the log does not say %q:\n%s", want, log.String())
	}
}

// pipes is a listener whose connections are pipes in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (pipes) Close() error   { return nil }
func (pipes) Addr() net.Addr { return new(net.TCPAddr) }

// A client that does nothing, or is slow with its request or with the answer, loses its
// connection. One that is only late with the next request does not.
func TestPatience(t *testing.T) {
	const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	answer := func(c net.Conn) error {
		_, err := c.Read(make([]byte, 4096))
		return err
	}
	for name, use := range map[string]func(t *testing.T, c net.Conn) (want time.Duration){
		"idle": func(t *testing.T, c net.Conn) time.Duration {
			for range 2 {
				if _, err := io.WriteString(c, request); err != nil {
					t.Fatal(err)
				}
				if err := answer(c); err != nil {
					t.Fatal(err)
				}
				time.Sleep(idlePatience - time.Second)
			}
			_ = answer(c)
			return 2*idlePatience - time.Second
		},
		"no request": func(t *testing.T, c net.Conn) time.Duration {
			_ = answer(c)
			return headerPatience
		},
		"slow body": func(t *testing.T, c net.Conn) time.Duration {
			_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx")
			for answer(c) == nil {
			}
			return patience
		},
		"answer that is not read": func(t *testing.T, c net.Conn) time.Duration {
			_, _ = io.WriteString(c, request)
			time.Sleep(patience + time.Second)
			for answer(c) == nil {
			}
			return patience + time.Second
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // time passes when everything waits
				ctx, end := context.WithTimeout(t.Context(), time.Hour)
				defer end()
				server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					fmt.Fprint(w, "yes")
				}), slog.New(slog.DiscardHandler))
				connections := make(pipes)
				defer close(connections)
				go func() { _ = server.Serve(connections) }()
				client, c := net.Pipe()
				defer client.Close()
				connections <- c
				context.AfterFunc(ctx, func() { client.Close() }) // a server without patience
				began := time.Now()
				want := use(t, client)
				if got := time.Since(began); got != want {
					t.Errorf("the connection is closed after %v, want %v", got, want)
				}
			})
		})
	}
}

// write writes a new certificate with its key, as of hour n.
func write(t *testing.T, s serving, n int) *x509.Certificate {
	t.Helper()
	made, err := selfSigned(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{s.cert: {Type: "CERTIFICATE", Bytes: made.Certificate[0]}, s.key: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(0, 0).Add(time.Duration(n) * time.Hour)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	leaf, err := x509.ParseCertificate(made.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}
