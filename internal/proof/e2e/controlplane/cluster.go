package controlplane

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Cluster is an etcd and a kube-apiserver on the loopback, with data in a temporary
// folder. Its methods may be called by one goroutine at a time.
type Cluster struct {
	dir         string
	log         io.Writer
	credentials *credentials
	etcdPort    port
	apiPort     port
	etcd        *Process
	api         *Process
	etcdClient  *clientv3.Client

	mu       sync.Mutex
	children []*Process
	files    int
}

// ready bounds how long a part of the control plane may take to answer.
const ready = 10 * time.Minute

// Start starts etcd and kube-apiserver and waits until the latter is ready. Progress
// goes to log. Stop ends everything.
func Start(ctx context.Context, log io.Writer) (*Cluster, error) {
	dir, err := os.MkdirTemp("", "berth-e2e-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, log: log}
	if err := c.start(ctx); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	begin := time.Now()
	for _, p := range []Program{Etcd, APIServer} {
		if _, err := Build(ctx, p, c.log); err != nil {
			return err
		}
	}
	built := time.Now()
	var err error
	if c.credentials, err = makeCredentials(c.dir); err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	if c.etcdPort, err = reservePort(); err != nil {
		return err
	}
	if c.apiPort, err = reservePort(); err != nil {
		return err
	}
	if err := c.startEtcd(ctx); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	fmt.Fprintf(c.log, "etcd and kube-apiserver %s are ready after %.1f s (found or built in %.1f s)\n",
		Version, time.Since(built).Seconds(), built.Sub(begin).Seconds())
	return nil
}

func (c *Cluster) startEtcd(ctx context.Context) error {
	path, err := Build(ctx, Etcd, c.log)
	if err != nil {
		return err
	}
	peer, err := reservePort()
	if err != nil {
		return err
	}
	defer peer.release()
	url, peerURL := "http://"+c.etcdPort.address(), "http://"+peer.address()
	c.etcd, err = Launch{Name: "etcd", Path: path, Output: filepath.Join(c.dir, "etcd.log"), Args: []string{
		"--data-dir=" + filepath.Join(c.dir, "etcd"), "--log-level=warn", "--unsafe-no-fsync",
		"--listen-client-urls=" + url, "--advertise-client-urls=" + url,
		"--listen-peer-urls=" + peerURL, "--initial-advertise-peer-urls=" + peerURL,
		"--initial-cluster=default=" + peerURL, "--socket-reuse-port",
		"--quota-backend-bytes=8589934592",
	}}.Run()
	if err != nil {
		return err
	}
	c.etcdClient, err = clientv3.New(clientv3.Config{Endpoints: []string{url}, Logger: zap.NewNop(), MaxCallRecvMsgSize: 1 << 30})
	if err != nil {
		return fmt.Errorf("etcd client: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, ready)
	defer cancel()
	return c.etcd.waitFor(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_, err := c.etcdClient.Status(ctx, url)
		return err
	})
}

// StartAPIServer starts kube-apiserver over the data that etcd has, and waits until it
// is ready.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	path, err := Build(ctx, APIServer, c.log)
	if err != nil {
		return err
	}
	cr := c.credentials
	c.api, err = Launch{Name: "kube-apiserver", Path: path, Output: filepath.Join(c.dir, "kube-apiserver.log"), Args: []string{
		"--etcd-servers=http://" + c.etcdPort.address(),
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.apiPort.number), "--permit-port-sharing",
		"--tls-cert-file=" + cr.certFile, "--tls-private-key-file=" + cr.keyFile,
		"--token-auth-file=" + cr.tokenFile, "--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + cr.keyFile, "--service-account-signing-key-file=" + cr.keyFile,
		// No kubelet and no node controller is there to take the first taint away, and no
		// controller that makes service accounts.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
		"--allow-privileged",
	}}.Run()
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(c.Config(Admin))
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, ready)
	defer cancel()
	return c.api.waitFor(ctx, func(ctx context.Context) error { return probe(ctx, client, c.URL()+"/readyz") })
}

