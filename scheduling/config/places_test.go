package config_test

import (
	"strings"
	"testing"

	"github.com/berth-sched/berth/scheduling/config"
)

// TestLineOfProfilesInV1alpha1 checks the line of the field, which that version does
// not have.
func TestLineOfProfilesInV1alpha1(t *testing.T) {
	text := "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\nschedulerName: mine\nprofiles: [{schedulerName: x}]\n"
	_, err := config.Load([]byte(text), config.LoadConfig{})
	if want := `line 4: unknown field "profiles"`; err == nil || err.Error() != want {
		t.Errorf("Load: %v, want %s", err, want)
	}
}

// TestKnownPluginsAreListedOnce checks that, however many plugins are unknown.
func TestKnownPluginsAreListedOnce(t *testing.T) {
	text := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n" +
		"- {schedulerName: a, plugins: {score: {enabled: [{name: A}, {name: B}]}, filter: {enabled: [{name: C}]}}}\n" +
		"- {schedulerName: b, plugins: {multiPoint: {enabled: [{name: D}]}}}\n"
	_, err := config.Load([]byte(text), config.LoadConfig{})
	if err == nil {
		t.Fatal("Load took plugins that it does not know")
	}
	if n := strings.Count(err.Error(), "does not exist"); n != 4 {
		t.Errorf("%d unknown plugins, want 4: %v", n, err)
	}
	if n := strings.Count(err.Error(), "known plugins: "); n != 1 {
		t.Errorf("the known plugins are listed %d times, want once: %v", n, err)
	}
}

// TestBuildListsKnownPluginsOnce checks that for several plugins that only Load
// knows.
func TestBuildListsKnownPluginsOnce(t *testing.T) {
	text := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n" +
		"- {schedulerName: a, plugins: {score: {enabled: [{name: A}, {name: B}]}}}\n" +
		"- {schedulerName: b, plugins: {score: {enabled: [{name: A}]}}}\n"
	c, err := config.Load([]byte(text), config.LoadConfig{Plugins: plugins("A:score B:score")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Build(config.BuildConfig{})
	if err == nil {
		t.Fatal("Build took plugins that nobody makes")
	}
	if n := strings.Count(err.Error(), "does not exist"); n != 3 {
		t.Errorf("%d unknown plugins, want 3: %v", n, err)
	}
	if n := strings.Count(err.Error(), "known plugins: DefaultBinder, "); n != 1 {
		t.Errorf("the known plugins are listed %d times, want once: %v", n, err)
	}
}
