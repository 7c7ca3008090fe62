package wap

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// storeSource reads one version of one object.
type storeSource struct {
	store   store.Bulk
	key     string
	size    int64
	version store.Version
}

// Size implements scan.Source.
func (s *storeSource) Size() int64 { return s.size }

// ReadRange implements scan.Source.
func (s *storeSource) ReadRange(ctx context.Context, p []byte, off int64) error {
	body, err := s.store.GetRange(ctx, s.key, off, int64(len(p)), s.version)
	if err != nil {
		return err
	}
	_, err = io.ReadFull(body, p)
	return errors.Join(err, body.Close())
}

// localSource reads a local file that was opened for each range: hundreds of
// files may be in one audit.
type localSource struct {
	path string
	size int64
	// stamp is the size and modification time when it was first seen: a file that
	// is replaced during a scan is an error, not a mixture.
	stamp os.FileInfo
}

// newLocalSource describes the file at path.
func newLocalSource(path string) (*localSource, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return &localSource{path: path, size: info.Size(), stamp: info}, nil
}

// is reports whether info is of the file as it was first seen.
func (s *localSource) is(info os.FileInfo) bool {
	return os.SameFile(info, s.stamp) && info.Size() == s.size && info.ModTime().Equal(s.stamp.ModTime())
}

// Path is where the file lies, for plugins that open it themselves.
func (s *localSource) Path() string { return s.path }

// Size implements scan.Source.
func (s *localSource) Size() int64 { return s.size }

// ReadRange implements scan.Source.
func (s *localSource) ReadRange(ctx context.Context, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !s.is(info) {
		return errors.New("the file was replaced while it was read")
	}
	_, err = io.ReadFull(io.NewSectionReader(f, off, int64(len(p))), p)
	return err
}

// describe reads a file's footer into its manifest entry and its schema. The
// keys are the partition's: those that are columns of the file are noted.
func describe(ctx context.Context, src scan.Source, keys []manifest.KeyValue) (manifest.File, manifest.Schema, error) {
	f, err := scan.Open(ctx, src, scan.Options{})
	if err != nil {
		return manifest.File{}, manifest.Schema{}, err
	}
	if err := f.CheckRows(); err != nil {
		return manifest.File{}, manifest.Schema{}, err
	}
	footer := f.Footer()
	out := manifest.File{
		Size: src.Size(), Rows: footer.Rows, FooterBytes: footer.Bytes, CreatedBy: footer.CreatedBy,
		FieldIDs: manifest.FieldIDs(footer.FieldIDs),
	}
	for _, g := range footer.RowGroups {
		out.RowGroups = append(out.RowGroups, manifest.RowGroup{Offset: g.Offset, Rows: g.Rows, Bytes: g.Bytes})
	}
	var schema manifest.Schema
	for _, c := range f.Columns() {
		col := manifest.Column{
			Path: c.Path, Physical: c.Physical.String(), Logical: c.Type.String(),
			Repetition: c.Repetition.String(), MaxDef: int64(c.MaxDef), MaxRep: int64(c.MaxRep),
		}
		if c.FieldID != nil {
			id := int64(*c.FieldID)
			col.FieldID = &id
		}
		schema.Columns = append(schema.Columns, col)
	}
	for _, k := range keys {
		if ref, err := f.Resolve(k.Name); err == nil && ref.Rep == 0 {
			out.StoredKeys = append(out.StoredKeys, k.Name)
		}
	}
	return out, schema, nil
}
