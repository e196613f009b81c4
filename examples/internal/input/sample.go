package input

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

// Sample returns a cluster such as a web shop with some data science may run. It has
// 40 nodes of five shapes in three zones, with their daemons, and 408 pending pods.
// Some of the pods fit nowhere.
func Sample() *Cluster {
	c := &Cluster{Title: "sample"}
	c.addSampleNodes()
	for _, w := range sampleWorkloads {
		for i := range w.replicas {
			c.Objects.Pods = append(c.Objects.Pods, w.pod.Name(fmt.Sprintf("%s-%d", w.name, i)).Owner(w.kind, w.name).Obj())
		}
	}
	c.Objects.PriorityClasses = []*api.PriorityClass{
		{ObjectMeta: api.ObjectMeta{Name: "shop-critical"}, Value: 1000},
		{ObjectMeta: api.ObjectMeta{Name: "batch"}, Value: -10},
	}
	return c
}

// samplePools are the groups of nodes: the amounts that pods may use of each, and
// the distinguishing labels and taints. The zones alternate among the nodes of a
// pool.
var samplePools = []struct {
	name  string
	count int
	node  api.NodeBuilder
}{
	{"general", 18, machine("general-8x32", "7910m", "30200Mi")},
	{"compute", 7, machine("compute-16x32", "15890m", "29600Mi").Labels("workload", "compute")},
	{"memory", 5, machine("memory-8x64", "7910m", "61500Mi").Labels("workload", "memory")},
	{"spot", 4, machine("general-8x32", "7910m", "30200Mi").Labels("capacity", "spot").Taint("capacity=spot:PreferNoSchedule")},
	{"edge", 2, machine("compute-4x8", "3920m", "6900Mi").Labels("workload", "ingress").Taint("dedicated=ingress:NoSchedule")},
	{"gpu", 3, machine("gpu-32x256-4", "31850m", "252000Mi").Labels("accelerator", "a4000").
		Resource("nvidia.com/gpu", "4").Taint("nvidia.com/gpu:NoSchedule")},
	{"drained", 1, machine("general-8x32", "7910m", "30200Mi").Unschedulable()},
}

// machine describes a node by its instance type and the amounts left for pods.
func machine(instance, cpu, memory string) api.NodeBuilder {
	return api.MakeNode("", cpu, memory).Region("north-1").Resource("ephemeral-storage", "90Gi").
		Labels("node.kubernetes.io/instance-type", instance, "kubernetes.io/os", "linux", "kubernetes.io/arch", "amd64")
}

// sampleDaemons run on every node.
var sampleDaemons = []api.PodBuilder{
	daemon("kube-proxy", "100m", "64Mi"),
	daemon("network-agent", "150m", "256Mi").HostPort(4240),
	daemon("log-shipper", "100m", "200Mi"),
	daemon("node-exporter", "50m", "64Mi").HostPort(9100),
}

func daemon(name, cpu, memory string) api.PodBuilder {
	return api.MakePod(name).Namespace("kube-system").Labels("app", name).Owner("DaemonSet", name).
		Requests(cpu, memory).PriorityClass("system-node-critical").Tolerates("").Phase(api.PodRunning)
}

// addSampleNodes adds the nodes and the daemons.
func (c *Cluster) addSampleNodes() {
	zones := []string{"north-1a", "north-1b", "north-1c"}
	for _, pool := range samplePools {
		for i := range pool.count {
			n := pool.node.Name(fmt.Sprintf("%s-%02d", pool.name, i)).Zone(zones[i%len(zones)]).Obj()
			c.Objects.Nodes = append(c.Objects.Nodes, n)
			for _, d := range sampleDaemons {
				p := d.Node(n.Name).Obj()
				p.Name += "-" + n.Name
				c.Objects.Pods = append(c.Objects.Pods, p)
			}
		}
	}
}
