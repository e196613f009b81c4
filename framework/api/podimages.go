package api

import "strings"

// PodImages returns the normalized names of the pod's images: one entry for each
// init container, container and image volume, in that order. A name without a tag
// gets ":latest". A nil pod has no images.
func PodImages(p *Pod) []string {
	return appendPodImages(make([]string, 0, 8), p) // on the stack of a caller that does not keep them
}

func appendPodImages(names []string, p *Pod) []string {
	if p == nil {
		return nil
	}
	for i := range p.Spec.InitContainers {
		names = append(names, normalizedImage(p.Spec.InitContainers[i].Image))
	}
	for i := range p.Spec.Containers {
		names = append(names, normalizedImage(p.Spec.Containers[i].Image))
	}
	for i := range p.Spec.Volumes {
		if v := p.Spec.Volumes[i].Image; v != nil {
			names = append(names, normalizedImage(v.Reference))
		}
	}
	return names
}

// normalizedImage appends ":latest" to an image name without a tag.
func normalizedImage(name string) string {
	if strings.LastIndex(name, ":") <= strings.LastIndex(name, "/") {
		return name + ":latest"
	}
	return name
}
