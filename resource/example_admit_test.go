package resource_test

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/resource"
)

func ExampleFullError() {
	schema := resource.NewSchema()
	fmt.Println(schema.Admit(namesFrom(0, 1000)))
	err := schema.Admit(namesFrom(2000, 1000))
	var full *resource.FullError
	fmt.Println(errors.As(err, &full), full.Name)
	fmt.Println(schema.Len(), "of", resource.MaxNames)
	// Output:
	// <nil>
	// true example.com/r02021
	// 1003 of 1024
}