// probe asks an address and expects 200.
func probe(ctx context.Context, client *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, answer.Status)
	}
	return nil
}

// KillAPIServer ends kube-apiserver at once. StartAPIServer brings it back.
func (c *Cluster) KillAPIServer() { c.api.Kill() }

// Stop ends every process that was started here and deletes the data.
func (c *Cluster) Stop() {
	c.mu.Lock()
	children := c.children
	c.children = nil
	c.mu.Unlock()
	for _, p := range children {
		p.Kill()
	}
	if c.etcdClient != nil {
		_ = c.etcdClient.Close()
	}
	for _, p := range []*Process{c.api, c.etcd} {
		if p != nil {
			p.Kill()
		}
	}
	for _, p := range []port{c.etcdPort, c.apiPort} {
		if p.number != 0 {
			p.release()
		}
	}
	_ = os.RemoveAll(c.dir)
}

// URL is the address of the API server.
func (c *Cluster) URL() string { return "https://" + c.apiPort.address() }

// Dir is the folder of the cluster's files. Stop deletes it.
func (c *Cluster) Dir() string { return c.dir }

// Etcd is a client of the cluster's etcd.
func (c *Cluster) Etcd() *clientv3.Client { return c.etcdClient }

// Config is the configuration of a client for the user, with no limit on requests.
func (c *Cluster) Config(u User) *rest.Config {
	return &rest.Config{
		Host: c.URL(), BearerToken: c.credentials.tokens[u.Name],
		TLSClientConfig: rest.TLSClientConfig{CAData: c.credentials.caPEM},
		ContentConfig:   rest.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf", AcceptContentTypes: "application/vnd.kubernetes.protobuf,application/json"},
		QPS:             -1,
		UserAgent:       "e2e",
	}
}

// Client is a client for the user.
func (c *Cluster) Client(u User) (kubernetes.Interface, error) {
	return kubernetes.NewForConfig(c.Config(u))
}

// Kubeconfig writes a kubeconfig file with which the user reaches the server at url, and
// returns its name. The server has the certificate of this cluster.
func (c *Cluster) Kubeconfig(u User, url string) (string, error) {
	const name = "e2e"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: url, CertificateAuthorityData: c.credentials.caPEM}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: c.credentials.tokens[u.Name]}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	file := c.file("kubeconfig")
	return file, clientcmd.WriteToFile(*config, file)
}

// Run builds and starts a program, with its output in a file of the cluster's folder.
func (c *Cluster) Run(ctx context.Context, p Program, arguments ...string) (*Process, error) {
	path, err := Build(ctx, p, c.log)
	if err != nil {
		return nil, err
	}
	return c.RunPath(Launch{Name: p.Name(), Path: path, Args: arguments})
}

// RunPath starts a child process that Stop ends. Output is set if it is empty.
func (c *Cluster) RunPath(l Launch) (*Process, error) {
	if l.Output == "" {
		l.Output = c.file(l.Name + ".log")
	}
	p, err := l.Run()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.children = append(c.children, p)
	return p, nil
}

// WriteFile writes a file into the cluster's folder and returns its name.
func (c *Cluster) WriteFile(name string, data []byte) (string, error) {
	file := c.file(name)
	return file, os.WriteFile(file, data, 0o600)
}

// file returns a new name in the cluster's folder.
func (c *Cluster) file(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files++
	return filepath.Join(c.dir, fmt.Sprintf("%d-%s", c.files, name))
}

// APIServerUsage is what the API server has taken since it was started.
func (c *Cluster) APIServerUsage() (Usage, error) { return c.api.Usage() }

// CA is the certificate of the authority that the API server's certificate is from.
func (c *Cluster) CA() []byte { return c.credentials.caPEM }

// Certificate is a certificate for the loopback, of the same authority as that of the API
// server.
func (c *Cluster) Certificate() tls.Certificate { return c.credentials.server }
