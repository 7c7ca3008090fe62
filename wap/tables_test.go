package wap

import (
	"context"
	"testing"
)

func TestScopeOfAnotherTableShape(t *testing.T) {
	l := newLab(t)
	l.must(step{run: "a", partition: "shop/orders/dt=1/region=eu", rows: orders(1, 2)})
	l.must(step{run: "b", partition: "customers", rows: orders(1, 2)})
	for scope, code := range map[string]int{
		"shop/orders/dt=2/region=eu":        0,
		"shop/orders/dt=2/*":                0,
		"shop/orders/*":                     0,
		"shop/orders/dt=*/region=eu":        0,
		"shop/returns/dt=1":                 0,
		"customers":                         0,
		"shop/orders/region=eu/dt=1":        2,
		"shop/orders/dt=1":                  2,
		"shop/orders":                       2,
		"shop/orders/2025-01-01":            2,
		"shop/dt=1":                         2,
		"customers/dt=1":                    2,
		"shop/orders/dt=1/region=eu/hour=1": 2,
	} {
		_, err := l.open().Begin(context.Background(), BeginRequest{Run: "run of " + scope, Scope: []string{scope}})
		if Code(err) != code {
			t.Errorf("%s: exit %d (%v), want %d", scope, Code(err), err, code)
		}
	}
}
