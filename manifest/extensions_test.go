package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// annotate puts an extension into every object of canonical JSON.
func annotate(t testing.TB, data []byte) []byte {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	var add func(v any)
	add = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, member := range v {
				add(member)
			}
			v["x_note"] = map[string]any{"by": "ü <&>", "list": []any{nil, true, 3}}
		case []any:
			for _, member := range v {
				add(member)
			}
		}
	}
	add(v)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	// encoding/json escapes these two whatever it is told.
	data = bytes.ReplaceAll(b.Bytes(), []byte(`\u2028`), []byte("\u2028"))
	return bytes.ReplaceAll(data, []byte(`\u2029`), []byte("\u2029"))
}

// Every object of every stored object may carry extensions, and they survive.
func TestExtensionsSurvive(t *testing.T) {
	for _, s := range allStored() {
		t.Run(s.name, func(t *testing.T) {
			plain, err := Encode(s.sample(t))
			if err != nil {
				t.Fatal(err)
			}
			data := annotate(t, plain)
			if n, want := bytes.Count(data, []byte("x_note")), bytes.Count(plain, []byte("{")); n != want {
				t.Fatalf("%d extensions in %d objects", n, want)
			}
			v := s.empty()
			if err := decodeExactly(data, reflect.ValueOf(v).Elem()); err != nil {
				t.Fatal(err)
			}
			again, err := encode(reflect.ValueOf(v))
			if err != nil || !bytes.Equal(again, data) {
				t.Errorf("encoded\n%s, %v\nwant\n%s", again, err, data)
			}
		})
	}
}

// Extensions go with the element they stand in, wherever it goes; those of
// plain values go with their place.
func TestExtensionsMove(t *testing.T) {
	data, err := Encode(sampleSnapshot(t))
	if err != nil {
		t.Fatal(err)
	}
	var s Snapshot
	if err := Decode(annotate(t, data), &s); err != nil {
		t.Fatal(err)
	}
	tag := s.Tags[0]
	s.Tags = []Tag{{Name: "2024-q4", Sequence: 3, Snapshot: snapshotRef(3)}, tag}
	s.Parent, s.Tree, s.Runs, s.Totals, s.Exports = nil, nil, nil, Totals{}, nil
	got, err := encode(reflect.ValueOf(&s))
	if err != nil {
		t.Fatal(err)
	}
	const note = `"x_note":{"by":"ü <&>","list":[null,true,3]}`
	for _, part := range []string{
		`{"name":"2024-q4","sequence":3,"snapshot":{"key":"` + snapshotRef(3).Key + `","sha256":"` + digest("a") + `"}}`,
		`{"name":"2025-q1","sequence":7,"snapshot":{"key":"` + snapshotRef(7).Key + `","sha256":"` + digest("a") + `",` + note + `},` + note + `}`,
		`"totals":{"bytes":0,"files":0,"rows":0,` + note + `}`,
		`"parent":null`,
	} {
		if !strings.Contains(string(got), part) {
			t.Errorf("%s\nlacks %s", got, part)
		}
	}
	if n := bytes.Count(got, []byte("x_note")); n != 4 {
		t.Errorf("%d extensions in %s", n, got)
	}
}

func TestExtensionsStrict(t *testing.T) {
	tests := []struct{ data, reason string }{
		{`{"format":1,"generation":2,"run":"r","x_a":1.5}`, `"1.5" is not an integer in canonical form`},
		{`{"format":1,"generation":2,"run":"r","x_a":{"b":1,"a":2}}`, `field "a" stands after "b"`},
		{`{"format":1,"generation":2,"run":"r","x_a":"\/"}`, "string is not in canonical form"},
		{`{"format":1,"generation":2,"run":"r","x_b":1,"x_a":1}`, `field "x_a" stands after "x_b"`},
		{`{"format":1,"generation":2,"run":"r","X_a":1}`, `field "X_a" stands after "run"`},
		{`{"format":1,"generation":2,"run":"r","x_a":nul}`, "not an integer"},
		{`{"format":1,"generation":2,"run":"r","x":1}`, "unknown field"},
	}
	for _, tt := range tests {
		var e *FormatError
		if err := Decode([]byte(tt.data+"\n"), &OpenMark{}); !errors.As(err, &e) || e.Reason != tt.reason {
			t.Errorf("%s: %v, want %s", tt.data, err, tt.reason)
		}
	}
	// A type that keeps no extensions refuses them.
	var e *FormatError
	if err := Decode([]byte(`{"files":1,"rows":1,"bytes":1,"x_a":1}`), &Totals{}); !errors.As(err, &e) {
		t.Errorf("%v", err)
	}
	if err := Decode([]byte(`{"bytes":1,"files":1,"rows":1,"x_a":1}`+"\n"), &Totals{}); !errors.As(err, &e) || e.Reason != "unknown field" {
		t.Errorf("%v", err)
	}
}
