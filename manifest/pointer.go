package manifest

import (
	"fmt"
	"reflect"
	"time"
)

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

// Validate checks the fields, each by itself.
func (w *Warehouse) Validate() error {
	return checkAll(isFormat(w.Format), isID("id", w.ID), isSet("created", w.Created))
}

// Sign sets SelfSHA256, the last step before the pointer is encoded.
func (p *Pointer) Sign() error {
	sum, err := p.selfSHA256()
	if err != nil {
		return err
	}
	p.SelfSHA256 = sum
	return nil
}

func (p *Pointer) selfSHA256() (string, error) {
	unsigned := *p
	unsigned.SelfSHA256 = ""
	data, err := encode(reflect.ValueOf(unsigned))
	if err != nil {
		return "", fmt.Errorf("sign pointer: %w", err)
	}
	return SHA256Hex(data), nil
}

// Validate checks that the pointer is signed, and that its lineage begins with
// its own snapshot and has no gap.
func (p *Pointer) Validate() error {
	return checkAll(
		isFormat(p.Format),
		isID("warehouse", p.Warehouse),
		isBase("", Base{p.Sequence, p.Snapshot}),
		isID("nonce", p.Nonce),
		p.checkRecent,
		func() error {
			want, err := p.selfSHA256()
			if err != nil {
				return err
			}
			if want != p.SelfSHA256 {
				return &ChecksumError{Key: PointerKey, Want: p.SelfSHA256, Got: want}
			}
			return nil
		},
	)
}

func (p *Pointer) checkRecent() error {
	if len(p.Recent) == 0 || p.Recent[0].Sequence != p.Sequence || p.Recent[0].Snapshot != p.Snapshot {
		return invalid("recent", "does not begin with the pointer's own snapshot")
	}
	size := len("[]") - len(",")
	for i := range p.Recent {
		if p.Recent[i].Sequence != p.Sequence-int64(i) {
			return invalid(fmt.Sprintf("recent[%d].sequence", i), "%d leaves a gap", p.Recent[i].Sequence)
		}
		size += len(",") + recentSize(p.Recent[i])
	}
	if size > RecentBudget && len(p.Recent) > 1 {
		return invalid("recent", "%d bytes, %d fit", size, RecentBudget)
	}
	return each("recent", p.Recent, (*Recent).validate)()
}

func (r *Recent) validate() error {
	return checkAll(
		isBase("", Base{r.Sequence, r.Snapshot}),
		each("runs", r.Runs, func(run *RecentRun) error {
			return checkAll(
				isName("run", run.Run),
				atLeast("generation", 1, run.Generation),
				oneOf("effect", run.Effect, EffectPublished, EffectRevoked),
			)
		}),
		unique("runs", r.Runs, func(run RecentRun) RecentRun { return RecentRun{Run: run.Run, Generation: run.Generation} }),
	)
}
