package faulty

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// certificate is one for the loopback, its own authority.
func certificate(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// TestProxy asks a server through the proxy. With a share of 0, all answers arrive; with
// 1, none without a fault, and each fault is met.
func TestProxy(t *testing.T) {
	cert, ca := certificate(t)
	var served atomic.Int64
	target := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		_, _ = io.WriteString(w, r.URL.Path)
	}))
	target.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	target.StartTLS()
	defer target.Close()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 3 * time.Minute}

	ask := func(share float64, requests int) (good int, counts string) {
		t.Helper()
		proxy, err := Start(Config{Target: target.URL, CA: ca, Certificate: cert, Share: share, Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		defer proxy.Stop()
		for range requests {
			// A POST: the transport does not try again what may have been carried out.
			answer, err := client.Post(proxy.URL()+"/some/path", "text/plain", strings.NewReader("x"))
			if err != nil {
				continue
			}
			body, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK && string(body) == "/some/path" {
				good++
			}
		}
		return good, proxy.Counts()
	}
	if good, counts := ask(0, 20); good != 20 || served.Load() != 20 {
		t.Errorf("without faults, %d of 20 answers are good; %s", good, counts)
	}
	served.Store(0)
	good, counts := ask(1, 12)
	for i := range faults {
		if strings.Contains(counts, " 0 "+faults[i].name) {
			t.Errorf("12 faults: %s, want each", counts)
		}
	}
	if !strings.HasPrefix(counts, "0 passed") || good == 12 || int(served.Load()) <= good {
		t.Errorf("%d of 12 answers are good, %d were carried out; %s", good, served.Load(), counts)
	}
}
