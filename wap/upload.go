package wap

import (
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/wap-cli/wap/manifest"
)

// upload stores local files below the attempt's prefix and describes them. A
// crash leaves objects that no seal names: gc removes them.
func (s *session) upload(ctx context.Context, files []localFile) (output, error) {
	found := make([]manifest.File, len(files))
	schemas := make([]manifest.Schema, len(files))
	sent, err := s.uploads(files)
	if err != nil {
		return output{}, err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.w.cfg.Parallel)
	for i, f := range files {
		g.Go(func() (err error) {
			found[i], schemas[i], err = s.uploadFile(ctx, f, sent)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return output{}, err
	}
	parts := make([]manifest.Partition, len(files))
	for i, f := range files {
		parts[i] = f.partition
	}
	return assemble(parts, found, schemas), nil
}

// uploadFile reads the footer before it sends anything: a broken file fails at
// its writer. A file that is written to meanwhile is refused: its footer may be of
// other bytes than those that were sent.
func (s *session) uploadFile(ctx context.Context, f localFile, sent *uploads) (manifest.File, manifest.Schema, error) {
	src, err := newLocalSource(f.path)
	if err != nil {
		return manifest.File{}, manifest.Schema{}, outside("read %s", f.name).because(err)
	}
	out, schema, err := describe(ctx, src, f.partition.Keys)
	if err != nil {
		return out, schema, s.fileError(f.name, err)
	}
	file, err := os.Open(f.path)
	if err != nil {
		return out, schema, outside("read %s", f.name).because(err)
	}
	defer file.Close()
	sum := &summedFile{src: sent.watch(file), sum: newDigest()}
	out.Key = s.dataKey(f.partition, path.Base(filepath.ToSlash(f.path)))
	e, err := s.w.cfg.Store.Upload(ctx, out.Key, sum, src.size)
	if err = acknowledged(e.Version, err); err != nil {
		return out, schema, outside("upload %s to %s", f.name, out.Key).because(err)
	}
	hexed, err := sum.hex(src.size)
	if err != nil {
		return out, schema, outside("read %s", f.name).because(err)
	}
	out.SHA256 = &hexed
	if info, err := os.Stat(f.path); err != nil || !src.is(info) {
		return out, schema, refused("%s was written to while it was uploaded", f.name).
			hint("the task must have finished its files when it ends; the run stays open for its retry")
	}
	s.own(&out)
	out.ETag, out.VersionID = e.Version.ETag, e.Version.ID
	return out, schema, nil
}

// summedFile takes the digest of the very bytes that a store reads to send them,
// each the first time: stores read from the start to the end.
type summedFile struct {
	src io.ReaderAt

	mu   sync.Mutex
	sum  digest
	seen int64 // bytes in sum
}

func (f *summedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.src.ReadAt(p, off)
	f.mu.Lock()
	defer f.mu.Unlock()
	if end := off + int64(n); off <= f.seen && end > f.seen {
		f.sum.Write(p[f.seen-off : n])
		f.seen = end
	}
	return n, err
}

// hex is the digest of all size bytes; of those that no store read in turn, as
// they are now.
func (f *summedFile) hex(size int64) (string, error) {
	f.mu.Lock()
	seen := f.seen
	f.mu.Unlock()
	if _, err := io.Copy(io.Discard, io.NewSectionReader(f, seen, size-seen)); err != nil {
		return "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sum.hex(), nil
}

// uploads counts what was read of files to be sent.
type uploads struct {
	tell func(done, total int64)

	mu          sync.Mutex
	done, total int64
}

func (s *session) uploads(files []localFile) (*uploads, error) {
	u := &uploads{tell: s.w.cfg.Uploading}
	for _, f := range files {
		info, err := os.Stat(f.path)
		if err != nil {
			return nil, outside("read %s", f.name).because(err)
		}
		u.total += info.Size()
	}
	return u, nil
}

// watch counts each byte of src once, however often it is read: for a checksum,
// or again after a broken connection.
func (u *uploads) watch(src io.ReaderAt) io.ReaderAt {
	if u.tell == nil {
		return src
	}
	return &watchedFile{src: src, all: u}
}

type watchedFile struct {
	src  io.ReaderAt
	all  *uploads
	seen int64 // guarded by all.mu
}

func (w *watchedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := w.src.ReadAt(p, off)
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	if end := off + int64(n); end > w.seen {
		w.all.done += end - w.seen
		w.seen = end
		w.all.tell(w.all.done, w.all.total)
	}
	return n, err
}
