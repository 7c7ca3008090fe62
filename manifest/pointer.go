package manifest

import "time"

// Warehouse is `_wap/warehouse.json`: written once, by `wap init`.
type Warehouse struct {
	Format  int64     `json:"format"`
	ID      string    `json:"id"` // a ULID
	Created time.Time `json:"created"`
	Extensions
}

// Pointer is `_wap/refs/main.json`, the only mutable object readers follow.
// Its bytes never repeat, so that an ETag never comes back.
type Pointer struct {
	Format    int64    `json:"format"`
	Warehouse string   `json:"warehouse"` // the warehouse's id
	Sequence  int64    `json:"sequence"`
	Snapshot  Ref      `json:"snapshot"`
	Nonce     string   `json:"nonce"` // a ULID
	Recent    []Recent `json:"recent"`
	// SelfSHA256 is the SHA-256 of the canonical bytes with this field empty:
	// nothing else vouches for the pointer.
	SelfSHA256 string `json:"self_sha256"`
	Extensions
}

// RecentBudget is the most bytes of canonical JSON that Pointer.Recent takes.
const RecentBudget = 16 << 10

// Recent is one entry of the pointer's lineage, newest first, the pointer's own
// snapshot included.
type Recent struct {
	Sequence int64       `json:"sequence"`
	Snapshot Ref         `json:"snapshot"`
	Runs     []RecentRun `json:"runs"`
	Extensions
}

// RecentRun says what a snapshot did to a run.
type RecentRun struct {
	Run        string `json:"run"`
	Generation int64  `json:"generation"`
	Effect     Effect `json:"effect"`
}

// Effect is what an entry of the history means for a generation of a run.
type Effect string

// The effects.
const (
	EffectPublished Effect = "published"
	EffectRevoked   Effect = "revoked"
)
