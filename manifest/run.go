package manifest

import "time"

// State is where a generation of a run stands.
type State string

// The states.
const (
	StateOpening    State = "opening"
	StateOpen       State = "open"
	StateClosing    State = "closing"
	StateFrozen     State = "frozen"
	StateRejected   State = "rejected"
	StatePublished  State = "published"
	StateRevoked    State = "revoked"
	StateAborting   State = "aborting"
	StateAborted    State = "aborted"
	StateCollecting State = "collecting"
	StateCollected  State = "collected"
)

// Run is a run's record, `_wap/runs/<run>/run.json`: a cache of what the
// history says, and the only truth while the history says nothing. It is
// changed by conditional put and never deleted; its bytes never repeat.
type Run struct {
	Format     int64  `json:"format"`
	Warehouse  string `json:"warehouse"`
	Run        string `json:"run"`
	Generation int64  `json:"generation"`
	State      State  `json:"state"`
	Nonce      string `json:"nonce"` // a ULID

	// Floor bounds the horizon while the run is opening, and later where a
	// pinned reference is older than the base.
	Floor     int64     `json:"floor"`
	Base      *Base     `json:"base"`       // null while opening
	FirstBase *Base     `json:"first_base"` // generation 1's; never moves
	Now       time.Time `json:"now"`        // `now` of every attempt and assertion

	Scope        []string      `json:"scope"`
	Mode         Mode          `json:"mode"`
	ReplaceScope bool          `json:"replace_scope"`
	Tasks        []string      `json:"tasks"`
	Inputs       []InputSource `json:"inputs"` // as given at begin; listed in the inputs objects
	// References are the `@REF` sources among them, resolved at begin.
	References []Reference `json:"references"`

	// Redo is how this generation was opened; null in generation 1.
	Redo *Redo `json:"redo"`
	// Inherited are the older generation's seals that count as this one's,
	// decided by the Swap from opening to open.
	Inherited []SealRef `json:"inherited"`

	Candidate *Candidate    `json:"candidate"` // null until frozen
	Evidence  []EvidenceRef `json:"evidence"`  // newest last, one for each rules digest
	// Passed: passing evidence stood in this generation at some time, so that a
	// publisher may be on its way.
	Passed bool `json:"passed"`

	// Published caches where the history has this generation.
	Published *Base     `json:"published"`
	Reason    string    `json:"reason"` // of an abort or an undo
	Updated   time.Time `json:"updated"`
	Extensions
}

// Reference is a `path@REF` source with the state it stood for at begin.
type Reference struct {
	Source string `json:"source"`
	Base
}

// Base is a snapshot with its sequence.
type Base struct {
	Sequence int64 `json:"sequence"`
	Snapshot Ref   `json:"snapshot"`
}

// Redo says why and how a generation was begun anew.
type Redo struct {
	Reason  string    `json:"reason"`
	By      string    `json:"by"`
	Time    time.Time `json:"time"`
	Tasks   []string  `json:"tasks"`    // the ones to run again; empty: all
	KeepPin bool      `json:"keep_pin"` // base and inputs objects of the older generation
	From    State     `json:"from"`     // what the older generation was
	// Seals are the older generation's, of tasks not named: inheritable.
	Seals []SealRef `json:"seals"`
	// PinGeneration is the generation whose inputs objects are read.
	PinGeneration int64 `json:"pin_generation"`
	// Base is the kept base, with KeepPin alone.
	Base *Base `json:"base"`
}

// SealRef names a task's seal.
type SealRef struct {
	Task string `json:"task"`
	Ref
}

// Candidate is the sorted set of a generation's seals.
type Candidate struct {
	Digest string    `json:"digest"` // see CandidateDigest
	Seals  []SealRef `json:"seals"`  // sorted by task
	Totals Totals    `json:"totals"`
}

// Outcome is what an audit said.
type Outcome string

// The outcomes that are stored.
const (
	OutcomePass Outcome = "pass"
	OutcomeWarn Outcome = "warn"
	OutcomeFail Outcome = "fail"
)

// EvidenceRef names an audit's report.
type EvidenceRef struct {
	Ref
	Rules     string    `json:"rules"`     // digest
	Candidate string    `json:"candidate"` // digest
	Outcome   Outcome   `json:"outcome"`
	Time      time.Time `json:"time"`
	Extensions
}

// OpenMark is `_wap/open/<run>.g<generation>`.
type OpenMark struct {
	Format     int64  `json:"format"`
	Run        string `json:"run"`
	Generation int64  `json:"generation"`
	Extensions
}

// Validate checks the fields, each by itself.
func (m *OpenMark) Validate() error {
	return checkAll(isFormat(m.Format), isName("run", m.Run), atLeast("generation", 1, m.Generation))
}
