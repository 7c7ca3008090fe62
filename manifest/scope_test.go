package manifest

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestScopeContains(t *testing.T) {
	tests := []struct {
		pattern string
		in, out []string
	}{
		{"customers", []string{"customers"}, []string{"customers/k=1", "eu/customers", "customer"}},
		{"sales/dt=2025-03-05", []string{"sales/dt=2025-03-05"},
			[]string{"sales", "sales/dt=2025-03-06", "sales/dt=2025-03-05/region=eu", "sales/day=2025-03-05", "eu/sales/dt=2025-03-05"}},
		{"sales/dt=2025-03-05/*", []string{"sales/dt=2025-03-05/region=eu", "sales/dt=2025-03-05/region=eu/hour=1"},
			[]string{"sales/dt=2025-03-05", "sales/dt=2025-03-06/region=eu"}},
		{"sales/*", []string{"sales/dt=1", "sales/dt=1/region=eu", "sales/any=%2A"}, []string{"sales", "sales/eu/dt=1", "other/dt=1"}},
		{"sales/dt=*", []string{"sales/dt=1", "sales/dt=%2A"}, []string{"sales", "sales/dt=1/region=eu", "sales/day=1"}},
		{"sales/dt=*/region=eu", []string{"sales/dt=1/region=eu"}, []string{"sales/dt=1", "sales/dt=1/region=us", "sales/region=eu/dt=1"}},
		{"sales/dt=*/*", []string{"sales/dt=1/region=eu", "sales/dt=1/region=eu/h=2"}, []string{"sales/dt=1", "sales/region=eu/dt=1"}},
		{"sales/at=10:30", []string{"sales/at=10%3A30", "sales/at=10%3a30"}, []string{"sales/at=10%253A30"}},
		{"sales/h=1", []string{"sales/h=1"}, []string{"sales/h=01"}},
		{"sales/k=%2A", []string{"sales/k=%2A"}, []string{"sales/k=a"}},
	}
	for _, tt := range tests {
		s, err := ParseScope([]string{tt.pattern})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range tt.in {
			if !s.Contains(mustPartition(t, path)) {
				t.Errorf("%q does not contain %q", tt.pattern, path)
			}
		}
		for _, path := range tt.out {
			if s.Contains(mustPartition(t, path)) {
				t.Errorf("%q contains %q", tt.pattern, path)
			}
		}
	}
	if (Scope{}).Contains(mustPartition(t, "customers")) {
		t.Error("the empty scope contains something")
	}
}

func TestScopeForm(t *testing.T) {
	s, err := ParseScope([]string{"sales/dt=2", "orders/at=1:2/*", "sales/dt=2", "customers", "sales/*"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"customers", "orders/at=1%3A2/*", "sales/*", "sales/dt=2"}
	if got := s.Strings(); !slices.Equal(got, want) {
		t.Errorf("scope %q, want %q", got, want)
	}
	if got := s.Tables(); !slices.Equal(got, []string{"customers", "orders", "sales"}) {
		t.Errorf("tables %q", got)
	}
	again, err := ParseScope(want)
	if err != nil || !again.Equal(s) {
		t.Errorf("%q is another scope, %v", again.Strings(), err)
	}
	if less, err := ParseScope(want[1:]); err != nil || less.Equal(s) {
		t.Errorf("%q is the same scope, %v", less.Strings(), err)
	}
}

func TestScopeSingle(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"customers"}, "customers"},
		{[]string{"sales/at=1:2", "sales/at=1%3A2"}, "sales/at=1%3A2"},
		{[]string{"sales/*"}, ""},
		{[]string{"sales/dt=*/r=1"}, ""},
		{[]string{"customers", "sales/dt=1"}, ""},
	}
	for _, tt := range tests {
		s, err := ParseScope(tt.args)
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := s.Single(); ok != (tt.want != "") || p.Path != tt.want {
			t.Errorf("%q: %q, %t, want %q", tt.args, p.Path, ok, tt.want)
		}
	}
}

func TestParseScopeErrors(t *testing.T) {
	tests := []struct {
		in     string
		offset int
		reason string
	}{
		{"*", 0, "no table stands before it"},
		{"dt=*", 0, "no table stands before it"},
		{"*/dt=1", 0, "no table stands before it"},
		{"sales/*/region=eu", 6, "a * before the end names no key"},
		{"sales/dt=2025-*", 14, "a * beside other text"},
		{"sal*/dt=1", 3, "a * beside other text"},
		{"sales/d*=1", 7, "a * beside other text"},
		{"sales/dt=1/eu", 11, `"eu" stands after a key and is none`},
		{"/sales/*", 0, "the path is absolute"},
	}
	for _, tt := range tests {
		_, err := ParseScope([]string{"ok", tt.in})
		var e *SyntaxError
		if !errors.As(err, &e) || e.Text != tt.in || e.Offset != tt.offset || e.Reason != tt.reason || e.Remedy == "" {
			t.Errorf("%q: %v, want byte %d: %s", tt.in, err, tt.offset, tt.reason)
		}
	}
	if _, err := ParseScope(nil); err == nil || !strings.Contains(err.Error(), "no partition") {
		t.Errorf("nothing: %v", err)
	}
}
