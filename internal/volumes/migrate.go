package volumes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework/api"
)

// An inTree is an in-tree volume plugin that a CSI driver can take over.
type inTree struct {
	name   string // of the plugin, as in the provisioner of a class
	driver string // of the CSI driver

	// countable says that schedulers can count and place its volumes as volumes of
	// the driver. For other plugins they only know that a volume is in-tree.
	countable bool

	// zone is the driver's label for zones, or "" if it has none.
	zone string
}

var (
	gcePD     = &inTree{"kubernetes.io/gce-pd", "pd.csi.storage.gke.io", true, "topology.gke.io/zone"}
	awsEBS    = &inTree{"kubernetes.io/aws-ebs", "ebs.csi.aws.com", true, "topology.ebs.csi.aws.com/zone"}
	azureDisk = &inTree{"kubernetes.io/azure-disk", "disk.csi.azure.com", true, ""}
	cinder    = &inTree{"kubernetes.io/cinder", "cinder.csi.openstack.org", true, "topology.cinder.csi.openstack.org/zone"}
	portworx  = &inTree{"kubernetes.io/portworx-volume", "pxd.portworx.com", true, ""}
	azureFile = &inTree{"kubernetes.io/azure-file", "file.csi.azure.com", false, ""}
	vSphere   = &inTree{"kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", false, ""}

	inTrees = []*inTree{gcePD, awsEBS, azureDisk, cinder, portworx, azureFile, vSphere}
)

// inTreeNamed returns the plugin of that name, or nil.
func inTreeNamed(provisioner string) *inTree {
	i := slices.IndexFunc(inTrees, func(t *inTree) bool { return t.name == provisioner })
	if i < 0 {
		return nil
	}
	return inTrees[i]
}

// inTreeOf returns the plugin of a pod's volume, or nil.
func inTreeOf(v *api.VolumeSource) *inTree {
	return firstInTree(v.GCEPersistentDisk != nil, v.AWSElasticBlockStore != nil, v.AzureDisk != nil, v.Cinder != nil,
		v.PortworxVolume != nil, v.AzureFile != nil, v.VsphereVolume != nil)
}

// inTreeOfVolume returns the plugin of a persistent volume, or nil.
func inTreeOfVolume(v *api.PersistentVolumeSource) *inTree {
	return firstInTree(v.GCEPersistentDisk != nil, v.AWSElasticBlockStore != nil, v.AzureDisk != nil, v.Cinder != nil,
		v.PortworxVolume != nil, v.AzureFile != nil, v.VsphereVolume != nil)
}

// firstInTree returns the plugin of the first source that is present, or nil.
func firstInTree(present ...bool) *inTree {
	for i, plugin := range [...]*inTree{gcePD, awsEBS, azureDisk, cinder, portworx, azureFile, vSphere} {
		if present[i] {
			return plugin
		}
	}
	return nil
}

// Migrated reports whether a CSI driver on the node has taken over the in-tree
// plugin of that name.
func Migrated(node *api.CSINode, plugin string) bool {
	if node == nil || plugin == "" {
		return false
	}
	for name := range strings.SplitSeq(node.Annotations[api.AnnMigratedPlugins], ",") {
		if name == plugin {
			return true
		}
	}
	return false
}

// handleOf returns the driver's name for a disk of a pod.
func handleOf(v *api.VolumeSource) (string, error) {
	switch {
	case v.GCEPersistentDisk != nil:
		return gceHandle("zones", "UNSPECIFIED", v.GCEPersistentDisk.PDName), nil
	case v.AWSElasticBlockStore != nil:
		return ebsHandle(v.AWSElasticBlockStore.VolumeID)
	case v.AzureDisk != nil:
		return v.AzureDisk.DataDiskURI, nil
	case v.Cinder != nil:
		return v.Cinder.VolumeID, nil
	case v.PortworxVolume != nil:
		return v.PortworxVolume.VolumeID, nil
	}
	return "", nil
}

// handleOfVolume returns the driver's name for a persistent volume.
func handleOfVolume(v *api.PersistentVolume) (string, error) {
	switch source := &v.Spec.PersistentVolumeSource; {
	case source.GCEPersistentDisk != nil:
		return gceVolumeHandle(v)
	case source.AWSElasticBlockStore != nil:
		return ebsHandle(source.AWSElasticBlockStore.VolumeID)
	case source.AzureDisk != nil:
		return source.AzureDisk.DataDiskURI, nil
	case source.Cinder != nil:
		return source.Cinder.VolumeID, nil
	case source.PortworxVolume != nil:
		return source.PortworxVolume.VolumeID, nil
	}
	return "", nil
}

func gceHandle(kind, place, disk string) string {
	return "projects/UNSPECIFIED/" + kind + "/" + place + "/disks/" + disk
}

// gceVolumeHandle reads the location of a disk from the volume's zone label: one
// zone, or several zones of one region.
func gceVolumeHandle(v *api.PersistentVolume) (string, error) {
	disk := v.Spec.GCEPersistentDisk.PDName
	label := v.Labels[api.LabelFailureDomainZone]
	if label == "" {
		label = v.Labels[api.LabelTopologyZone]
	}
	zones := strings.Split(label, zoneDelimiter)
	switch {
	case len(zones) > 1:
		region, err := gceRegion(zones)
		if err != nil {
			return "", fmt.Errorf("failed to get region from zones: %w", err)
		}
		return gceHandle("regions", region, disk), nil
	case label != "":
		return gceHandle("zones", label, disk), nil
	}
	return gceHandle("zones", "UNSPECIFIED", disk), nil
}

// gceRegion returns the region of zones such as "europe-west1-b".
func gceRegion(zones []string) (string, error) {
	regions := map[string]struct{}{}
	region := ""
	for _, zone := range zones {
		parts := strings.Split(zone, "-")
		if len(parts) != 3 {
			return "", fmt.Errorf("zone in unexpected format, expected: {locale}-{region}-{zone}, got: %v", zone)
		}
		region = parts[0] + "-" + parts[1]
		regions[region] = struct{}{}
	}
	if len(regions) != 1 {
		return "", fmt.Errorf("multiple or no regions gotten from zones, got: %v", regions)
	}
	return region, nil
}

// ebsHandle returns the volume's name from "aws://zone/vol-1", "aws:///vol-1" or
// "vol-1".
//
// Differs: only the path of the URL is read, and it is taken literally.
func ebsHandle(id string) (string, error) {
	rest, isURL := strings.CutPrefix(id, "aws://")
	if !isURL {
		return id, nil
	}
	_, path, _ := strings.Cut(rest, "/")
	name := strings.Trim(path, "/")
	if !strings.HasPrefix(name, "vol-") || strings.Contains(name, "/") {
		return "", fmt.Errorf("failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (%s)", id)
	}
	return name, nil
}
