package wap

import (
	"io"
	"time"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/manifest"
)

// BeginRequest opens or joins a run. What is not given comes from the record;
// what is given must equal it.
type BeginRequest struct {
	Run          string
	Scope        []string
	Mode         manifest.Mode // empty: not given (overwrite at first)
	ReplaceScope bool          // `--replace scope`
	Tasks        []string      // nil: not given
	// Task to start an attempt of; empty: `main` where Tasks is not given, else
	// none.
	Task            string
	Inputs          []manifest.InputSource // nil: not given
	Ready           []string               // `_SUCCESS`, `min:N`
	AllowEmptyInput bool
}

// BeginResult is what the run was found to be, with an attempt if one started.
type BeginResult struct {
	Run        string         `json:"run"`
	Generation int64          `json:"generation"`
	Task       string         `json:"task"`
	Attempt    string         `json:"attempt"` // empty: none was started
	State      manifest.State `json:"state"`
	StagingURL string         `json:"staging_url"` // empty with several tables
	Staging    []Staging      `json:"staging"`
	Scope      []string       `json:"scope"`
	Base       BaseResult     `json:"base"`
	Inputs     InputsSummary  `json:"inputs"`
	// SealedBy is the attempt whose seal stands for the task already, or empty.
	SealedBy string    `json:"sealed_by"`
	Sequence int64     `json:"sequence"` // of the publish; 0: not published
	Now      time.Time `json:"now"`
}

// Staging is where an engine may write a table's files itself.
type Staging struct {
	Table string `json:"table"`
	URL   string `json:"url"`
}

// BaseResult names the state a run is based on.
type BaseResult struct {
	Sequence int64 `json:"sequence"`
}

// InputsSummary describes a pinned listing.
type InputsSummary struct {
	Objects int64  `json:"objects"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"` // of the inputs object; empty: nothing is pinned
	Path    string `json:"path"`   // its key in the warehouse
}

// StageRequest uploads local Parquet files as a task's output and seals them.
type StageRequest struct {
	Run  string
	Task string // default main
	// Attempt that begin started; empty: a new one.
	Attempt string
	// Dir holds files as warehouse paths below it, or at its top where the scope
	// is one partition. Exclusive with Partition and Files.
	Dir       string
	Partition string
	Files     []string
	Seal      SealOptions
}

// SealOptions are common to stage, seal and run.
type SealOptions struct {
	Replacing       []string // base names or keys of files, in mode replace
	AllowEmpty      bool
	InputsMayChange bool
	Rules           *audit.Rules // for determinism.ignore; may be nil
}

// SealRequest seals what an engine wrote under the staging URL.
type SealRequest struct {
	Run     string
	Task    string
	Attempt string
	Seal    SealOptions
}

// SealResult says whose output stands for the task.
type SealResult struct {
	Run        string         `json:"run"`
	Generation int64          `json:"generation"`
	Task       string         `json:"task"`
	Attempt    string         `json:"attempt"`
	SealedBy   string         `json:"sealed_by"` // Attempt itself, or the earlier one
	State      manifest.State `json:"state"`
	Files      int64          `json:"files"`
	Rows       int64          `json:"rows"`
	Bytes      int64          `json:"bytes"`
}

// AuditRequest freezes a run and judges its candidate.
type AuditRequest struct {
	Run           string
	Rules         *audit.Rules
	Waivers       []Waive
	AppendUnkeyed bool // mode append without a unique or primary_key assertion

	standing []manifest.Waiver // of the evidence that this audit replaces
}

// Waive lets a failing assertion pass, on record.
type Waive struct{ Assertion, Reason string }

// AuditResult is the report with what it is bound to.
type AuditResult struct {
	Run        string         `json:"run"`
	Generation int64          `json:"generation"`
	State      manifest.State `json:"state"`
	Candidate  string         `json:"candidate"`
	Evidence   string         `json:"evidence"` // key
	Sequence   int64          `json:"sequence"` // of the publish, where it was found published
	*audit.Report
}

