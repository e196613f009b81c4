package koordinator

import (
	"errors"
	"reflect"
	"time"

	koordinformers "github.com/koordinator-sh/koordinator/pkg/client/informers/externalversions"
	"github.com/koordinator-sh/koordinator/pkg/client/informers/externalversions/slo"
	slov1alpha1 "github.com/koordinator-sh/koordinator/pkg/client/informers/externalversions/slo/v1alpha1"
	"github.com/koordinator-sh/koordinator/pkg/scheduler/frameworkext"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/core"
	corev1 "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"
	fwktype "k8s.io/kube-scheduler/framework"
)

// informer stands for a shared informer. It keeps the handler that the plugin
// registers, so that the player of a case can call it.
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
	pods, metrics *informer
	nodes         nodes
}

func newHandle() *handle {
	return &handle{pods: new(informer), metrics: new(informer), nodes: nodes{}}
}

func (h *handle) SharedInformerFactory() informers.SharedInformerFactory {
	return podFactory{pods: h.pods}
}

func (h *handle) KoordinatorSharedInformerFactory() koordinformers.SharedInformerFactory {
	return metricFactory{metrics: h.metrics}
}

func (h *handle) RegisterForgetPodHandler(frameworkext.ForgetPodHandler) {}

func (h *handle) SnapshotSharedLister() fwktype.SharedLister { return lister{nodes: h.nodes} }

// The types between a factory and the informer of pods.
type (
	podFactory struct {
		informers.SharedInformerFactory
		pods *informer
	}
	coreGroup struct {
		core.Interface
		pods *informer
	}
	coreV1 struct {
		corev1.Interface
		pods *informer
	}
	podInformer struct {
		corev1.PodInformer
		pods *informer
	}
)

func (f podFactory) Core() core.Interface                 { return coreGroup{pods: f.pods} }
func (f podFactory) Start(<-chan struct{})                {}
func (g coreGroup) V1() corev1.Interface                  { return coreV1{pods: g.pods} }
func (v coreV1) Pods() corev1.PodInformer                 { return podInformer{pods: v.pods} }
func (p podInformer) Informer() cache.SharedIndexInformer { return p.pods }

func (f podFactory) WaitForCacheSync(<-chan struct{}) map[reflect.Type]bool { return nil }

// The types between a factory and the informer of node metrics.
type (
	metricFactory struct {
		koordinformers.SharedInformerFactory
		metrics *informer
	}
	sloGroup struct {
		slo.Interface
		metrics *informer
	}
	sloV1alpha1 struct {
		slov1alpha1.Interface
		metrics *informer
	}
	metricInformer struct {
		slov1alpha1.NodeMetricInformer
		metrics *informer
	}
)

func (f metricFactory) Slo() slo.Interface         { return sloGroup{metrics: f.metrics} }
func (f metricFactory) Start(<-chan struct{})      {}
func (g sloGroup) V1alpha1() slov1alpha1.Interface { return sloV1alpha1{metrics: g.metrics} }
func (v sloV1alpha1) NodeMetrics() slov1alpha1.NodeMetricInformer {
	return metricInformer{metrics: v.metrics}
}
func (m metricInformer) Informer() cache.SharedIndexInformer { return m.metrics }

func (f metricFactory) WaitForCacheSync(<-chan struct{}) map[reflect.Type]bool { return nil }

// nodes is the content of the plugin's snapshot.
type nodes map[string]fwktype.NodeInfo

type lister struct {
	fwktype.SharedLister
	nodes nodes
}

func (l lister) NodeInfos() fwktype.NodeInfoLister { return nodeLister{nodes: l.nodes} }

type nodeLister struct {
	fwktype.NodeInfoLister
	nodes nodes
}

func (l nodeLister) Get(name string) (fwktype.NodeInfo, error) {
	if n, ok := l.nodes[name]; ok {
		return n, nil
	}
	return nil, errors.New("no such node")
}
