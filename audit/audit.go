// Package audit judges Parquet files by a checks file: a plan, one pass over
// the data, a report.
//
// [Parse] turns a checks file into canonical checks; nothing is read before it
// is right. [Run] binds them to the schema of each partition, reads every row
// group once for all of them, each with a state of its own, and merges the
// states in the order of files and row groups: the report does not depend on the
// parallelism. Only a key that repeats has its columns read a second time, to
// confirm by value what their hashes suggest.
//
// The catalogue is a list of kinds, one file a family. A new assertion is an
// entry there: its name, its parameters, and a function that binds it. One that
// counts violating rows needs no more than a predicate over values (see
// bindRows), one that compares a value an accumulator (see bindAggregate).
package audit

import (
	"context"
	"time"

	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
)

// Partition is one unit of judgement (every assertion is evaluated on each
// partition by itself).
type Partition struct {
	manifest.Partition
	Mode  manifest.Mode
	Files []File // what is judged, sorted by key
	// Live are the files the partition keeps beside Files: in mode append,
	// uniqueness spans both, every other assertion judges Files alone.
	Live []File
	// Previous are the live partition's totals, null where there is none: an
	// overwrite that shrinks it by more than half is a warning.
	Previous *manifest.Totals
	// Stray are names beside the data files that no reader would expect.
	Stray []string
}

// File is one Parquet file with where it came from, for attribution.
type File struct {
	Key        string // as it is named in reports
	SHA256     string // hex, empty where unknown
	Run        string
	Generation int64
	Task       string
	Attempt    string
	Source     scan.Source
	Rows       int64 // of a published file, as its manifest says
}

// Options are what an audit needs beside rules and files. The zero value is
// useful but for Now.
type Options struct {
	Now time.Time
	// Memory is the budget for the whole audit in bytes; 0 means DefaultMemory.
	// Plugins get as much again, all that run at the same time together.
	Memory int64
	// Parallel is how many row groups are decoded at once; 0 means GOMAXPROCS.
	Parallel int
	// LiveSHA256 tells whether a file with these bytes is live already in the
	// table (no_duplicate_content, mode append); nil: not known.
	LiveSHA256 func(sha256 string) (key string, live bool)
	// Published is what assertions compare with; nil: there is nothing.
	Published Published
	// Plugins runs exec assertions; nil: they are errors, as are those of sql.
	Plugins Plugins
	// Progress is told bytes read so far and in all; may be nil.
	Progress func(done, total int64)
}

// DefaultMemory is the budget of an audit whose options name none.
const DefaultMemory = 512 << 20

// Plugins runs the commands of exec and sql.
type Plugins interface {
	// Run gives document to command on stdin and returns what it printed. The
	// error is about starting, the exit status, or ctx's end; stderr is at most
	// its last 4 KiB either way.
	Run(ctx context.Context, command []string, document []byte) (stdout, stderr []byte, err error)
	// Local returns a path under which the file can be read, and URL one for
	// engines that read the store themselves.
	Local(ctx context.Context, f File) (path string, err error)
	URL(f File) string
}
