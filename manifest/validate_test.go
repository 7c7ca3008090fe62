package manifest

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// broken is one change that makes a valid object invalid, and where.
type broken[T any] struct {
	name string
	edit func(*T)
	path string // of the error
}

type validator[T any] interface {
	*T
	Validate() error
}

// checkBroken makes each change to a fresh sample.
func checkBroken[T any, P validator[T]](t *testing.T, sample func(testing.TB) *T, tests []broken[T]) {
	t.Helper()
	if err := P(sample(t)).Validate(); err != nil {
		t.Fatalf("the sample: %v", err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := sample(t)
			tt.edit(v)
			err := P(v).Validate()
			var e *FormatError
			if !errors.As(err, &e) || e.Path != tt.path || e.Offset != -1 || e.Reason == "" {
				t.Errorf("%v, want an error of field %q", err, tt.path)
			}
		})
	}
}

func TestValidateFormat(t *testing.T) {
	for _, s := range allStored() {
		data, err := Encode(s.sample(t))
		if err != nil {
			t.Fatal(err)
		}
		newer := strings.Replace(string(data), `"format":1`, `"format":2`, 1)
		var e *NewerFormatError
		if err := Decode([]byte(newer), s.empty()); !errors.As(err, &e) || e.Have != 2 {
			t.Errorf("%s of format 2: %v", s.name, err)
		}
		older := strings.Replace(string(data), `"format":1`, `"format":0`, 1)
		var f *FormatError
		if err := Decode([]byte(older), s.empty()); !errors.As(err, &f) || f.Path != "format" {
			t.Errorf("%s of format 0: %v", s.name, err)
		}
	}
}

func TestValidateSmall(t *testing.T) {
	checkBroken(t, sampleWarehouse, []broken[Warehouse]{
		{"no id", func(w *Warehouse) { w.ID = "" }, "id"},
		{"an id that is no key", func(w *Warehouse) { w.ID = "a/b" }, "id"},
		{"no time", func(w *Warehouse) { w.Created = time.Time{} }, "created"},
	})
	checkBroken(t, sampleMark, []broken[OpenMark]{
		{"no run", func(m *OpenMark) { m.Run = "" }, "run"},
		{"a long run", func(m *OpenMark) { m.Run = strings.Repeat("r", 513) }, "run"},
		{"generation 0", func(m *OpenMark) { m.Generation = 0 }, "generation"},
	})
	checkBroken(t, sampleAttempt, []broken[Attempt]{
		{"no task", func(a *Attempt) { a.Task = "" }, "task"},
		{"the shared task", func(a *Attempt) { a.Task = SharedInputs }, "task"},
		{"no attempt", func(a *Attempt) { a.Attempt = "" }, "attempt"},
		{"pid", func(a *Attempt) { a.PID = -1 }, "pid"},
		{"not started", func(a *Attempt) { a.Started = time.Time{} }, "started"},
	})
}

