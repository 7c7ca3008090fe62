package wap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// inputEnvironment writes the pinned listing into dir and names the files:
// values of thousands of objects would not fit an environment.
func (s *session) inputEnvironment(ctx context.Context, dir string, req RunRequest) ([]string, error) {
	if s.pin == nil {
		return nil, nil
	}
	body, err := manifest.Encode(s.pin.inputs)
	if err != nil {
		return nil, failf(KindUsage, "encode inputs").because(err)
	}
	var urls, sql strings.Builder
	for _, in := range s.pin.inputs.Inputs {
		for _, o := range in.Objects {
			urls.WriteString(o.URL + "\n")
		}
		if in.Name == "" || req.View == nil {
			continue
		}
		files, err := s.inputFiles(ctx, in)
		if err != nil {
			return nil, err
		}
		view, err := req.View(in.Name, files)
		if err != nil {
			return nil, failf(KindUsage, "input %s", in.Name).because(err)
		}
		sql.WriteString(view + "\n")
	}
	var env []string
	for _, f := range []struct{ variable, name, body string }{
		{"WAP_INPUTS", "inputs.json", string(body)},
		{"WAP_INPUT_URLS", "input_urls.txt", urls.String()},
		{"WAP_INPUTS_SQL", "inputs.sql", sql.String()},
	} {
		file := filepath.Join(dir, f.name)
		if err := os.WriteFile(file, []byte(f.body), 0o600); err != nil {
			return nil, outside("write %s", file).because(err)
		}
		env = append(env, f.variable+"="+file)
	}
	return env, nil
}

// inputFiles are a pinned input's objects as a reader's file list.
func (s *session) inputFiles(ctx context.Context, in manifest.Input) (*FilesResult, error) {
	res := &FilesResult{}
	if in.Snapshot == nil {
		for _, o := range in.Objects {
			e := FileEntry{URL: o.URL, Size: o.Size, ETag: o.ETag, VersionID: o.VersionID, Rows: o.Rows, Key: o.Key}
			if loc, err := store.ParseURL(o.URL); err == nil && loc.Scheme == store.SchemeFile {
				e.Local = loc.Dir
			}
			res.Files = append(res.Files, e)
		}
		return res, nil
	}
	res.Sequence = in.Snapshot.Sequence
	p, err := manifest.ParsePathRef(in.Source)
	if err != nil {
		return nil, failf(KindStoreBroken, "input %s", in.Source).because(err)
	}
	st, err := s.w.at(ctx, *in.Snapshot)
	if err != nil {
		return nil, err
	}
	files, tables, err := st.files(ctx, p.Path)
	for _, f := range files {
		res.Files = append(res.Files, s.w.fileEntry(f))
	}
	res.Tables = tables
	return res, err
}

// FetchInputs downloads exactly the pinned bytes into a folder: one folder an
// input, named by its name or its number. Errors: as Inputs', input_changed.
func (w *Warehouse) FetchInputs(ctx context.Context, run, task, dir string) (*InputsResult, error) {
	res, err := w.Inputs(ctx, run, task)
	if err != nil {
		return res, err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(w.cfg.Parallel)
	for i, in := range res.Inputs {
		from, name := store.Bulk(w.cfg.Store), in.Name
		if name == "" {
			name = fmt.Sprintf("input-%d", i+1)
		}
		if in.Snapshot == nil {
			st, _, err := w.inputStore(ctx, in)
			if err != nil {
				return res, err
			}
			from = st
		}
		for _, o := range in.Objects {
			rel := o.Key
			if in.Snapshot != nil {
				rel = path.Join(o.Partition, manifest.SHA256Hex([]byte(o.Key))[:8]+"-"+path.Base(o.Key))
			}
			res.Fetched++
			g.Go(func() error {
				src := &storeSource{from, o.Key, o.Size, store.Version{ETag: o.ETag, ID: o.VersionID}}
				err := download(gctx, src, filepath.Join(dir, name, filepath.FromSlash(rel)), o.SHA256)
				if in.Snapshot == nil && (errors.Is(err, store.ErrVersionMismatch) || errors.Is(err, store.ErrNotFound)) {
					return failf(KindInputChanged, "input %s changed since the run began", o.URL).because(err).
						hint("wap abort --run %[1]s, then wap redo %[1]s --reason TEXT pins it anew", quote(run))
				}
				return err
			})
		}
	}
	return res, g.Wait()
}

// inputStore opens the root that a plain input's keys are relative to.
func (w *Warehouse) inputStore(ctx context.Context, in manifest.Input) (store.Store, store.Location, error) {
	root := in.Source
	if len(in.Objects) == 1 && strings.TrimSuffix(in.Objects[0].URL, "/") == strings.TrimSuffix(root, "/") {
		root = root[:strings.LastIndex(strings.TrimSuffix(root, "/"), "/")+1]
	}
	st, loc, err := w.cfg.OpenStore(ctx, root)
	if err != nil {
		err = OpenError("input "+in.Source, err)
	}
	return st, loc, err
}
