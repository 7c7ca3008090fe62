package manifest

import (
	"cmp"
	"time"
)

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

// Validate checks what the snapshot alone tells: its place in the history, the
// effects its operation may have, lists in order.
func (s *Snapshot) Validate() error {
	return checkAll(
		isFormat(s.Format),
		isID("warehouse", s.Warehouse),
		atLeast("sequence", 0, s.Sequence),
		s.checkParent,
		oneOf("operation", s.Operation,
			OpInit, OpPublish, OpRollback, OpUndo, OpTag, OpFence, OpGC, OpAdopt),
		isSet("time", s.Time),
		isRefOrNone("tree", s.Tree),
		notNegative("totals", s.Totals),
		s.checkTree,
		each("runs", s.Runs, (*SnapshotRun).validate),
		sortedFunc("runs", s.Runs, CompareRuns),
		s.checkEffects,
		each("tags", s.Tags, func(t *Tag) error { return t.validate(s.Sequence) }),
		sorted("tags", s.Tags, func(t Tag) string { return t.Name }),
		atLeast("horizon", 0, s.Horizon),
		func() error {
			if s.Horizon > s.Sequence {
				return invalid("horizon", "%d is beyond sequence %d", s.Horizon, s.Sequence)
			}
			return nil
		},
		each("exports", s.Exports, func(e *Export) error {
			return checkAll(filled("kind", e.Kind), isRef("", e.Ref))
		}),
	)
}

// CompareRuns orders the runs of a snapshot: by name, then by generation.
func CompareRuns(a, b SnapshotRun) int {
	return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Generation, b.Generation))
}

// checkParent checks that sequence 0, and it alone, is an init without parent.
func (s *Snapshot) checkParent() error {
	switch first := s.Sequence == 0; {
	case first && s.Operation != OpInit:
		return invalid("operation", "%q at sequence 0", s.Operation)
	case first && s.Parent != nil:
		return invalid("parent", "sequence 0 has none")
	case first:
		return nil
	case s.Operation == OpInit:
		return invalid("operation", "%q at sequence %d", s.Operation, s.Sequence)
	case s.Parent == nil:
		return invalid("parent", "sequence %d has one", s.Sequence)
	}
	return isSnapshot("parent", s.Sequence-1, *s.Parent)()
}

func (s *Snapshot) checkTree() error {
	if s.Tree == nil && s.Totals != (Totals{}) {
		return invalid("totals", "%+v without a tree", s.Totals)
	}
	return nil
}

// checkEffects checks that the operation may do to runs what runs says.
func (s *Snapshot) checkEffects() error {
	published := 0
	for _, r := range s.Runs {
		if r.Effect == EffectPublished {
			published++
		}
	}
	revoked := len(s.Runs) - published
	switch s.Operation {
	case OpInit, OpTag, OpFence, OpGC:
		if len(s.Runs) > 0 {
			return invalid("runs", "%s has an effect on none", s.Operation)
		}
	case OpPublish, OpAdopt:
		if published != 1 || revoked != 0 {
			return invalid("runs", "%s publishes one run", s.Operation)
		}
	case OpUndo:
		if revoked == 0 {
			return invalid("runs", "%s revokes a run", s.Operation)
		}
	}
	return nil
}

func (r *SnapshotRun) validate() error {
	return checkAll(
		isName("run", r.Run),
		atLeast("generation", 1, r.Generation),
		oneOf("effect", r.Effect, EffectPublished, EffectRevoked),
		isDigest("candidate", r.Candidate),
		each("partitions", r.Partitions, (*SnapshotPartition).validate),
		sorted("partitions", r.Partitions, func(p SnapshotPartition) string { return p.Path }),
		each("inputs", r.Inputs, func(i *InputsRef) error {
			return checkAll(isInputsTask("task", i.Task), isRef("", i.Ref))
		}),
		sorted("inputs", r.Inputs, func(i InputsRef) string { return i.Task }),
		isRefOrNone("evidence", r.Evidence),
		isDigestOrNone("rules", r.Rules),
		each("waivers", r.Waivers, func(w *Waiver) error {
			return checkAll(filled("assertion", w.Assertion), filled("reason", w.Reason))
		}),
		each("controls", r.Controls, (*Control).validate),
		unique("controls", r.Controls, controlKey),
	)
}

func (p *SnapshotPartition) validate() error {
	return checkAll(
		isPath("path", p.Path),
		oneOf("mode", p.Mode, ModeOverwrite, ModeAppend, ModeReplace),
		isRefOrNone("manifest", p.Manifest),
		notNegative("", p.Totals),
		func() error {
			if p.Manifest == nil && p.Totals != (Totals{}) {
				return invalid("manifest", "none, but %+v", p.Totals)
			}
			return nil
		},
	)
}

func (c *Control) validate() error {
	return checkAll(isName("task", c.Task), filled("file", c.File), filled("name", c.Name))
}

func controlKey(c Control) [3]string { return [3]string{c.Task, c.File, c.Name} }

// validate checks a tag of the snapshot of a sequence.
func (t *Tag) validate(sequence int64) error {
	return checkAll(
		func() error {
			if err := CheckTag(t.Name); err != nil {
				return invalid("name", "%v", err)
			}
			return nil
		},
		isBase("", Base{t.Sequence, t.Snapshot}),
		func() error {
			if t.Sequence >= sequence {
				return invalid("sequence", "%d is not before the snapshot's own %d", t.Sequence, sequence)
			}
			return nil
		},
	)
}
