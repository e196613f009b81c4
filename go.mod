module github.com/berth-sched/berth

go 1.26

require (
	github.com/google/go-cmp v0.7.0
	go.yaml.in/yaml/v2 v2.4.2
	pgregory.net/rapid v1.3.0
)
