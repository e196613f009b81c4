package koordinator16

import (
	"errors"
	"reflect"
	"time"

	koordinformers "github.com/koordinator-sh/koordinator/pkg/client/informers/externalversions"
	"github.com/koordinator-sh/koordinator/pkg/client/informers/externalversions/slo"
	slov1alpha1 "github.com/koordinator-sh/koordinator/pkg/client/informers/externalversions/slo/v1alpha1"
	slolisters "github.com/koordinator-sh/koordinator/pkg/client/listers/slo/v1alpha1"
	"github.com/koordinator-sh/koordinator/pkg/scheduler/frameworkext"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/core"
	corev1 "k8s.io/client-go/informers/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	k8sframework "k8s.io/kubernetes/pkg/scheduler/framework"
)

// informer stands for a shared informer of pods. It keeps the handler that the
// plugin registers, so that the player of a case can call it.
type informer struct {
	cache.SharedIndexInformer
	handler cache.ResourceEventHandler
}

func (i *informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	i.handler = h
	return nil, nil
}

func (i *informer) GetStore() cache.Store { return cache.NewStore(cache.MetaNamespaceKeyFunc) }

// handle is the plugin's view of a scheduler, with only the methods that the plugin
// calls.
type handle struct {
	frameworkext.ExtendedHandle
	informer      *informer
	pods, metrics cache.Indexer // the objects that listers list
	nodes         nodes
}

func newHandle() *handle {
	return &handle{
		informer: new(informer),
		pods:     cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
		metrics:  cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
		nodes:    nodes{},
	}
}

func (h *handle) SharedInformerFactory() informers.SharedInformerFactory {
	return podFactory{handle: h}
}

func (h *handle) KoordinatorSharedInformerFactory() koordinformers.SharedInformerFactory {
	return metricFactory{handle: h}
}

func (h *handle) SnapshotSharedLister() k8sframework.SharedLister { return lister{nodes: h.nodes} }

// The types between a factory and the informer and lister of pods.
type (
	podFactory struct {
		informers.SharedInformerFactory
		handle *handle
	}
	coreGroup struct {
		core.Interface
		handle *handle
	}
	coreV1 struct {
		corev1.Interface
		handle *handle
	}
	podInformer struct {
		corev1.PodInformer
		handle *handle
	}
)

func (f podFactory) Core() core.Interface                 { return coreGroup{handle: f.handle} }
func (f podFactory) Start(<-chan struct{})                {}
func (g coreGroup) V1() corev1.Interface                  { return coreV1{handle: g.handle} }
func (v coreV1) Pods() corev1.PodInformer                 { return podInformer{handle: v.handle} }
func (p podInformer) Informer() cache.SharedIndexInformer { return p.handle.informer }
func (p podInformer) Lister() corelisters.PodLister       { return corelisters.NewPodLister(p.handle.pods) }

func (f podFactory) WaitForCacheSync(<-chan struct{}) map[reflect.Type]bool { return nil }

// The types between a factory and the lister of node metrics.
type (
	metricFactory struct {
		koordinformers.SharedInformerFactory
		handle *handle
	}
	sloGroup struct {
		slo.Interface
		handle *handle
	}
	sloV1alpha1 struct {
		slov1alpha1.Interface
		handle *handle
	}
	metricInformer struct {
		slov1alpha1.NodeMetricInformer
		handle *handle
	}
)

func (f metricFactory) Slo() slo.Interface         { return sloGroup{handle: f.handle} }
func (g sloGroup) V1alpha1() slov1alpha1.Interface { return sloV1alpha1{handle: g.handle} }
func (v sloV1alpha1) NodeMetrics() slov1alpha1.NodeMetricInformer {
	return metricInformer{handle: v.handle}
}

func (m metricInformer) Lister() slolisters.NodeMetricLister {
	return slolisters.NewNodeMetricLister(m.handle.metrics)
}

// nodes is the content of the plugin's snapshot.
type nodes map[string]*k8sframework.NodeInfo

type lister struct {
	k8sframework.SharedLister
	nodes nodes
}

func (l lister) NodeInfos() k8sframework.NodeInfoLister { return nodeLister{nodes: l.nodes} }

type nodeLister struct {
	k8sframework.NodeInfoLister
	nodes nodes
}

func (l nodeLister) Get(name string) (*k8sframework.NodeInfo, error) {
	if n, ok := l.nodes[name]; ok {
		return n, nil
	}
	return nil, errors.New("no such node")
}
