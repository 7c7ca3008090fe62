package manifest

import (
	"errors"
	"reflect"
	"testing"
)

func column(logical string, path ...string) Column {
	return Column{Path: path, Physical: "INT64", Logical: logical, Repetition: "optional", MaxDef: 1}
}

func TestMergeTable(t *testing.T) {
	p := mustPartition(t, "orders/dt=2025-03-05/region=eu")
	p.Keys[0].Type = "date32"
	first, err := MergeTable(nil, p, []Schema{{Columns: []Column{column("int64", "id"), column("int64", "a", "b")}}})
	want := &Table{
		Keys:    []TableKey{{Name: "dt", Type: "date32"}, {Name: "region", Type: "string"}},
		Columns: []TableColumn{{ID: 1, Column: column("int64", "id")}, {ID: 2, Column: column("int64", "a", "b")}},
		LastID:  2,
	}
	if err != nil || !reflect.DeepEqual(first, want) {
		t.Fatalf("first publish: %+v, %v, want %+v", first, err, want)
	}
	p.Keys[0].Type, p.Keys[1].Type = "utf8", "int32"
	second, err := MergeTable(first, p, []Schema{
		{Columns: []Column{column("int64", "a.b"), column("timestamp", "id")}},
		{Columns: []Column{column("utf8", "new"), column("int64", "a.b")}},
	})
	next := &Table{
		Keys: want.Keys,
		Columns: []TableColumn{
			{ID: 1, Column: column("timestamp", "id")}, {ID: 2, Column: column("int64", "a", "b")},
			{ID: 3, Column: column("int64", "a.b")}, {ID: 4, Column: column("utf8", "new")},
		},
		LastID: 4,
	}
	if err != nil || !reflect.DeepEqual(second, next) {
		t.Errorf("second publish: %+v, %v, want %+v", second, err, next)
	}
	if !reflect.DeepEqual(first, want) {
		t.Errorf("the old table has changed to %+v", first)
	}
	if again, err := MergeTable(second, p, nil); err != nil || !reflect.DeepEqual(again, second) {
		t.Errorf("a publish without columns: %+v, %v", again, err)
	}
	if err := second.validate(); err != nil {
		t.Error(err)
	}
}

func TestMergeTableKeys(t *testing.T) {
	table, err := MergeTable(nil, mustPartition(t, "orders/dt=1/region=eu"), nil)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path string
		got  []string
	}{
		{"orders/region=eu/dt=1", []string{"region", "dt"}},
		{"orders/dt=1", []string{"dt"}},
		{"orders/dt=1/region=eu/hour=2", []string{"dt", "region", "hour"}},
		{"orders/DT=1/region=eu", []string{"DT", "region"}},
		{"orders", nil},
	}
	for _, tt := range tests {
		_, err := MergeTable(table, mustPartition(t, tt.path), nil)
		var e *KeyOrderError
		want := &KeyOrderError{Table: "orders", Have: []string{"dt", "region"}, Got: tt.got}
		if !errors.As(err, &e) || !reflect.DeepEqual(e, want) {
			t.Errorf("%q: %v, want %v", tt.path, err, want)
		}
	}
}
