package input

import "github.com/berth-sched/berth/framework/api"

// A sampleWorkload is a number of equal pods.
type sampleWorkload struct {
	kind, name string
	replicas   int
	pod        api.PodBuilder
}

// sampleWorkloads are the workloads of the pending pods, in the order of creation.
// The last five ask for more than the cluster has, or for things it lacks.
var sampleWorkloads = []sampleWorkload{
	// The cluster's own services.
	{"ReplicaSet", "coredns", 3, app("kube-system", "coredns", "100m", "170Mi").PriorityClass("system-cluster-critical")},
	{"ReplicaSet", "metrics-server", 2, app("kube-system", "metrics-server", "100m", "200Mi").PriorityClass("system-cluster-critical")},
	{"ReplicaSet", "ingress", 2, app("ingress", "ingress", "1", "1Gi").HostPort(80, 443).
		NodeSelector("workload", "ingress").Tolerates("dedicated=ingress:NoSchedule")},
	{"StatefulSet", "prometheus", 2, app("monitoring", "prometheus", "2", "12Gi").NodeSelector("workload", "memory").
		PodAntiAffinity(api.LabelHostname, "app=prometheus")},
	{"ReplicaSet", "grafana", 1, app("monitoring", "grafana", "250m", "512Mi")},

	// The shop.
	{"ReplicaSet", "frontend", 48, app("shop", "frontend", "250m", "256Mi").PriorityClass("shop-critical").
		Spread(1, api.LabelTopologyZone, api.ScheduleAnyway, "app=frontend")},
	{"ReplicaSet", "checkout", 24, app("shop", "checkout", "500m", "512Mi").PriorityClass("shop-critical").
		Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=checkout")},
	{"ReplicaSet", "cart", 24, app("shop", "cart", "300m", "384Mi").Sidecar("proxy").Requests("100m", "128Mi")},
	{"ReplicaSet", "catalog", 36, app("shop", "catalog", "200m", "768Mi").PreferNodes(50, "workload in (memory)")},
	{"ReplicaSet", "search", 18, app("shop", "search", "1", "3Gi").PreferNodes(80, "workload in (compute)")},
	{"ReplicaSet", "recommend", 20, app("shop", "recommend", "750m", "1Gi").InitContainer("model").Requests("1500m", "2Gi")},
	{"ReplicaSet", "mailer", 8, app("shop", "mailer", "50m", "")},
	{"ReplicaSet", "images", 30, app("shop", "images", "400m", "640Mi").Tolerates("capacity=spot:PreferNoSchedule")},
	{"StatefulSet", "redis", 6, app("shop", "redis", "500m", "8Gi").NodeSelector("workload", "memory")},
	{"StatefulSet", "kafka", 6, app("data", "kafka", "2", "8Gi").
		PodAntiAffinity(api.LabelHostname, "app=kafka")},
	{"StatefulSet", "postgres", 3, app("data", "postgres", "4", "24Gi").NodeSelector("workload", "memory").PriorityClass("shop-critical").
		PodAntiAffinity(api.LabelTopologyZone, "app=postgres")},

	// Work that may wait and prefers cheap nodes.
	{"Job", "thumbnails", 60, batch("thumbnails", "500m", "512Mi").Tolerates("capacity=spot:PreferNoSchedule")},
	{"Job", "reports", 40, batch("reports", "1", "2Gi").PreferNodes(100, "capacity in (spot)").Tolerates("capacity")},
	{"Job", "spark-executor", 24, batch("spark-executor", "2", "4Gi").NodeAffinity("workload in (compute)")},
	{"Job", "ci", 30, batch("ci", "", "")},
	{"ReplicaSet", "inference", 6, gpu("inference", "4", "16Gi", "1")},
	{"Job", "train", 1, gpu("train", "16", "96Gi", "4")},

	// Too large, or of the wrong kind.
	{"Job", "finetune", 2, gpu("finetune", "24", "128Gi", "4")},
	{"Job", "warehouse-load", 2, batch("warehouse-load", "48", "96Gi")},
	{"ReplicaSet", "billing", 3, app("legacy", "billing", "500m", "1Gi").NodeSelector("disk", "nvme")},
	{"ReplicaSet", "ingress-canary", 3, app("ingress", "ingress-canary", "500m", "512Mi").HostPort(443).
		NodeSelector("workload", "ingress").Tolerates("dedicated=ingress:NoSchedule")},
	{"StatefulSet", "graph-db", 4, app("data", "graph-db", "3", "56Gi").NodeSelector("workload", "memory")},
}

// app describes a pod by the requests of its container.
func app(namespace, name, cpu, memory string) api.PodBuilder {
	return api.MakePod("").Namespace(namespace).Labels("app", name).Requests(cpu, memory)
}

func batch(name, cpu, memory string) api.PodBuilder {
	return app("batch", name, cpu, memory).PriorityClass("batch")
}

func gpu(name, cpu, memory, gpus string) api.PodBuilder {
	return app("ml", name, cpu, memory).Request("nvidia.com/gpu", gpus).Limit("nvidia.com/gpu", gpus).Tolerates("nvidia.com/gpu:NoSchedule")
}