func TestValidateSnapshot(t *testing.T) {
	checkBroken(t, sampleSnapshot, []broken[Snapshot]{
		{"no parent", func(s *Snapshot) { s.Parent = nil }, "parent"},
		{"another parent", func(s *Snapshot) { *s.Parent = snapshotRef(40) }, "parent.key"},
		{"no init", func(s *Snapshot) { s.Sequence = 0 }, "operation"},
		{"init again", func(s *Snapshot) { s.Operation = OpInit }, "operation"},
		{"negative", func(s *Snapshot) { s.Sequence = -1 }, "sequence"},
		{"unknown operation", func(s *Snapshot) { s.Operation = "merge" }, "operation"},
		{"no time", func(s *Snapshot) { s.Time = time.Time{} }, "time"},
		{"tree digest", func(s *Snapshot) { s.Tree.SHA256 = digest("C") }, "tree.sha256"},
		{"tree key", func(s *Snapshot) { s.Tree.Key = "../t" }, "tree.key"},
		{"totals without a tree", func(s *Snapshot) { s.Tree = nil }, "totals"},
		{"negative totals", func(s *Snapshot) { s.Totals.Rows = -1 }, "totals"},
		{"publish of none", func(s *Snapshot) { s.Runs = nil }, "runs"},
		{"publish that revokes", func(s *Snapshot) { s.Runs[0].Effect = EffectRevoked }, "runs"},
		{"fence with a run", func(s *Snapshot) { s.Operation = OpFence }, "runs"},
		{"undo of none", func(s *Snapshot) { s.Operation = OpUndo }, "runs"},
		{"runs not in order", func(s *Snapshot) {
			s.Runs = append(s.Runs, s.Runs[0])
			s.Runs[1].Generation = 1
		}, "runs[1]"},
		{"effect", func(s *Snapshot) { s.Runs[0].Effect = "lost" }, "runs[0].effect"},
		{"candidate", func(s *Snapshot) { s.Runs[0].Candidate = "" }, "runs[0].candidate"},
		{"rules", func(s *Snapshot) { s.Runs[0].Rules = "strict" }, "runs[0].rules"},
		{"partition path", func(s *Snapshot) { s.Runs[0].Partitions[0].Path = "orders/dt=1:2" }, "runs[0].partitions[0].path"},
		{"partition mode", func(s *Snapshot) { s.Runs[0].Partitions[0].Mode = "" }, "runs[0].partitions[0].mode"},
		{"partition twice", func(s *Snapshot) { s.Runs[0].Partitions[1].Path = "orders/dt=2025-03-05" }, "runs[0].partitions[1]"},
		{"rows without a manifest", func(s *Snapshot) { s.Runs[0].Partitions[1].Rows = 1 }, "runs[0].partitions[1].manifest"},
		{"inputs task", func(s *Snapshot) { s.Runs[0].Inputs[0].Task = "" }, "runs[0].inputs[0].task"},
		{"waiver without a reason", func(s *Snapshot) { s.Runs[0].Waivers[0].Reason = "" }, "runs[0].waivers[0].reason"},
		{"control without a file", func(s *Snapshot) { s.Runs[0].Controls[0].File = "" }, "runs[0].controls[0].file"},
		{"tag name", func(s *Snapshot) { s.Tags[0].Name = "41" }, "tags[0].name"},
		{"tag of a later one", func(s *Snapshot) { s.Tags[0].Sequence, s.Tags[0].Snapshot = 42, snapshotRef(42) }, "tags[0].sequence"},
		{"tag of another", func(s *Snapshot) { s.Tags[0].Sequence = 8 }, "tags[0].snapshot.key"},
		{"tag twice", func(s *Snapshot) { s.Tags = append(s.Tags, s.Tags[0]) }, "tags[1]"},
		{"horizon ahead", func(s *Snapshot) { s.Horizon = 43 }, "horizon"},
		{"export kind", func(s *Snapshot) { s.Exports[0].Kind = "" }, "exports[0].kind"},
	})
}

func TestValidateTree(t *testing.T) {
	checkBroken(t, sampleTree, []broken[Tree]{
		{"empty", func(v *Tree) { v.Entries, v.Totals = nil, Totals{} }, "entries"},
		{"not in order", func(v *Tree) { v.Entries[0], v.Entries[1] = v.Entries[1], v.Entries[0] }, "entries[1]"},
		{"twice", func(v *Tree) { v.Entries[1].Name = v.Entries[0].Name }, "entries[1]"},
		{"hidden name", func(v *Tree) { v.Entries[0].Name = "_wap" }, "entries[0].name"},
		{"two parts", func(v *Tree) { v.Entries[0].Name = "dt=1/2" }, "entries[0].name"},
		{"not canonical", func(v *Tree) { v.Entries[0].Name = "dt=%3a" }, "entries[0].name"},
		{"another key", func(v *Tree) { v.Entries[1].Name = "region=eu" }, "entries[1].name"},
		{"a folder among keys", func(v *Tree) { v.Entries[1].Name = "eu" }, "entries[1].name"},
		{"kind", func(v *Tree) { v.Entries[0].Kind = "" }, "entries[0].kind"},
		{"digest", func(v *Tree) { v.Entries[0].SHA256 = "" }, "entries[0].sha256"},
		{"negative", func(v *Tree) { v.Entries[0].Rows = -1 }, "entries[0]"},
		{"totals", func(v *Tree) { v.Totals.Bytes++ }, "totals"},
		{"not the table's key", func(v *Tree) { v.Table.Keys = v.Table.Keys[1:] }, "table.keys"},
		{"no keys", func(v *Tree) { v.Table.Keys = nil }, "table.keys"},
		{"key without a type", func(v *Tree) { v.Table.Keys[1].Type = "" }, "table.keys[1].type"},
		{"key twice", func(v *Tree) { v.Table.Keys[1].Name = "dt" }, "table.keys[1]"},
		{"column id", func(v *Tree) { v.Table.Columns[0].ID = 0 }, "table.columns[0].id"},
		{"column beyond the last", func(v *Tree) { v.Table.LastID = 0 }, "table.last_id"},
		{"column twice", func(v *Tree) {
			v.Table.Columns = append(v.Table.Columns, TableColumn{ID: 2, Column: sampleColumn()})
		}, "table.columns[1]"},
	})
}

