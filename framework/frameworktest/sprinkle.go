package frameworktest

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// sprinkle puts the labels and annotations of the config on nodes and pods of
// the objects at random. It is a function of the seed.
func (k *kit) sprinkle(o *api.Objects) {
	r := rand.New(rand.NewPCG(k.seed, stream+2))
	for _, n := range o.Nodes {
		k.sprinkleOn(r, &n.ObjectMeta)
	}
	for _, p := range o.Pods {
		k.sprinkleOn(r, &p.ObjectMeta)
	}
}

// sprinkleOn puts labels and annotations of the config on one object.
func (k *kit) sprinkleOn(r *rand.Rand, m *api.ObjectMeta) {
	add := func(to *map[string]string, words map[string][]string) {
		for _, key := range slices.Sorted(maps.Keys(words)) {
			values := words[key]
			if len(values) == 0 || r.IntN(3) == 0 {
				continue
			}
			if *to == nil {
				*to = map[string]string{}
			}
			(*to)[key] = values[r.IntN(len(values))]
		}
	}
	add(&m.Labels, k.config.Labels)
	add(&m.Annotations, k.config.Annotations)
}

// newNode returns a random node, as clusters of this test have them.
func (k *kit) newNode(r *rand.Rand, name string) *api.Node {
	n := Node(r, name)
	k.sprinkleOn(r, &n.ObjectMeta)
	return n
}
