package manifest

import "time"

// Operation is what made a snapshot.
type Operation string

// The operations.
const (
	OpInit     Operation = "init"
	OpPublish  Operation = "publish"
	OpRollback Operation = "rollback"
	OpUndo     Operation = "undo"
	OpTag      Operation = "tag"
	OpFence    Operation = "fence"
	OpGC       Operation = "gc"
	OpAdopt    Operation = "adopt"
)

// Snapshot is one entry of the warehouse's history.
type Snapshot struct {
	Format    int64         `json:"format"`
	Warehouse string        `json:"warehouse"`
	Sequence  int64         `json:"sequence"`
	Parent    *Ref          `json:"parent"` // null at sequence 0
	Operation Operation     `json:"operation"`
	Time      time.Time     `json:"time"`
	By        string        `json:"by"`     // user@host, for people
	Reason    string        `json:"reason"` // what a person gave with --reason, else empty
	Tree      *Ref          `json:"tree"`   // null while nothing was published
	Totals    Totals        `json:"totals"`
	Runs      []SnapshotRun `json:"runs"`
	Tags      []Tag         `json:"tags"`    // sorted by name
	Horizon   int64         `json:"horizon"` // the oldest sequence still readable
	Exports   []Export      `json:"exports"`
	Extensions
}

// SnapshotRun is one generation of a run whose effect the snapshot changes.
type SnapshotRun struct {
	Run        string              `json:"run"`
	Generation int64               `json:"generation"`
	Effect     Effect              `json:"effect"`
	Candidate  string              `json:"candidate"` // digest
	Partitions []SnapshotPartition `json:"partitions"`
	Inputs     []InputsRef         `json:"inputs"`
	Evidence   *Ref                `json:"evidence"`
	Rules      string              `json:"rules"` // digest
	Waivers    []Waiver            `json:"waivers"`
	Controls   []Control           `json:"controls"`
}

// SnapshotPartition is what a run made of one partition.
type SnapshotPartition struct {
	Path     string `json:"path"`
	Mode     Mode   `json:"mode"`
	Manifest *Ref   `json:"manifest"` // null: the partition was emptied
	Totals
}

// InputsRef names the pinned listing a task read.
type InputsRef struct {
	Task string `json:"task"`
	Ref
}

// Waiver is a blocking failure that a person let pass.
type Waiver struct {
	Assertion string `json:"assertion"` // id
	Partition string `json:"partition"` // empty: of every partition
	Reason    string `json:"reason"`
	By        string `json:"by"`
}

// Control is a value that a task declared in `_control/*.json`.
type Control struct {
	Task  string `json:"task"`
	File  string `json:"file"` // base name
	Name  string `json:"name"` // path inside the document
	Value string `json:"value"`
}

// Tag keeps a snapshot readable below the horizon.
type Tag struct {
	Name     string `json:"name"`
	Sequence int64  `json:"sequence"`
	Snapshot Ref    `json:"snapshot"`
	Extensions
}

// Export is reserved for copies of the state in other table formats.
type Export struct {
	Kind string `json:"kind"`
	Ref
	Extensions
}
