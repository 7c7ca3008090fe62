package manifest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// sampleIDs are what stands for ULIDs in tests.
const (
	warehouseID = "01JNGX3Q6C0000000000000000"
	nonceID     = "01JNGX3Q6C00000000000000N1"
	attemptID   = "01JNGX3Q6C00000000000000A1"
)

var sampleTime = time.Date(2025, 3, 5, 4, 5, 6, 789000000, time.UTC)

// digest is a made-up SHA-256 that is easy to recognise.
func digest(c string) string { return strings.Repeat(c, 64) }

func snapshotRef(seq int64) Ref {
	return Ref{Key: SnapshotKey(seq, fmt.Sprintf("01JNGX3Q6C%016d", seq)), SHA256: digest("a")}
}

func sampleBase(seq int64) *Base { return &Base{Sequence: seq, Snapshot: snapshotRef(seq)} }

func mustPartition(t testing.TB, path string) Partition {
	t.Helper()
	p, err := ParsePartition(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func sampleColumn() Column {
	id := int64(3)
	return Column{Path: []string{"order", "id"}, Physical: "INT64", Logical: "int64",
		Repetition: "optional", FieldID: &id, MaxDef: 2}
}

func sampleSchema() Schema {
	second := Column{Path: []string{"total"}, Physical: "INT64", Logical: "decimal128(18, 2)", Repetition: "required"}
	return Schema{Columns: []Column{sampleColumn(), second}}
}

func sampleFile(key string) File {
	sum := digest("b")
	return File{
		Key: key, Size: 4096, ETag: `"5d41402a"`, VersionID: "v1", SHA256: &sum, Rows: 12,
		RowGroups:   []RowGroup{{Offset: 4, Rows: 7, Bytes: 2000}, {Offset: 2004, Rows: 5, Bytes: 1500}},
		FooterBytes: 500, CreatedBy: "parquet-cpp-arrow version 20.0.0 <&>", StoredKeys: []string{"dt"},
		FieldIDs: FieldIDsMixed, Run: "orders/2025-03-05", Generation: 1, Task: "0", Attempt: attemptID,
	}
}

func sampleTable() *Table {
	return &Table{
		Keys:    []TableKey{{Name: "dt", Type: "date32"}, {Name: "region", Type: "utf8"}},
		Columns: []TableColumn{{ID: 1, Column: sampleColumn()}},
		LastID:  4,
	}
}

func sampleWarehouse(testing.TB) *Warehouse {
	return &Warehouse{Format: 1, ID: warehouseID, Created: sampleTime}
}

func samplePointer(t testing.TB) *Pointer {
	p := &Pointer{
		Format: 1, Warehouse: warehouseID, Sequence: 42, Snapshot: snapshotRef(42), Nonce: nonceID,
		Recent: []Recent{
			{Sequence: 42, Snapshot: snapshotRef(42), Runs: []RecentRun{{Run: "orders/2025-03-05", Generation: 2, Effect: EffectPublished}}},
			{Sequence: 41, Snapshot: snapshotRef(41)},
		},
	}
	if err := p.Sign(); err != nil {
		t.Fatal(err)
	}
	return p
}

func sampleSnapshot(testing.TB) *Snapshot {
	parent := snapshotRef(41)
	totals := Totals{Files: 2, Rows: 24, Bytes: 8192}
	return &Snapshot{
		Format: 1, Warehouse: warehouseID, Sequence: 42, Parent: &parent, Operation: OpPublish, Time: sampleTime,
		By: "ada@example", Tree: &Ref{Key: TreeKey("01T", digest("c")), SHA256: digest("c")}, Totals: totals,
		Runs: []SnapshotRun{{
			Run: "orders/2025-03-05", Generation: 2, Effect: EffectPublished, Candidate: digest("d"),
			Partitions: []SnapshotPartition{
				{Path: "orders/dt=2025-03-05", Mode: ModeOverwrite, Totals: totals,
					Manifest: &Ref{Key: ManifestKey("orders/2025-03-05", 2, "01M", digest("e")), SHA256: digest("e")}},
				{Path: "orders/dt=2025-03-06", Mode: ModeOverwrite},
			},
			Inputs:   []InputsRef{{Task: SharedInputs, Ref: Ref{Key: InputsKey("orders/2025-03-05", 2, SharedInputs), SHA256: digest("f")}}},
			Evidence: &Ref{Key: EvidenceKey("orders/2025-03-05", 2, "01E"), SHA256: digest("0")},
			Rules:    digest("1"),
			Waivers:  []Waiver{{Assertion: "null_rate:total", Reason: "late feed, agreed", By: "ada@example"}},
			Controls: []Control{{Task: "0", File: "totals.json", Name: "orders.count", Value: "24"}},
		}},
		Tags:    []Tag{{Name: "2025-q1", Sequence: 7, Snapshot: snapshotRef(7)}},
		Horizon: 3,
		Exports: []Export{{Kind: "iceberg", Ref: Ref{Key: "orders/metadata/v1.json", SHA256: digest("2")}}},
	}
}

func sampleTree(testing.TB) *Tree {
	first, second := Totals{Files: 1, Rows: 12, Bytes: 4096}, Totals{Files: 3, Rows: 30, Bytes: 9000}
	return &Tree{
		Format: 1,
		Entries: []TreeEntry{
			{Name: "dt=2025-03-05", Kind: NodeTree, Ref: Ref{Key: TreeKey("01T", digest("c")), SHA256: digest("c")}, Totals: first},
			{Name: "dt=2025-03-06", Kind: NodeTree, Ref: Ref{Key: TreeKey("01U", digest("d")), SHA256: digest("d")}, Totals: second},
		},
		Table: sampleTable(), Totals: first.Add(second),
	}
}

func sampleManifest(t testing.TB) *Manifest {
	p := mustPartition(t, "orders/dt=2025-03-05/at=10%3A30")
	p.Keys[0].Type = "date32"
	return &Manifest{
		Format: 1, Partition: p, Mode: ModeAppend, Run: "orders/2025-03-05", Generation: 1,
		Schemas: []Schema{sampleSchema()}, Files: []File{sampleFile("orders/old.parquet"), sampleFile("orders/part-0.parquet")},
		Totals:  Totals{Files: 2, Rows: 24, Bytes: 8192},
		Metrics: []Metric{{Name: "row_count", Value: "24"}, {Name: "sum", Column: "total", Value: "123.45"}},
	}
}

func sampleRun(testing.TB) *Run {
	seal := func(task string) SealRef {
		return SealRef{Task: task, Ref: Ref{Key: SealKey("orders/2025-03-05", 1, task), SHA256: digest("3")}}
	}
	seals := []SealRef{seal("a"), seal("b")}
	candidate := CandidateDigest(seals)
	return &Run{
		Format: 1, Warehouse: warehouseID, Run: "orders/2025-03-05", Generation: 2, State: StatePublished, Nonce: nonceID,
		Floor: 40, Base: sampleBase(41), FirstBase: sampleBase(39), Now: sampleTime,
		Scope: []string{"orders/dt=2025-03-05/*"}, Mode: ModeOverwrite, ReplaceScope: true, Tasks: []string{"b", "a"},
		Inputs:     []InputSource{{Name: "customers", Source: "customers@40"}, {Source: "s3://raw/orders/"}},
		References: []Reference{{Source: "customers@40", Base: *sampleBase(40)}},
		Redo: &Redo{Reason: "wrong currency", By: "ada@example", Time: sampleTime, Tasks: []string{"b"},
			From: StateRejected, Seals: []SealRef{seal("a")}},
		Inherited: []SealRef{seal("a")},
		Candidate: &Candidate{Digest: candidate, Seals: seals, Totals: Totals{Files: 2, Rows: 24, Bytes: 8192}},
		Evidence: []EvidenceRef{{Ref: Ref{Key: EvidenceKey("orders/2025-03-05", 2, "01E"), SHA256: digest("0")},
			Rules: digest("1"), Candidate: candidate, Outcome: OutcomeWarn, Time: sampleTime}},
		Passed: true, Published: sampleBase(42), Updated: sampleTime,
	}
}

func sampleMark(testing.TB) *OpenMark {
	return &OpenMark{Format: 1, Run: "orders/2025-03-05", Generation: 2}
}

func sampleAttempt(testing.TB) *Attempt {
	return &Attempt{Format: 1, Run: "orders/2025-03-05", Generation: 1, Task: "0", Attempt: attemptID,
		Started: sampleTime, Host: "worker-3", PID: 4711, Try: "2", Version: "0.1.0"}
}

func sampleSeal(t testing.TB) *Seal {
	return &Seal{
		Format: 1, Run: "orders/2025-03-05", Generation: 1, Task: "0", Attempt: attemptID, Time: sampleTime,
		Inputs:  &Ref{Key: InputsKey("orders/2025-03-05", 1, "0"), SHA256: digest("f")},
		Changed: []string{"s3://raw/orders/1.csv"},
		Schemas: []Schema{sampleSchema()},
		Partitions: []SealFiles{{Partition: mustPartition(t, "orders/dt=2025-03-05"),
			Files:    []File{sampleFile("_wap/data/orders/1.parquet")},
			Replaces: []string{"_wap/data/orders/0.parquet"}}},
		Controls: []Control{{Task: "0", File: "totals.json", Name: "count", Value: "12"}},
		Totals:   Totals{Files: 1, Rows: 12, Bytes: 4096},
	}
}

func sampleInputs(testing.TB) *Inputs {
	sum := digest("4")
	return &Inputs{
		Format: 1, Run: "orders/2025-03-05", Generation: 1, Task: SharedInputs, Time: sampleTime,
		Inputs: []Input{
			{InputSource: InputSource{Name: "customers", Source: "customers@40"}, Snapshot: sampleBase(40), Bytes: 10,
				Objects: []Object{{Key: "_wap/data/customers/1.parquet", URL: "s3://lake/_wap/data/customers/1.parquet",
					Size: 10, ETag: `"x"`, SHA256: &sum, Rows: 3, Partition: "customers"}}},
			{InputSource: InputSource{Source: "s3://raw/orders/"}, Bytes: 5,
				Objects: []Object{{Key: "ä b\u2028.csv", URL: "s3://raw/orders/ä b\u2028.csv", Size: 5, ETag: `"y"`, VersionID: "7", Rows: -1}}},
		},
	}
}

// stored is one type of stored object.
type stored struct {
	name   string
	sample func(testing.TB) any // valid, every field that may be set is
	empty  func() any
}

func storedAs[T any](name string, sample func(testing.TB) *T) stored {
	return stored{name, func(t testing.TB) any { return sample(t) }, func() any { return new(T) }}
}

// allStored are all types of stored objects.
func allStored() []stored {
	return []stored{
		storedAs("warehouse", sampleWarehouse),
		storedAs("pointer", samplePointer),
		storedAs("snapshot", sampleSnapshot),
		storedAs("tree", sampleTree),
		storedAs("manifest", sampleManifest),
		storedAs("run", sampleRun),
		storedAs("mark", sampleMark),
		storedAs("attempt", sampleAttempt),
		storedAs("seal", sampleSeal),
		storedAs("inputs", sampleInputs),
	}
}
