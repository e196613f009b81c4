package scoring

import (
	"math"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// ImageLocality scores how much of the pod's images a node has already: the sum of
// their sizes, each scaled by the fraction of the nodes that have it
// ([ScaledImageSize]), mapped to [0,100] ([ImageLocalityScore]). Images of
// containers, init containers and image volumes count, each as often as it occurs.
// The score is not normalized. Rules selects older formulas.
//
// Names are compared as they are written, with ":latest" added to names without a
// tag.
//
// Source: kube-scheduler 1.37, plugin ImageLocality.
//
// Differs: the number of nodes with an image.
// Original: kube-scheduler stores it per node, and refreshes it only when the node or
// its pods change; so two nodes with one image may be scored by two numbers.
// Here: it is counted when a pod is placed.
// Why: a score must not depend on what changed before.
type ImageLocality struct {
	// Rules selects the formula; "" means [Kubernetes137].
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

// ScopeVaries implements [incremental.VaryingScoper].
func (ImageLocality) ScopeVaries() framework.PodParts { return 0 }

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
		if size, nodes := c.Snapshot.Image(name); nodes > 0 {
			l.images = append(l.images, scaledImage{name, ScaledImageSize(size, nodes, c.Snapshot.Len())})
		}
	}
	if len(l.images) == 0 {
		return noImages{}, framework.Status{}
	}
	return l, framework.Status{}
}

// counted returns the images that count. Images of init containers, containers and
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
	names := slices.Clone(api.PodImages(p.Pod))
	return &names
})

// imageLocality is the bound scorer.
type imageLocality struct {
	images []scaledImage // images that some node has
	count  int           // number of images that share the size
}

type scaledImage struct {
	name string
	size int64
}

func (l *imageLocality) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	var sum int64
	for i := range l.images {
		if image := &l.images[i]; node.HasImage(image.name) {
			sum = resource.SatAdd(sum, image.size)
		}
	}
	return ImageLocalityScore(sum, l.count)
}

// noImages is the bound scorer of a pod whose images no node has.
type noImages struct{}

func (noImages) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }

// ScoreNodes implements [incremental.BatchScorer].
func (noImages) ScoreNodes(_ *framework.PodInfo, _ []*framework.NodeInfo, scores []int64) {
	clear(scores)
}

// The score of [ImageLocalityScore] rises between these sizes, in bytes.
const (
	minImageSize int64 = 23 << 20
	maxImageSize int64 = 1000 << 20 // for each image
)

// ImageLocalityScore returns the score of a node that has images of the given total
// size in bytes, for a pod with that number of images. It is 0 up to 23 MiB, 100
// from 1000 MiB per image on, and proportional in between, truncated. A pod without
// images scores 0.
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

// ScaledImageSize returns the effective size of an image, given its size in bytes
// and how many of all nodes have it: size * (nodes/all), truncated. The scaling
// keeps pods from crowding on the few nodes that have an image. Sizes and node
// counts below 1 give 0.
//
// Source: kube-scheduler 1.37, scaledImageScore.
func ScaledImageSize(size int64, nodes, all int) int64 {
	if size <= 0 || nodes <= 0 || all <= 0 {
		return 0
	}
	spread := float64(nodes) / float64(all)
	return resource.SatFloat(float64(size) * spread)
}
