package rival_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// quantity parses a quantity.
func quantity(t *testing.T, text string) *resource.Quantity {
	t.Helper()
	q, err := resource.ParseQuantity(text)
	if err != nil {
		t.Fatal(err)
	}
	return &q
}
