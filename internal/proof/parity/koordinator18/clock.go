package koordinator

import (
	"errors"
	"io"
	"os"
	"reflect"
	"testing"
	"testing/synctest"
	"time"
)

// WithClock runs f with a simulated process clock: it begins in the year 2000 and
// advances only while f sleeps. Only a test can have such a clock, so WithClock runs
// f as a test.
func WithClock(f func()) error {
	done := false
	tests := []testing.InternalTest{{Name: "f", F: func(t *testing.T) {
		synctest.Test(t, func(*testing.T) {
			f()
			done = true
		})
	}}}
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	os.Stdout = null // the test would print here that it passed
	if testing.MainStart(deps{}, tests, nil, nil, nil).Run(); !done {
		return errors.New("the comparison did not come to its end")
	}
	return nil
}

// deps implements the interface that package testing needs of a test program.
// Nothing of it is used.
type deps struct{}

type corpusEntry = struct {
	Parent     string
	Path       string
	Data       []byte
	Values     []any
	Generation int
	IsSeed     bool
}

func (deps) ImportPath() string                          { return "" }
func (deps) ModulePath() string                          { return "" }
func (deps) MatchString(string, string) (bool, error)    { return true, nil }
func (deps) SetPanicOnExit0(bool)                        {}
func (deps) StartCPUProfile(io.Writer) error             { return nil }
func (deps) StopCPUProfile()                             {}
func (deps) StartTestLog(io.Writer)                      {}
func (deps) StopTestLog() error                          { return nil }
func (deps) WriteProfileTo(string, io.Writer, int) error { return nil }
func (deps) RunFuzzWorker(func(corpusEntry) error) error { return nil }
func (deps) CheckCorpus([]any, []reflect.Type) error     { return nil }
func (deps) ResetCoverage()                              {}
func (deps) SnapshotCoverage()                           {}

func (deps) CoordinateFuzzing(time.Duration, int64, time.Duration, int64, int, []corpusEntry, []reflect.Type, string, string) error {
	return nil
}

func (deps) ReadCorpus(string, []reflect.Type) ([]corpusEntry, error) { return nil, nil }

func (deps) InitRuntimeCoverage() (mode string, tearDown func(string, string) (string, error), snapcov func() float64) {
	return "", nil, nil
}
