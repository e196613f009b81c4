package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
)

// bridge is the module of berth-scheduler.
const bridge = "github.com/berth-sched/berth/scheduling/kube"

// ApplyManifests applies the manifests of berth-scheduler, as kubectl apply --server-side
// does. So Berth has the rights that they give, and no others.
func (c *Cluster) ApplyManifests(ctx context.Context) error {
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", bridge).Output()
	if err != nil {
		return fmt.Errorf("find module %s: %w", bridge, err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "manifests", "*.yaml"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("module %s has no manifests/*.yaml", bridge)
	}
	config := c.Config(Admin)
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	groups, err := restmapper.GetAPIGroupResources(disco)
	if err != nil {
		return fmt.Errorf("ask what the API server serves: %w", err)
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	for _, file := range files {
		if err := applyFile(ctx, client, mapper, file); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
	}
	return nil
}

// applyFile applies each document of a file.
func applyFile(ctx context.Context, client dynamic.Interface, mapper meta.RESTMapper, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		var object unstructured.Unstructured
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if len(object.Object) == 0 {
			continue
		}
		kind := object.GroupVersionKind()
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return err
		}
		var target dynamic.ResourceInterface = client.Resource(mapping.Resource)
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			target = client.Resource(mapping.Resource).Namespace(object.GetNamespace())
		}
		options := metav1.ApplyOptions{FieldManager: "e2e", Force: true}
		if _, err := target.Apply(ctx, object.GetName(), &object, options); err != nil {
			return fmt.Errorf("%s %s: %w", kind.Kind, object.GetName(), err)
		}
	}
}
