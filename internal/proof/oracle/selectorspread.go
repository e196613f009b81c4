package oracle

import "github.com/berth-sched/berth/framework/api"

// SelectorSpread normalizes the numbers of pods on nodes. It computes each node from
// the objects.
//
// Source: kube-scheduler 1.18, plugin DefaultPodTopologySpread.
func SelectorSpread(nodes []*api.Node, counts []int64) []int64 {
	part := func(count, largest int64) float64 {
		if largest == 0 {
			return 100
		}
		return 100 * (float64(largest-count) / float64(largest))
	}
	var largest, largestInZone int64
	for i, n := range nodes {
		largest = max(largest, counts[i])
		if zone := zoneOf(n); zone != "" {
			largestInZone = max(largestInZone, inZone(nodes, counts, zone))
		}
	}
	scores := make([]int64, len(nodes))
	for i, n := range nodes {
		score := part(counts[i], largest)
		if zone := zoneOf(n); zone != "" {
			const weight float64 = 2.0 / 3.0
			own := score * (1.0 - weight)
			ofZone := weight * part(inZone(nodes, counts, zone), largestInZone)
			score = own + ofZone
		}
		scores[i] = int64(score)
	}
	return scores
}

func inZone(nodes []*api.Node, counts []int64, zone string) (sum int64) {
	for i, n := range nodes {
		if zoneOf(n) == zone {
			sum += counts[i]
		}
	}
	return sum
}

// zoneOf returns the zone of a node, "" for none. Old labels win if they are
// present.
func zoneOf(n *api.Node) string {
	either := func(old, now string) string {
		if value, ok := n.Labels[old]; ok {
			return value
		}
		return n.Labels[now]
	}
	region := either("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
	zone := either("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
	if region == "" && zone == "" {
		return ""
	}
	return region + "/" + zone
}

// ServiceAffinity normalizes the numbers of a service's pods on nodes by the values
// of labels.
//
// Source: kube-scheduler 1.18, plugin ServiceAffinity.
func ServiceAffinity(nodes []*api.Node, counts []int64, labels []string) []int64 {
	scores := make([]int64, len(nodes))
	for i, n := range nodes {
		var sum float64
		for _, label := range labels {
			value, ok := n.Labels[label]
			if !ok {
				continue
			}
			var total, same int64
			for k, other := range nodes {
				total += counts[k]
				if v, ok := other.Labels[label]; ok && v == value {
					same += counts[k]
				}
			}
			part := 100.0
			if total > 0 {
				part = 100 * (float64(total-same) / float64(total))
			}
			sum += part / float64(len(labels))
		}
		scores[i] = int64(sum)
	}
	return scores
}
