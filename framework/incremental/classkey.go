package incremental

import "github.com/berth-sched/berth/framework"

// A ClassKeyer is a plugin that tells pods apart by less than the parts that it reads.
// For example, a label that no selector looks at makes no difference, and a plugin that
// reads one annotation need not read them all. It says itself which pods it treats
// alike, and [framework.Scope].Pod leaves out the parts that this key covers.
//
// Pods with equal keys in one snapshot, at one moment, must get the same answers if
// the parts in Scope.Pod are equal, too. The keys of pods may change when objects,
// nodes or pods of the cluster do. Then ClassKeyVersion must change as well. A plugin
// whose scope names none of [framework.ReadsDomain], [framework.ReadsFeasible] and
// [framework.ReadsCluster] must find the key from the pod alone.
//
// If the plugin is an [Idler] and Idle reports true for a pod, it does so for all pods of
// the same class while the version stands.
type ClassKeyer interface {
	// AppendClassKey appends the plugin's part of the class key.
	AppendClassKey(b []byte, s *framework.Snapshot, pod *framework.PodInfo) []byte
	// ClassKeyVersion identifies all that keys read besides the pod, within the
	// snapshot and its forks: a number from [framework.Snapshot.NewVersion], or 0 if
	// keys read the pod alone.
	ClassKeyVersion(s *framework.Snapshot) uint64
}

// A SharedKeyer is a [ClassKeyer] whose version is that of other plugins, too: those with
// the same source. In each decision, only one of them is asked for it.
type SharedKeyer interface {
	ClassKeyer
	// ClassKeySource names what the version is of, such as a package. It must not be empty,
	// and never change.
	ClassKeySource() string
}

// A ConcernedKeyer is a [ClassKeyer] whose key only pods with certain parts concern, though the plugin
// answers about others, too. It is not asked for the key, nor for the version, of other pods: their key must be
// empty. A plugin that is [Concerned] need not say it again.
type ConcernedKeyer interface {
	ClassKeyer
	// KeyConcern returns parts of pods. A pod with at least one of them concerns the key. It must
	// always return the same; 0 means that every pod does.
	KeyConcern() framework.PodParts
}
