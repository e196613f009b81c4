package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/berth-sched/berth/scheduling/config"
)

// keyPair returns a certificate and its key as PEM text.
func keyPair(t *testing.T) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "x"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})
}

func TestExtenderTLS(t *testing.T) {
	cert, key := keyPair(t)
	files := map[string][]byte{"cert": cert, "key": key}
	readFile := func(name string) ([]byte, error) {
		if data, ok := files[name]; ok {
			return data, nil
		}
		return nil, fmt.Errorf("open %s: no such file or directory", name)
	}
	tests := []struct {
		name     string
		extender config.Extender
		plain    bool // no TLS
		insecure bool
		client   bool // has a client certificate
		err      string
	}{
		{name: "nothing", plain: true},
		{name: "HTTPS without a root is not verified", extender: config.Extender{EnableHTTPS: true}, insecure: true},
		{name: "root", extender: config.Extender{EnableHTTPS: true, TLSConfig: &config.ExtenderTLSConfig{CAData: cert}}},
		{name: "root in a file", extender: config.Extender{TLSConfig: &config.ExtenderTLSConfig{CAFile: "cert"}}},
		{name: "server name", extender: config.Extender{TLSConfig: &config.ExtenderTLSConfig{ServerName: "x"}}},
		{name: "client", extender: config.Extender{TLSConfig: &config.ExtenderTLSConfig{CertFile: "cert", KeyData: key}}, client: true},
		{name: "half a client", extender: config.Extender{TLSConfig: &config.ExtenderTLSConfig{CertFile: "cert"}}, plain: true},
		{
			name: "insecure root", extender: config.Extender{TLSConfig: &config.ExtenderTLSConfig{CAData: cert, Insecure: true}},
			err: "specifying a root certificates file with the insecure flag is not allowed",
		},
		{
			name: "no PEM", extender: config.Extender{TLSConfig: &config.ExtenderTLSConfig{CAData: []byte("foo")}},
			err: "unable to load root certificates: unable to parse bytes as PEM block",
		},
		{
			name: "a key as root", extender: config.Extender{TLSConfig: &config.ExtenderTLSConfig{CAData: key}},
			err: "unable to load root certificates: no valid certificate authority data seen",
		},
		{
			name: "no such file", extender: config.Extender{TLSConfig: &config.ExtenderTLSConfig{CAFile: "none"}},
			err: "open none: no such file or directory",
		},
		{
			name: "no key in the key", extender: config.Extender{TLSConfig: &config.ExtenderTLSConfig{CertData: cert, KeyData: cert}},
			err: "tls: found a certificate rather than a key in the PEM for the private key",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := tt.extender.TLS(readFile)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Errorf("error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if (c == nil) != tt.plain {
				t.Fatalf("TLS = %v, want none: %v", c, tt.plain)
			}
			if c != nil && (c.InsecureSkipVerify != tt.insecure || (c.GetClientCertificate != nil) != tt.client) {
				t.Errorf("insecure %v, client %v, want %v, %v", c.InsecureSkipVerify, c.GetClientCertificate != nil, tt.insecure, tt.client)
			}
		})
	}
	unread := config.Extender{TLSConfig: &config.ExtenderTLSConfig{CAFile: "cert"}}
	if _, err := unread.TLS(nil); !errors.Is(err, config.ErrUnreadFile) {
		t.Errorf("without a way to read files: %v, want ErrUnreadFile", err)
	}
}
