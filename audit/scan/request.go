package scan

import (
	"context"
	"math"
)

// Source reads one file by byte ranges. Calls may be concurrent.
type Source interface {
	// ReadRange fills p with the bytes from off on, all of them, or returns an
	// error. Every read is of the same state of the file; a source that cannot
	// promise that any more returns an error.
	ReadRange(ctx context.Context, p []byte, off int64) error
	// Size is the file's length in bytes.
	Size() int64
}

// Options limit what reading a file may cost. The zero value means the defaults.
type Options struct {
	// PageBudget bounds one page or dictionary, compressed and decoded, and the
	// part of a batch that one column's single row takes. Default 256 MiB, at
	// most 2 GiB, which is what Parquet can say.
	PageBudget int64
	// FooterBudget bounds the memory a decoded footer takes, by estimate.
	// Default 256 MiB, enough for some 300,000 column chunks.
	FooterBudget int64
	// BatchRows is the largest number of rows in a batch. Default 8192.
	BatchRows int
	// ReadSize is how much of a column chunk is asked from the source at once,
	// pages that are larger aside. Default 1 MiB; a scan of more than 64 columns
	// divides 64 MiB among them.
	ReadSize int64
	// ReadAhead fetches, for each column, the next ReadSize bytes while the ones
	// before are decoded: for sources whose requests take long.
	ReadAhead bool
	// Keep is the size up to which Open reads a file whole and keeps it.
	Keep int64
	// Shared is what the file has in common with others; nil: nothing.
	Shared *Shared
}

func (o Options) withDefaults() Options {
	if o.PageBudget <= 0 {
		o.PageBudget = 256 << 20
	}
	o.PageBudget = min(o.PageBudget, math.MaxInt32)
	if o.FooterBudget <= 0 {
		o.FooterBudget = 256 << 20
	}
	if o.BatchRows <= 0 {
		o.BatchRows = 8192
	}
	if o.ReadSize <= 0 {
		o.ReadSize = 1 << 20
	}
	if o.Shared == nil {
		o.Shared = new(Shared)
	}
	return o
}

// Need is what a request wants of a column.
type Need uint8

const (
	// ReadLevels asks for definition and repetition levels; no value is decoded.
	ReadLevels Need = iota
	// ReadValues asks for levels and values.
	ReadValues
)

// ColumnNeed asks for one column. A request names a column at most once.
type ColumnNeed struct {
	Column int // index of the leaf
	Need   Need
}

// Request lists the columns of a scan; batches hold them in this order.
type Request struct {
	Columns []ColumnNeed
	// Counted are leaves of which Plan.Count will be asked; they are in no batch.
	Counted []int
}
