package frameworktest

import (
	"context"
	"fmt"

	"github.com/berth-sched/berth/framework/incremental"
)

// checkGate wants a gate to let every pod in that has none of its parts.
func (k *kit) checkGate() *Failure {
	k.calling = "Gates"
	gate := k.gate.(incremental.SelectiveGate)
	parts := gate.Gates()
	if again := gate.Gates(); again != parts {
		return k.fail("Gates, asked again", fmt.Sprint(again), fmt.Sprint(parts))
	}
	for _, p := range k.pods {
		if k.pod = p; parts == 0 || p.Parts()&parts != 0 {
			continue
		}
		k.calling = "PreEnqueue"
		if status := k.gate.PreEnqueue(context.Background(), p); !status.IsSuccess() {
			return k.fail("PreEnqueue, for a pod with none of the parts of Gates", status.String(), "Success")
		}
	}
	return nil
}
