package scan

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/parquet/metadata"
)

const (
	magic          = "PAR1"
	magicEncrypted = "PARE"
	trailerSize    = 8 // footer length and magic
	minFileSize    = int64(len(magic)) + trailerSize
	maxTail        = 64 << 10 // holds the footers of most files
	minTail        = 8 << 10  // and this those of small ones
)

// File is an open Parquet file: its footer, and the way to its pages. Its
// methods may be used concurrently.
type File struct {
	src    Source
	opts   Options
	footer Footer
	*fileSchema
	chunks   []chunkMeta // by row group, and by column in each
	headSeen bool        // the first bytes were read, and are the magic
	oldSizes bool        // the writer left a page header out of its sizes
}

// Open reads a file's footer: one request when it stands within what is read of
// the file's end (64 KiB, less of small files), else two. A file of at most
// Options.Keep bytes is read whole, and never again. What the footer says is checked only as far as Open's own safety
// needs; row counts are compared by CheckRows and by the scans.
func Open(ctx context.Context, src Source, opts Options) (*File, error) {
	f := &File{src: src, opts: opts.withDefaults()}
	raw, err := f.readFooter(ctx)
	if err != nil {
		return nil, err
	}
	if err := f.parseFooter(raw); err != nil {
		return nil, footerFault(err)
	}
	f.footer.Bytes = int64(len(raw))
	return f, nil
}

// readFooter returns the serialized metadata.
func (f *File) readFooter(ctx context.Context) ([]byte, error) {
	size := f.src.Size()
	if size < minFileSize {
		return nil, fileError(BadFooter, "%w: %d bytes", ErrNotParquet, size)
	}
	tail := make([]byte, f.tailSize(size))
	if err := f.src.ReadRange(ctx, tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	switch string(tail[len(tail)-len(magic):]) {
	case magic:
	case magicEncrypted:
		return nil, fileError(Unsupported, "the footer is encrypted")
	default:
		return nil, fileError(BadFooter, "%w: it does not end with %s", ErrNotParquet, magic)
	}
	if int64(len(tail)) == size {
		if string(tail[:len(magic)]) != magic {
			return nil, fileError(BadFooter, "%w: it does not begin with %s", ErrNotParquet, magic)
		}
		f.headSeen = true
	}
	if size <= f.opts.Keep {
		f.src = wholeFile(tail)
	}
	tail = tail[: len(tail)-trailerSize : len(tail)]
	n := int64(binary.LittleEndian.Uint32(tail[len(tail):cap(tail)]))
	switch {
	case n > size-minFileSize:
		return nil, fileError(BadFooter, "footer of %d bytes in a file of %d", n, size)
	case n > f.opts.FooterBudget:
		return nil, fileError(OverBudget, "footer of %d bytes, budget %d", n, f.opts.FooterBudget)
	case n <= int64(len(tail)):
		// A copy, which parsing may change.
		return slices.Clone(tail[int64(len(tail))-n:]), nil
	}
	raw := make([]byte, n)
	missing := n - int64(len(tail))
	copy(raw[missing:], tail)
	return raw, f.src.ReadRange(ctx, raw[:missing], size-trailerSize-n)
}

// tailSize is how much of a file's end is read first.
func (f *File) tailSize(size int64) int64 {
	if size <= max(f.opts.Keep, minTail) {
		return size
	}
	return min(max(size/64, minTail), maxTail)
}

// wholeFile is a [Source] in memory.
type wholeFile []byte

func (w wholeFile) Size() int64 { return int64(len(w)) }

func (w wholeFile) ReadRange(ctx context.Context, p []byte, off int64) error {
	if off > int64(len(w)) || copy(p, w[off:]) < len(p) {
		return io.ErrUnexpectedEOF
	}
	return ctx.Err()
}

// CheckHead reads the first four bytes of the file and compares them with the
// magic. Open does so itself only when it has the whole file in hand.
func (f *File) CheckHead(ctx context.Context) error {
	if f.headSeen {
		return nil
	}
	head := make([]byte, len(magic))
	if err := f.src.ReadRange(ctx, head, 0); err != nil {
		return err
	}
	if string(head) != magic {
		return fileError(BadFooter, "%w: it does not begin with %s", ErrNotParquet, magic)
	}
	return nil
}

func (f *File) parseFooter(raw []byte) error {
	cost, err := weigh(raw)
	if err != nil {
		return err
	}
	if cost > f.opts.FooterBudget {
		return faultf(OverBudget, "footer takes about %d bytes, budget %d", cost, f.opts.FooterBudget)
	}
	schema, err := checkSchema(raw)
	if err != nil {
		return err
	}
	var meta *metadata.FileMetaData
	err = contain(BadFooter, func() (err error) {
		meta, err = metadata.NewFileMetaData(raw, nil)
		return err
	})
	if err != nil {
		return err
	}
	if f.fileSchema, err = f.opts.Shared.schemaOf(schema, meta.Schema); err != nil {
		return err
	}
	return f.buildFooter(meta)
}

// footerFault makes err, from wherever in the footer, an [*Error].
func footerFault(err error) error {
	reason := BadFooter
	var fl *fault
	if errors.As(err, &fl) && fl.reason != BadPage {
		reason = fl.reason
	}
	return fileError(reason, "read footer: %w", err)
}
