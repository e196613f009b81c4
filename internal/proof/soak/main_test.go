//go:build full

package soak_test

import (
	"testing"

	"github.com/berth-sched/berth/internal/proof/effort"
)

func TestMain(m *testing.M) {
	effort.Rapid()
	m.Run()
}