func TestValidateManifest(t *testing.T) {
	checkBroken(t, sampleManifest, []broken[Manifest]{
		{"another path", func(m *Manifest) { m.Partition.Path = "orders/dt=2025-03-06/at=10%3A30" }, "partition"},
		{"not canonical", func(m *Manifest) { m.Partition.Path = "orders/dt=2025-03-05/at=10:30" }, "partition"},
		{"no path", func(m *Manifest) { m.Partition = Partition{} }, "partition.path"},
		{"another value", func(m *Manifest) { m.Partition.Keys[1].Value = "10%3A30" }, "partition"},
		{"a key less", func(m *Manifest) { m.Partition.Keys = m.Partition.Keys[:1] }, "partition"},
		{"mode", func(m *Manifest) { m.Mode = "merge" }, "mode"},
		{"run", func(m *Manifest) { m.Run = "a\nb" }, "run"},
		{"table of a partition", func(m *Manifest) { m.Table = sampleTable() }, "table"},
		{"no table", func(m *Manifest) { m.Partition = Partition{Path: "orders", Table: "orders"} }, "table"},
		{"table with keys", func(m *Manifest) {
			m.Partition, m.Table = Partition{Path: "orders", Table: "orders"}, sampleTable()
		}, "table.keys"},
		{"column path", func(m *Manifest) { m.Schemas[0].Columns[0].Path = nil }, "schemas[0].columns[0].path"},
		{"column twice", func(m *Manifest) { m.Schemas[0].Columns[1] = m.Schemas[0].Columns[0] }, "schemas[0].columns[1]"},
		{"column type", func(m *Manifest) { m.Schemas[0].Columns[1].Physical = "" }, "schemas[0].columns[1].physical"},
		{"repetition", func(m *Manifest) { m.Schemas[0].Columns[1].Repetition = "REQUIRED" }, "schemas[0].columns[1].repetition"},
		{"level", func(m *Manifest) { m.Schemas[0].Columns[1].MaxRep = -1 }, "schemas[0].columns[1].max_rep"},
		{"file that escapes", func(m *Manifest) { m.Files[0].Key = "../x" }, "files[0].key"},
		{"file not clean", func(m *Manifest) { m.Files[0].Key = "orders//x" }, "files[0].key"},
		{"files not in order", func(m *Manifest) { m.Files[0].Key = "orders/z" }, "files[1]"},
		{"file of no bytes", func(m *Manifest) { m.Files[0].Size = 0 }, "files[0].size"},
		{"file digest", func(m *Manifest) { *m.Files[0].SHA256 = "00" }, "files[0].sha256"},
		{"no such schema", func(m *Manifest) { m.Files[1].Schema = 1 }, "files[1].schema"},
		{"rows", func(m *Manifest) { m.Files[0].Rows++ }, "files[0].rows"},
		{"row group outside", func(m *Manifest) { m.Files[0].RowGroups[1].Offset = 5000 }, "files[0].row_groups[1]"},
		{"stored key", func(m *Manifest) { m.Files[0].StoredKeys[0] = "region" }, "files[0].stored_keys[0]"},
		{"field ids", func(m *Manifest) { m.Files[0].FieldIDs = "" }, "files[0].field_ids"},
		{"file run", func(m *Manifest) { m.Files[0].Run = "" }, "files[0].run"},
		{"file generation", func(m *Manifest) { m.Files[0].Generation = 0 }, "files[0].generation"},
		{"totals", func(m *Manifest) { m.Totals.Files = 3 }, "totals"},
		{"metric value", func(m *Manifest) { m.Metrics[0].Value = "" }, "metrics[0].value"},
		{"metric twice", func(m *Manifest) { m.Metrics[1] = m.Metrics[0] }, "metrics[1]"},
	})
}