// PublishRequest makes a run visible.
type PublishRequest struct {
	Run           string
	Rules         *audit.Rules // nil: the evidence in the record decides
	Waivers       []Waive
	AppendUnkeyed bool
}

// Status is what a publishing call came to.
type Status string

// The statuses.
const (
	StatusPublished        Status = "published"
	StatusAlreadyPublished Status = "already_published"
	StatusSealed           Status = "sealed"
	StatusAudited          Status = "audited"
)

// PublishResult is what publish and run came to.
type PublishResult struct {
	Run        string             `json:"run"`
	Generation int64              `json:"generation"`
	Status     Status             `json:"status"`
	Sequence   int64              `json:"sequence"`
	Task       string             `json:"task"`
	Attempt    string             `json:"attempt"`
	SealedBy   string             `json:"sealed_by"`
	TasksDone  int64              `json:"tasks_sealed"`
	TasksAll   int64              `json:"tasks"`
	Partitions []PublishPartition `json:"partitions"`
	Evidence   string             `json:"evidence"` // key
	Report     *audit.Report      `json:"report"`   // null where no audit ran or was looked up
	// CommandStatus is the command's own exit status, -1 where a signal ended it
	// and 0 where it did not run.
	CommandStatus int64 `json:"command_status"`
}

// PublishPartition is one partition as published.
type PublishPartition struct {
	Path  string        `json:"path"`
	Mode  manifest.Mode `json:"mode"`
	Files int64         `json:"files"`
	Rows  int64         `json:"rows"`
	Bytes int64         `json:"bytes"`
}

// RunRequest is the whole step: begin, command, stage, seal, audit, publish.
type RunRequest struct {
	Begin   BeginRequest
	Seal    SealOptions
	Rules   *audit.Rules // nil only with Until "seal"
	Waivers []Waive
	// AppendUnkeyed: as in AuditRequest.
	AppendUnkeyed bool
	Until         string // "", "seal" or "audit"
	Command       []string
	Env           []string // of the command, before wap's own variables
	Stdin         io.Reader
	Output        io.Writer // both streams of the command
	// View writes the SQL that makes a named input a view, for WAP_INPUTS_SQL;
	// nil: the file stays empty.
	View func(name string, files *FilesResult) (string, error)
}

// RunStatus is one run in a listing, or one alone.
type RunStatus struct {
	Run        string         `json:"run"`
	Generation int64          `json:"generation"`
	State      manifest.State `json:"state"`
	Sequence   int64          `json:"sequence"` // of the publish or undo; 0: none
	Scope      []string       `json:"scope"`
	Tasks      []TaskStatus   `json:"tasks"`
	Updated    time.Time      `json:"updated"`
	Next       string         `json:"next"` // what to type next
}

// TaskStatus is one task of a run.
type TaskStatus struct {
	Task      string `json:"task"`
	Sealed    bool   `json:"sealed"`
	SealedBy  string `json:"sealed_by"`
	Inherited bool   `json:"inherited"`
	Rows      int64  `json:"rows"`
	Attempts  int64  `json:"attempts"` // started, as far as is recorded
}

// StatusResult lists runs: the unfinished ones, or the one asked for.
type StatusResult struct {
	Sequence int64       `json:"sequence"`
	Runs     []RunStatus `json:"runs"`
}

// RedoRequest begins a run anew as its next generation.
type RedoRequest struct {
	Run        string
	Tasks      []string // to run again; empty: all
	KeepPin    bool
	Generation int64 // to open; 0: the record's plus one
	Reason     string
}

// InputsResult is a pinned listing.
type InputsResult struct {
	Run        string           `json:"run"`
	Generation int64            `json:"generation"`
	Task       string           `json:"task"`
	Inputs     []manifest.Input `json:"inputs"`
	Summary    InputsSummary    `json:"summary"`
	Fetched    int64            `json:"fetched"` // files downloaded
}

