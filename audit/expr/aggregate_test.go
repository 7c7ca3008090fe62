package expr

import (
	"errors"
	"math/big"
	"strings"
	"testing"
)

// Arithmetic over given values of aggregates.
func TestOverAggregates(t *testing.T) {
	exact := func(text string) Scalar {
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q is not a number", text)
		}
		return Scalar{Exact: r}
	}
	tests := []struct {
		text  string
		calls []Scalar
		want  string
	}{
		{"sum(i) / count(*)", []Scalar{exact("1"), exact("3")}, "1/3"},
		{"1 - -(sum(i) + 0.5) * 2", []Scalar{exact("1")}, "4/1"},
		{"sum(i) / count(i)", []Scalar{exact("1"), exact("0")}, "NULL"},
		{"sum(i) + max(d)", []Scalar{{Null: true}, exact("1")}, "NULL"},
		{"sum(f) / count(*)", []Scalar{{Float: 1}, exact("4")}, "0.25"},
		{"sum(f) / count(*)", []Scalar{{Float: 1}, exact("0")}, "+Inf"},
		{"min(i) * 1e30", []Scalar{exact("9223372036854775807")}, "9223372036854775807000000000000000000000000000000/1"},
	}
	for _, tt := range tests {
		a, err := CompileAggregate(tt.text, typesOf(t), nil)
		if err != nil {
			t.Fatalf("%s: %v", tt.text, err)
		}
		got := "NULL"
		switch v := a.Value(tt.calls); {
		case v.Null:
		case v.Exact != nil:
			got = v.Exact.String()
		default:
			got = strings.TrimRight(big.NewFloat(v.Float).Text('g', 10), "0")
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.want)
		}
	}
}

func FuzzCompileAggregate(f *testing.F) {
	for _, text := range []string{"sum(i) / count(*)", "avg(d * 2) - max(f)", "count(case when s = 'a' then 1 end)", "-(min(u)) + 1.50"} {
		f.Add(text)
	}
	unknown := func(string) Type { return Type{} }
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := AggregateColumns(text); err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(text) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		a, err := CompileAggregate(text, unknown, nil)
		if err != nil {
			return
		}
		var calls []Scalar
		for range a.Calls() {
			calls = append(calls, Scalar{Exact: big.NewRat(1, 3)})
		}
		a.Value(calls)
	})
}
