package karmada

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
)

// An Outcome is the result of one comparison.
type Outcome struct {
	// Mismatch says what differs, "" if nothing does.
	Mismatch string
	// Fault names the fault of Karmada by which it rightly differs.
	Fault string
}

// A Kind is a kind of case.
type Kind struct {
	Name string
	Run  func(r *rand.Rand) Outcome
}

// Kinds returns all kinds of cases.
func (v Version) Kinds() []Kind {
	return []Kind{
		{"schedule", v.schedule},
		{"filters", v.filters},
		{"general", general},
		{"weights", v.weights},
		{"nodes", nodes},
		{"modeling", grades},
		{"validate", validate},
		{"standardize", standardize},
	}
}

// Case runs case number n of a seed. A panic of berth is a mismatch.
func (v Version) Case(seed, n uint64) (kind string, o Outcome) {
	kinds := v.Kinds()
	k := kinds[n%uint64(len(kinds))]
	kind = k.Name
	defer func() {
		if p := recover(); p != nil {
			o = Outcome{Mismatch: fmt.Sprintf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	return kind, k.Run(rand.New(rand.NewPCG(seed, n)))
}

// guard calls f, which belongs to Karmada, and returns what it panicked with.
func guard(f func()) (panicked any) {
	defer func() { panicked = recover() }()
	f()
	return nil
}

// Convert turns an object of one library into the same object of the other, by
// its JSON.
func Convert[T any](from any) T {
	var to T
	if err := json.Unmarshal(encode(from), &to); err != nil {
		panic(fmt.Sprintf("cannot decode %s: %v", encode(from), err))
	}
	return to
}

func encode(x any) []byte {
	data, err := json.Marshal(x)
	if err != nil {
		panic(err)
	}
	return data
}

func differ(what string, karmada, berth, input any) Outcome {
	return Outcome{Mismatch: fmt.Sprintf("%s: karmada %s, berth %s\ninput %s", what, encode(karmada), encode(berth), encode(input))}
}
