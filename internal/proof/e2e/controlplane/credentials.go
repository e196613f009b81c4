package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// User is who speaks to the API server. Each has a token.
type User struct {
	Name   string
	Groups []string
}

// The users of a cluster.
var (
	// Admin may do everything.
	Admin = User{Name: "admin", Groups: []string{"system:masters"}}
	// Stock is kube-scheduler, with the role that every API server has for it.
	Stock = User{Name: "system:kube-scheduler"}
	// Berth is the service account of berth-scheduler's manifests. It has no rights until
	// they are applied.
	Berth = User{
		Name:   "system:serviceaccount:kube-system:berth-scheduler",
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:kube-system"},
	}
	// Stranger is known and has no rights.
	Stranger = User{Name: "stranger"}
	// Unknown has a token that the API server does not know.
	Unknown = User{Name: "unknown"}
	// Anonymous has no token.
	Anonymous = User{Name: "anonymous"}
)

var users = []User{Admin, Stock, Berth, Stranger}

// credentials are the secrets of one cluster, made for it and kept in its folder.
type credentials struct {
	caPEM     []byte
	server    tls.Certificate
	caFile    string
	certFile  string
	keyFile   string
	tokenFile string
	tokens    map[string]string // user name to token
}

// makeCredentials makes a certificate authority, the server's certificate for the
// loopback and a token for each user, and writes them into dir.
func makeCredentials(dir string) (*credentials, error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "e2e"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "127.0.0.1"},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost", "kubernetes.default.svc"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), caKey)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	c := &credentials{
		caPEM:     pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}),
		caFile:    filepath.Join(dir, "ca.crt"),
		certFile:  filepath.Join(dir, "server.crt"),
		keyFile:   filepath.Join(dir, "server.key"),
		tokenFile: filepath.Join(dir, "tokens.csv"),
		tokens:    map[string]string{Unknown.Name: "unknown"},
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leafDER})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	if c.server, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		return nil, err
	}
	var lines strings.Builder
	for i, u := range users {
		secret := make([]byte, 16)
		if _, err := rand.Read(secret); err != nil {
			return nil, err
		}
		c.tokens[u.Name] = hex.EncodeToString(secret)
		fmt.Fprintf(&lines, "%s,%s,%d,%q\n", c.tokens[u.Name], u.Name, i, strings.Join(u.Groups, ","))
	}
	for file, data := range map[string][]byte{
		c.caFile: c.caPEM, c.certFile: certPEM, c.keyFile: keyPEM, c.tokenFile: []byte(lines.String()),
	} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return nil, err
		}
	}
	return c, nil
}
