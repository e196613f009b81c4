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

// WithClock runs f where the process's clock is simulated: it begins in the year
// 2000 and passes only while f sleeps. Such a clock is to be had inside a test
// only, so a test of one function is run here.
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
	os.Stdout = null // where the test would say that it passed
	if testing.MainStart(deps{}, tests, nil, nil, nil).Run(); !done {
		return errors.New("the comparison did not come to its end")
	}
	return nil
}

// deps is what package testing asks of the program that runs tests. Nothing of
// it is used.
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