// FilesResult is what a reader should read, at one sequence.
type FilesResult struct {
	Sequence int64       `json:"sequence"`
	Files    []FileEntry `json:"files"`
	// Tables are the tables the files belong to, sorted by name.
	Tables []FilesTable `json:"-"`
}

// FileEntry is one live file.
type FileEntry struct {
	Path      string  `json:"path"` // its partition
	URL       string  `json:"url"`
	Size      int64   `json:"size"`
	ETag      string  `json:"etag"`
	VersionID string  `json:"version_id,omitempty"`
	SHA256    *string `json:"sha256,omitempty"`
	Rows      int64   `json:"rows"`

	Local     string             `json:"-"` // path on this machine, of a file warehouse
	Partition manifest.Partition `json:"-"`
	Stored    []string           `json:"-"` // partition keys that are columns of the file
	Key       string             `json:"-"`
}

// FilesTable is a table some files belong to.
type FilesTable struct {
	Name  string
	Table manifest.Table
}

// FetchResult says what was downloaded.
type FetchResult struct {
	Sequence int64    `json:"sequence"`
	Dir      string   `json:"dir"`
	Files    int64    `json:"files"`
	Bytes    int64    `json:"bytes"`
	Paths    []string `json:"paths"` // of the files, below Dir
}

// LsResult is one level of the tree.
type LsResult struct {
	Sequence int64           `json:"sequence"`
	Path     string          `json:"path"`
	Kind     string          `json:"kind"` // tree or manifest
	Entries  []LsEntry       `json:"entries"`
	Totals   manifest.Totals `json:"totals"`
}

// LsEntry is one folder or partition.
type LsEntry struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	manifest.Totals
}

// LogRequest selects history.
type LogRequest struct {
	Path  string // only entries that touched it; empty: all
	Since int64  // only sequences above it
	Limit int    // at most; 0: all that is readable
}

// LogResult is history, newest first.
type LogResult struct {
	Entries []LogEntry `json:"entries"`
}

// LogEntry is one snapshot.
type LogEntry struct {
	Sequence  int64              `json:"sequence"`
	Time      time.Time          `json:"time"`
	Operation manifest.Operation `json:"operation"`
	By        string             `json:"by"`
	Reason    string             `json:"reason"`
	Runs      []LogRun           `json:"runs"`
}

// LogRun is what an entry did to a run.
type LogRun struct {
	Run        string             `json:"run"`
	Generation int64              `json:"generation"`
	Effect     manifest.Effect    `json:"effect"`
	Partitions []PublishPartition `json:"partitions"`
	Rows       int64              `json:"rows"`
	Bytes      int64              `json:"bytes"`
	Rules      string             `json:"rules"`
	Waivers    []manifest.Waiver  `json:"waivers"`
}

// ShowResult is one entry of the history, or a run's timeline.
type ShowResult struct {
	Entry    *LogEntry     `json:"entry,omitempty"`
	Run      *RunStatus    `json:"run,omitempty"`
	Timeline []RunEvent    `json:"timeline"` // oldest first
	Report   *audit.Report `json:"report"`   // the newest evidence, or null
	Evidence []string      `json:"evidence"` // keys, oldest first
}

// RunEvent is one recorded moment of a run.
type RunEvent struct {
	Time       time.Time `json:"time"`
	Generation int64     `json:"generation"`
	Task       string    `json:"task"`
	Attempt    string    `json:"attempt"`
	Event      string    `json:"event"` // attempt, sealed, audited, published, revoked
	Detail     string    `json:"detail"`
}

// CheckRequest judges Parquet files outside any run.
type CheckRequest struct {
	Targets []string // local file, folder or glob, URL, or partition[@REF]
	Rules   *audit.Rules
	Now     time.Time // zero: the clock
	// Baseline is a target, too: what the others are compared with in place of
	// published states; empty: nothing.
	Baseline string
}

// CheckResult is the report of a check.
type CheckResult struct {
	*audit.Report
}
