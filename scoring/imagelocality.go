package scoring

import (
	"math"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// ImageLocality scores how much of the pod's images a node has already: the sum
// of their sizes, each in proportion to how many of the nodes have it
// ([ScaledImageSize]), mapped to [0,100] ([ImageLocalityScore]). Images of
// containers, init containers and image volumes count, each as often as it
// occurs. It is not normalized. Rules names older formulas.
//
// Names are compared as they are written, with ":latest" added to those without
// a tag.
//
// Source: kube-scheduler 1.37, plugin ImageLocality.
//
// Differs: how many nodes have an image is counted when a pod is placed.
// kube-scheduler remembers, for each node, the number of the moment at which it
// last looked at the node, which it does when the node or its pods change; so
// two nodes with one image may be scored by two numbers.
type ImageLocality struct {
	// Rules names the rules; "" means [Kubernetes137].
	Rules Rules
}

// Name returns "ImageLocality".
func (ImageLocality) Name() string { return "ImageLocality" }

// Validate reports unknown rules.
func (p ImageLocality) Validate() error {
	return p.Rules.check("ImageLocality")
}

// Scope declares that a score reads the pod's images, the node, and how many
// nodes have them.
func (ImageLocality) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldImages, Reads: framework.ReadsNode | framework.ReadsNodeSet}
}

// PreScore looks up the pod's images.
func (p ImageLocality) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	names := p.counted(c.Pod)
	l := framework.Scratch[imageLocality](c)
	l.count = len(names)
	if p.Rules == Kubernetes118 {
		l.count = min(l.count, 1)
	}
	l.images = l.images[:0]
	for _, name := range names {
		if state := c.Snapshot.Image(name); state.Nodes > 0 {
			l.images = append(l.images, scaledImage{name, ScaledImageSize(state.Size, state.Nodes, c.Snapshot.Len())})
		}
	}
	if len(l.images) == 0 {
		return noImages{}, framework.Status{}
	}
	return l, framework.Status{}
}

// counted are the images that count: those of init containers, containers and
// volumes come in this order.
func (p ImageLocality) counted(pod *framework.PodInfo) []string {
	names, spec := *podImages.Of(pod), &pod.Pod.Spec
	first, volumes := len(spec.InitContainers), len(spec.InitContainers)+len(spec.Containers)
	switch p.Rules {
	case Kubernetes134:
		return names[:volumes]
	case Kubernetes118:
		return names[first:volumes]
	}
	return names
}

var podImages = framework.NewPodDerived(func(p *framework.PodInfo) *[]string {
	names := api.PodImages(p.Pod)
	return &names
})

// imageLocality is the bound scorer.
type imageLocality struct {
	images []scaledImage // those that some node has
	count  int           // of how many images the size is shared
}

type scaledImage struct {
	name string
	size int64
}

func (l *imageLocality) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	var sum int64
	for i := range l.images {
		if image := &l.images[i]; node.HasImage(image.name) {
			sum = satAdd(sum, image.size)
		}
	}
	return ImageLocalityScore(sum, l.count)
}

// noImages is the bound scorer of a pod whose images no node has.
type noImages struct{}

func (noImages) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }

// ScoreNodes implements [framework.BatchScorer].
func (noImages) ScoreNodes(_ *framework.PodInfo, _ []*framework.NodeInfo, scores []int64) {
	clear(scores)
}

// The sizes, in bytes, between which [ImageLocalityScore] rises.
const (
	minImageSize int64 = 23 << 20
	maxImageSize int64 = 1000 << 20 // for each image
)

// ImageLocalityScore returns the score of a node that has images of the given
// total size in bytes, for a pod with that number of images: 0 up to 23 MiB,
// 100 from 1000 MiB for each image, and in between in proportion, truncated. A
// pod without images scores 0.
//
// Source: kube-scheduler 1.37, calculatePriority.
func ImageLocalityScore(size int64, images int) int64 {
	if images <= 0 {
		return 0
	}
	largest := int64(math.MaxInt64)
	if int64(images) <= math.MaxInt64/maxImageSize {
		largest = maxImageSize * int64(images)
	}
	size = min(max(size, minImageSize), largest)
	return percent(size-minImageSize, largest-minImageSize)
}

// ScaledImageSize returns what an image of the given size in bytes counts for
// when so many of all nodes have it: size * (nodes/all), truncated. That keeps
// pods from being drawn to the few nodes that have an image. Sizes, and numbers
// of nodes, below 1 count for nothing.
//
// Source: kube-scheduler 1.37, scaledImageScore.
func ScaledImageSize(size int64, nodes, all int) int64 {
	if size <= 0 || nodes <= 0 || all <= 0 {
		return 0
	}
	spread := float64(nodes) / float64(all)
	scaled := float64(float64(size) * spread)
	if scaled >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(scaled)
}