func TestValidateSeal(t *testing.T) {
	checkBroken(t, sampleSeal, []broken[Seal]{
		{"attempt", func(s *Seal) { s.Attempt = "a b" }, "attempt"},
		{"no time", func(s *Seal) { s.Time = time.Time{} }, "time"},
		{"inputs", func(s *Seal) { s.Inputs.Key = "" }, "inputs.key"},
		{"changed", func(s *Seal) { s.Changed[0] = "" }, "changed_inputs[0]"},
		{"schema", func(s *Seal) { s.Schemas = nil }, "partitions[0].files[0].schema"},
		{"file of another attempt", func(s *Seal) { s.Partitions[0].Files[0].Attempt = "other" }, "partitions[0].files[0].attempt"},
		{"file of another generation", func(s *Seal) { s.Partitions[0].Files[0].Generation = 2 }, "partitions[0].files[0].attempt"},
		{"partition", func(s *Seal) { s.Partitions[0].Partition.Table = "" }, "partitions[0].partition"},
		{"partition twice", func(s *Seal) {
			s.Partitions = append(s.Partitions, SealFiles{Partition: s.Partitions[0].Partition})
		}, "partitions[1]"},
		{"replaces", func(s *Seal) { s.Partitions[0].Replaces[0] = "/x" }, "partitions[0].replaces[0]"},
		{"control of another task", func(s *Seal) { s.Controls[0].Task = "1" }, "controls[0].task"},
		{"control twice", func(s *Seal) { s.Controls = append(s.Controls, s.Controls[0]) }, "controls[1]"},
		{"totals", func(s *Seal) { s.Totals = Totals{} }, "totals"},
	})
}

func TestValidateInputs(t *testing.T) {
	checkBroken(t, sampleInputs, []broken[Inputs]{
		{"task", func(i *Inputs) { i.Task = "" }, "task"},
		{"source", func(i *Inputs) { i.Inputs[1].Source = "" }, "inputs[1].source"},
		{"name twice", func(i *Inputs) { i.Inputs[1].Name = "customers" }, "inputs[1]"},
		{"snapshot", func(i *Inputs) { i.Inputs[0].Snapshot.Sequence = -1 }, "inputs[0].snapshot.sequence"},
		{"bytes", func(i *Inputs) { i.Inputs[0].Bytes = 11 }, "inputs[0].bytes"},
		{"url", func(i *Inputs) { i.Inputs[1].Objects[0].URL = "" }, "inputs[1].objects[0].url"},
		{"rows", func(i *Inputs) { i.Inputs[1].Objects[0].Rows = -2 }, "inputs[1].objects[0].rows"},
		{"size", func(i *Inputs) { i.Inputs[1].Objects[0].Size = -5 }, "inputs[1].objects[0].size"},
		{"partition", func(i *Inputs) { i.Inputs[0].Objects[0].Partition = "/c" }, "inputs[0].objects[0].partition"},
		{"key of a partition", func(i *Inputs) { i.Inputs[0].Objects[0].Key = "../c" }, "inputs[0].objects[0].key"},
		{"digest", func(i *Inputs) { *i.Inputs[0].Objects[0].SHA256 = "x" }, "inputs[0].objects[0].sha256"},
		{"object twice", func(i *Inputs) {
			i.Inputs[1].Objects = append(i.Inputs[1].Objects, i.Inputs[1].Objects[0])
			i.Inputs[1].Bytes *= 2
		}, "inputs[1].objects[1]"},
	})
}
