package manifest

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestErrorTexts(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{&FormatError{Offset: 7, Path: "files[3].rows", Reason: "not an integer"},
			"invalid object: field files[3].rows at byte 7: not an integer"},
		{&FormatError{Offset: -1, Reason: "no"}, "invalid object: no"},
		{&NewerFormatError{Have: 3, Max: 1}, "format 3 is newer than 1, the newest this version reads"},
		{&ChecksumError{Key: "_wap/k", Want: "aa", Got: "bb"}, `object "_wap/k" has SHA-256 bb, its reference says aa`},
		{&SyntaxError{Text: "a//b", Offset: 2, Reason: "an empty part", Remedy: "write single slashes"},
			`parse "a//b": byte 2: an empty part; write single slashes`},
		{&NodeConflictError{Path: "a/b", Reason: "is a folder, not a partition"}, `change "a/b": is a folder, not a partition`},
		{&KeyOrderError{Table: "t", Have: []string{"dt", "region"}, Got: []string{"region"}},
			`table "t" is partitioned by (dt, region), not by (region)`},
	}
	for _, tt := range tests {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("%T: %s, want %s", tt.err, got, tt.want)
		}
	}
}

// What the grammar allows and Encode would spell otherwise is refused too.
func TestDecodeSpelling(t *testing.T) {
	type object struct {
		Gone []string  `json:"gone,omitempty"`
		Kept bool      `json:"kept,omitempty"`
		Time time.Time `json:"time"`
		U    uint8     `json:"u"`
	}
	tests := []struct {
		data, reason string
		offset       int
	}{
		{`{"gone":[],"time":"2025-03-05T00:00:00Z","u":1}`, "not in canonical form", 2},
		{`{"kept":false,"time":"2025-03-05T00:00:00Z","u":1}`, "not in canonical form", 2},
		{`{"time":"2025-03-05T00:00:00.10Z","u":1}`, "not in canonical form", 30},
		{`{"time":"2025-03-05T00:00:00+00:00","u":1}`, `"2025-03-05T00:00:00+00:00" is not an RFC 3339 time in UTC`, 8},
		{`{"time":"2025-02-30T00:00:00Z","u":1}`, `"2025-02-30T00:00:00Z" is not an RFC 3339 time in UTC`, 8},
		{`{"time":0,"u":1}`, "not a string", 8},
		{`{"kept":1,"time":"2025-03-05T00:00:00Z","u":1}`, "not true or false", 8},
		{`{"time":"2025-03-05T00:00:00Z","u":-1}`, "integer -1 is out of range", 35},
		{`{"time":"2025-03-05T00:00:00Z","u":256}`, "integer 256 is out of range", 35},
		{`{"time":"2025-03-05T00:00:00Z","u":1,}`, "not a string", 37},
		{`{"time":"2025-03-05T00:00:00Z" "u":1}`, "no , or } after a field", 30},
		{`{"time";"2025-03-05T00:00:00Z","u":1}`, `no : after field "time"`, 7},
		{`{"gone":["a" "b"],"time":"2025-03-05T00:00:00Z","u":1}`, "no , or ] after an element", 12},
	}
	for _, tt := range tests {
		var e *FormatError
		err := Decode([]byte(tt.data+"\n"), &object{})
		if !errors.As(err, &e) || e.Reason != tt.reason || e.Offset != tt.offset {
			t.Errorf("%s: %v, want byte %d: %s", tt.data, err, tt.offset, tt.reason)
		}
	}
	var o object
	if err := Decode([]byte(`{"gone":["a"],"kept":true,"time":"2025-03-05T04:05:06.789Z","u":255}`+"\n"), &o); err != nil {
		t.Fatal(err)
	}
	if want := (object{Gone: []string{"a"}, Kept: true, Time: sampleTime, U: 255}); !reflect.DeepEqual(o, want) {
		t.Errorf("%+v, want %+v", o, want)
	}
}

func TestDecodeSize(t *testing.T) {
	var e *FormatError
	if err := Decode(make([]byte, maxSize+1), &OpenMark{}); !errors.As(err, &e) || !strings.Contains(e.Reason, "longer than") {
		t.Errorf("%v", err)
	}
}

func TestValidateFirstSnapshot(t *testing.T) {
	first := func(testing.TB) *Snapshot {
		return &Snapshot{Format: 1, Warehouse: warehouseID, Operation: OpInit, Time: sampleTime}
	}
	checkBroken(t, first, []broken[Snapshot]{
		{"parent", func(s *Snapshot) { r := snapshotRef(0); s.Parent = &r }, "parent"},
		{"publish", func(s *Snapshot) { s.Operation = OpPublish }, "operation"},
		{"horizon", func(s *Snapshot) { s.Horizon = 1 }, "horizon"},
	})
	undo := sampleSnapshot(t)
	undo.Operation, undo.Runs[0].Effect, undo.Runs[0].Rules = OpUndo, EffectRevoked, ""
	rollback := sampleSnapshot(t)
	rollback.Operation = OpRollback
	rollback.Runs = append(rollback.Runs, rollback.Runs[0])
	rollback.Runs[0].Effect, rollback.Runs[1].Generation = EffectRevoked, 3
	fence := sampleSnapshot(t)
	fence.Operation, fence.Runs = OpFence, nil
	for _, s := range []*Snapshot{undo, rollback, fence} {
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", s.Operation, err)
		}
	}
}
