// Package golden replays recorded answers of the real kube-scheduler against the
// plugins of this module. It serves tests only.
//
// A vector is one line of JSON: a cluster, a pod, and the answers of kube-scheduler
// 1.37.1. Vectors are grouped into families, one file each, <family>.jsonl.gz. They
// come from testdata and from every folder named in the environment variable
// BERTH_VECTORS. Such a folder holds the files itself or in a subfolder
// kube-scheduler.
//
//	func TestGoldenFit(t *testing.T) {
//		golden.Run(t, "fit", check)
//	}
//
// [Run] counts the cases of a family and the differences, prints
//
//	golden kube-scheduler/fit: 260 cases, 0 mismatches
//
// and fails on any difference. A check compares its answers with [Case.Expect];
// [Case.Snapshot] and [Case.Args] prepare it. [CheckPlugins] is the check of single
// plugins.
package golden
