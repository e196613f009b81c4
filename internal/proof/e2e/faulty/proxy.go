// Package faulty is a proxy that stands between a scheduler and the API server, and
// fails or delays a share of the requests.
package faulty

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Config says what a proxy does to requests.
type Config struct {
	// Target is the address of the API server, CA the authority of its certificate and
	// Certificate what the proxy shows to clients.
	Target      string
	CA          []byte
	Certificate tls.Certificate
	// Share is the part of requests that are failed or delayed, from 0 to 1. Each kind of
	// fault gets an equal part.
	Share float64
	// Seed chooses the requests.
	Seed uint64
}

// Proxy is a running proxy.
type Proxy struct {
	config Config
	server *http.Server
	url    string

	mu     sync.Mutex
	random *rand.Rand
	counts [kinds]atomic.Int64
	passed atomic.Int64
}

// kinds is how many faults there are.
const kinds = 5

// fault is what happens to one request.
type fault struct {
	name string
	do   func(p *Proxy, w http.ResponseWriter, r *http.Request, next http.Handler)
}

// faults are what can happen. In lost, the request is carried out and the answer does not
// arrive: the case that makes schedulers bind twice.
var faults = [kinds]fault{
	{"refused (503)", func(_ *Proxy, w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		status(w, http.StatusServiceUnavailable, "ServiceUnavailable")
	}},
	{"failed (500)", func(_ *Proxy, w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		status(w, http.StatusInternalServerError, "InternalError")
	}},
	{"answer lost", func(_ *Proxy, _ http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(discard{header: http.Header{}}, r.WithContext(context.WithoutCancel(r.Context())))
		panic(http.ErrAbortHandler) // closes the stream without an answer
	}},
	{"cut off", func(*Proxy, http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }},
	{"delayed", func(p *Proxy, w http.ResponseWriter, r *http.Request, next http.Handler) {
		p.mu.Lock()
		d := time.Duration(p.random.IntN(1500)) * time.Millisecond
		p.mu.Unlock()
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		}
		next.ServeHTTP(w, r)
	}},
}

// status writes an error as the API server does.
func status(w http.ResponseWriter, code int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"a fault of the test","reason":%q,"code":%d}`, reason, code)
}

// discard is an answer that nobody reads.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

// Start starts a proxy on the loopback.
func Start(c Config) (*Proxy, error) {
	target, err := url.Parse(c.Target)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(c.CA) {
		return nil, fmt.Errorf("proxy: no certificate in CA")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{config: c, url: "https://" + listener.Addr().String(), random: rand.New(rand.NewPCG(c.Seed, 0))}
	quiet := log.New(io.Discard, "", 0)
	forward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 64},
		FlushInterval: -1, // watches must not wait
		ErrorLog:      quiet,
	}
	p.server = &http.Server{
		Handler:   http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, forward) }),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{c.Certificate}, NextProtos: []string{"h2", "http/1.1"}},
		ErrorLog:  quiet,
	}
	go func() { _ = p.server.ServeTLS(listener, "", "") }() // ends with Stop
	return p, nil
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request, forward http.Handler) {
	p.mu.Lock()
	hit, which := p.random.Float64() < p.config.Share, p.random.IntN(len(faults))
	p.mu.Unlock()
	// A watch whose answer is lost would be carried out for ever, read by nobody.
	if hit && faults[which].name == "answer lost" && r.URL.Query().Has("watch") {
		hit = false
	}
	if !hit {
		p.passed.Add(1)
		forward.ServeHTTP(w, r)
		return
	}
	p.counts[which].Add(1)
	faults[which].do(p, w, r, forward)
}

// URL is where the proxy listens.
func (p *Proxy) URL() string { return p.url }

// Counts says how many requests passed and how many met each fault.
func (p *Proxy) Counts() string {
	text := fmt.Sprintf("%d passed", p.passed.Load())
	for i := range faults {
		text += fmt.Sprintf(", %d %s", p.counts[i].Load(), faults[i].name)
	}
	return text
}

// Stop ends the proxy and its connections.
func (p *Proxy) Stop() { _ = p.server.Close() }
