package wap

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// Fetch downloads the live files at or below a path into a folder, as
// partition folders below it. What a call that was killed has downloaded stays.
// Errors: as Files', and usage where another file is in the place of one.
func (w *Warehouse) Fetch(ctx context.Context, pathRef, dir string) (*FetchResult, error) {
	res := &FetchResult{Dir: dir}
	files, err := w.Files(ctx, []string{pathRef})
	if err != nil {
		return res, err
	}
	res.Sequence = files.Sequence
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(w.cfg.Parallel)
	names := map[string]bool{}
	for _, f := range files.Files {
		rel := path.Join(f.Path, fetchName(f))
		if names[rel] {
			return res, failf(KindStoreBroken, "two files would be %s", rel)
		}
		names[rel] = true
		res.Paths = append(res.Paths, rel)
		res.Files, res.Bytes = res.Files+1, res.Bytes+f.Size
		g.Go(func() error {
			src := &storeSource{w.cfg.Store, f.Key, f.Size, store.Version{ETag: f.ETag, ID: f.VersionID}}
			return download(gctx, src, filepath.Join(dir, filepath.FromSlash(rel)), f.SHA256)
		})
	}
	return res, g.Wait()
}

// fetchName keeps files of the same base name apart: several tasks may have
// written a part-0.parquet.
func fetchName(f FileEntry) string {
	return manifest.SHA256Hex([]byte(f.Key))[:8] + "-" + path.Base(f.Key)
}

// download copies one pinned object to a local path and checks what arrived. A
// file that is there is never overwritten: the same bytes are taken for an
// earlier download, others are refused. A crash leaves a hidden file beside it.
func download(ctx context.Context, src *storeSource, to string, sha256 *string) error {
	if sha256 != nil {
		if there, err := alreadyThere(to, *sha256); err != nil || there {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return outside("create folder for %s", to).because(err)
	}
	part := filepath.Join(filepath.Dir(to), ".wap-"+rand.Text()+".part")
	out, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return outside("create %s", part).because(err)
	}
	arrived, err := receive(ctx, src, out)
	if closeErr := out.Close(); err == nil && closeErr != nil {
		err = outside("write %s", part).because(closeErr)
	}
	there := false
	if err == nil && sha256 != nil && arrived != *sha256 {
		err = failf(KindStoreBroken, "%s is damaged: its SHA-256 is not the sealed one", src.key)
	}
	if err == nil {
		there, err = alreadyThere(to, arrived)
	}
	if err != nil || there {
		return errors.Join(err, os.Remove(part))
	}
	if err := os.Rename(part, to); err != nil {
		return errors.Join(outside("create %s", to).because(err), os.Remove(part))
	}
	return nil
}

// receive writes an object to a file and returns the SHA-256 of what arrived.
func receive(ctx context.Context, src *storeSource, out *os.File) (string, error) {
	body, err := src.store.GetRange(ctx, src.key, 0, src.size, src.version)
	if errors.Is(err, store.ErrVersionMismatch) {
		return "", failf(KindStoreBroken, "%s was changed since it was sealed", src.key).because(err)
	}
	if err != nil {
		return "", outside("read %s", src.key).because(err)
	}
	sum := newDigest()
	n, err := io.Copy(io.MultiWriter(out, sum), body)
	if err = errors.Join(err, body.Close()); err != nil {
		return "", outside("download %s", src.key).because(err)
	}
	if n != src.size {
		return "", outside("download %s: %d bytes of %d arrived", src.key, n, src.size)
	}
	return sum.hex(), nil
}

// alreadyThere reports whether a local file is there already, and refuses it where
// it has other bytes.
func alreadyThere(name, sha256 string) (bool, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, outside("read %s", name).because(err)
	}
	defer f.Close()
	sum := newDigest()
	if _, err := io.Copy(sum, f); err != nil {
		return false, outside("read %s", name).because(err)
	}
	if sum.hex() != sha256 {
		return false, failf(KindUsage, "%s is there already, with other bytes", name).hint("fetch into an empty folder")
	}
	return true, nil
}
