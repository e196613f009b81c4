// Package live runs a comparison of berth with Karmada, case by case.
package live

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
)

// An Outcome is the result of one comparison.
type Outcome struct {
	// Mismatch describes the difference, "" if there is none.
	Mismatch string
	// Fault names the fault of Karmada that explains the difference.
	Fault string
}

// A Kind is a kind of case.
type Kind struct {
	Name string
	Run  func(r *rand.Rand) Outcome
}

// Case runs case number n of a seed. A panic of berth is a mismatch.
func Case(kinds []Kind, seed, n uint64) (kind string, o Outcome) {
	k := kinds[n%uint64(len(kinds))]
	kind = k.Name
	defer func() {
		if p := recover(); p != nil {
			o = Outcome{Mismatch: fmt.Sprintf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	return kind, k.Run(rand.New(rand.NewPCG(seed, n)))
}

// Guard calls f, a function of Karmada, and returns the value of its panic.
func Guard(f func()) (panicked any) {
	defer func() { panicked = recover() }()
	f()
	return nil
}

// Convert converts an object of one library to the same object of the other, by its
// JSON.
func Convert[T any](from any) T {
	var to T
	if err := json.Unmarshal(Encode(from), &to); err != nil {
		panic(fmt.Sprintf("cannot decode %s: %v", Encode(from), err))
	}
	return to
}

// Encode returns the JSON of x.
func Encode(x any) []byte {
	data, err := json.Marshal(x)
	if err != nil {
		panic(err)
	}
	return data
}

// Differ returns a mismatch.
func Differ(what string, karmada, berth, input any) Outcome {
	return Outcome{Mismatch: fmt.Sprintf("%s: karmada %s, berth %s\ninput %s", what, Encode(karmada), Encode(berth), Encode(input))}
}
