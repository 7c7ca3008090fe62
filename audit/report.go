package audit

import (
	"time"

	"github.com/wap-cli/wap/manifest"
)

// Outcome is what an assertion, or a whole audit, came to.
type Outcome string

// The outcomes, from best to worst. Only fail and error close the gate.
const (
	Pass    Outcome = "pass"
	Skipped Outcome = "skipped"
	Warn    Outcome = "warn"
	Fail    Outcome = "fail"
	Error   Outcome = "error"
)

// Cause tells errors that lie in the data (exit 3) from outside ones (exit 8).
type Cause string

// The causes of an error.
const (
	CauseData    Cause = "data"
	CauseOutside Cause = "outside"
)

// Grade is what a result rests on.
type Grade string

// The grades, weakest first.
const (
	GradeFooter Grade = "footer" // row counts and schemas of the footers
	GradeLevels Grade = "levels" // definition levels of every page
	GradeScan   Grade = "scan"   // every value
)

// Report is the result of an audit. It is stored as evidence and printed, so
// every number that is not an integer is text: exact decimals, shortest floats,
// NaN, Infinity.
type Report struct {
	Outcome    Outcome           `json:"outcome"`
	Rules      string            `json:"rules"` // digest
	Now        time.Time         `json:"now"`
	Partitions []PartitionReport `json:"partitions"` // sorted by path
	Rows       int64             `json:"rows"`
	Files      int64             `json:"files"`
	BytesRead  int64             `json:"bytes_read"`
	Requests   int64             `json:"requests"` // range reads
	// TrustFooter: the producer's statistics were taken for evidence.
	TrustFooter bool     `json:"trust_footer"`
	Assertions  []Result `json:"assertions"`
}

// PartitionReport is what was judged under one path.
type PartitionReport struct {
	Path    string            `json:"path"`
	Files   int64             `json:"files"`
	Rows    int64             `json:"rows"`
	Bytes   int64             `json:"bytes"`
	Metrics []manifest.Metric `json:"metrics"`
}

// Result is one assertion on one partition.
type Result struct {
	ID         string   `json:"id"`
	Type       string   `json:"type"`
	Partition  string   `json:"partition"`
	Columns    []string `json:"columns"`
	Outcome    Outcome  `json:"outcome"`
	Severity   string   `json:"severity"` // fail or warn
	Observed   string   `json:"observed"`
	Expected   string   `json:"expected"`
	RowsTotal  int64    `json:"rows_total"`
	RowsTested int64    `json:"rows_tested"`
	Violations int64    `json:"violations"`
	Vacuous    bool     `json:"vacuous"` // no row was left to test
	Grade      Grade    `json:"grade"`
	Samples    []Sample `json:"samples"`
	Message    string   `json:"message"`
	Error      *Failure `json:"error,omitempty"`
	// Counts are further numbers of the assertion, e.g. groups of a unique.
	Counts []Count `json:"counts"`
	// Attribution says where violations come from: whose output they are.
	Attribution []string `json:"attribution"`
	// Waived is the reason a person gave for letting this failure pass.
	Waived string `json:"waived,omitempty"`
	// PluginStderr is the end of a plugin's stderr, at most 4 KiB.
	PluginStderr string `json:"plugin_stderr,omitempty"`

	storeSamples bool // the checks say so
}

// Count is a named number beside the violations.
type Count struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

// Failure says why an assertion could not be evaluated.
type Failure struct {
	Cause    Cause  `json:"cause"`
	Message  string `json:"message"`
	File     string `json:"file,omitempty"`
	Column   string `json:"column,omitempty"`
	RowGroup *int64 `json:"row_group,omitempty"`
	// Detail may hold values of the data, and goes where those of samples go.
	Detail string `json:"detail,omitempty"`
}

// Sample is one violating row. Values are shown on a terminal; what is stored
// or printed as JSON holds them only where the checks file says store_samples.
type Sample struct {
	File   string  `json:"file"`
	Row    int64   `json:"row"` // from 0, in the file
	Values []Value `json:"values"`
}

// Value is a cell of a sample, cut at 256 bytes.
type Value struct {
	Column string `json:"column"`
	Text   string `json:"text"`
	Null   bool   `json:"null"`
}
