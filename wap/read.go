package wap

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// liveFile is a file of a partition in one state.
type liveFile struct {
	manifest.File
	Partition manifest.Partition
}

// files lists the live files at or below a path, sorted by partition and key,
// and their tables. Nothing there is an empty list.
func (s *state) files(ctx context.Context, at string) ([]liveFile, []FilesTable, error) {
	type leaf struct {
		ref   manifest.Ref
		table *manifest.Table
	}
	var leaves []leaf
	if s.snap.Tree == nil {
		return nil, nil, nil
	}
	err := manifest.Walk(ctx, s, s.snap.Tree, pathComponents(at), func(_ []string, e manifest.TreeEntry, t *manifest.Table) error {
		leaves = append(leaves, leaf{e.Ref, t})
		return nil
	})
	if err != nil {
		return nil, nil, treeFault(err)
	}
	manifests := make([]*manifest.Manifest, len(leaves))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(s.w.cfg.Parallel)
	for i, l := range leaves {
		g.Go(func() (err error) {
			manifests[i], err = load[manifest.Manifest](gctx, s.w, l.ref)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	var out []liveFile
	var tables []FilesTable
	for i, m := range manifests {
		for _, f := range m.Files {
			out = append(out, liveFile{f, m.Partition})
		}
		t := leaves[i].table
		if t == nil {
			t = m.Table
		}
		if t != nil && (len(tables) == 0 || tables[len(tables)-1].Name != m.Partition.Table) {
			tables = append(tables, FilesTable{m.Partition.Table, *t})
		}
	}
	return out, tables, nil
}

// resolvePaths resolves several paths against one state.
func (w *Warehouse) resolvePaths(ctx context.Context, h *head, paths []string) (*state, []string, error) {
	var refs []manifest.PathRef
	var ref manifest.PathRef
	for _, p := range paths {
		r, err := manifest.ParsePathRef(p)
		if err != nil {
			return nil, nil, failf(KindUsage, "path").because(err)
		}
		refs = append(refs, r)
		if r.Ref != "" && ref.Ref != "" && r.Ref != ref.Ref {
			return nil, nil, failf(KindUsage, "the paths name two states, @%s and @%s: one call reads one", ref.Ref, r.Ref)
		}
		if r.Ref != "" {
			ref = manifest.PathRef{Ref: r.Ref}
		}
	}
	base, err := w.resolve(ctx, h, ref)
	if err != nil {
		return nil, nil, err
	}
	st, err := w.at(ctx, base)
	if err != nil {
		return nil, nil, err
	}
	out := make([]string, len(refs))
	for i, r := range refs {
		out[i] = r.Path
	}
	return st, out, nil
}

// Files lists what a reader should read: the live files at or below some paths,
// all at one sequence. Errors: usage, not_found, outside, store_broken.
func (w *Warehouse) Files(ctx context.Context, paths []string) (*FilesResult, error) {
	res := &FilesResult{}
	err := w.reading(ctx, func(h *head) error {
		st, at, err := w.resolvePaths(ctx, h, paths)
		if err != nil {
			return err
		}
		res = &FilesResult{Sequence: st.base.Sequence}
		for _, p := range at {
			files, tables, err := st.files(ctx, p)
			if err != nil {
				return err
			}
			if len(files) == 0 {
				if e, _, err := st.lookup(ctx, pathComponents(p)); err != nil || e == nil && p != "" {
					return errors.Join(err, w.notThere(p, st))
				}
			}
			for _, f := range files {
				res.Files = append(res.Files, w.fileEntry(f))
			}
			res.Tables = append(res.Tables, tables...)
		}
		slices.SortFunc(res.Files, func(a, b FileEntry) int { return strings.Compare(a.Path+"\x00"+a.Key, b.Path+"\x00"+b.Key) })
		res.Files = slices.CompactFunc(res.Files, func(a, b FileEntry) bool { return a.Key == b.Key && a.Path == b.Path })
		slices.SortFunc(res.Tables, func(a, b FilesTable) int { return strings.Compare(a.Name, b.Name) })
		res.Tables = slices.CompactFunc(res.Tables, func(a, b FilesTable) bool { return a.Name == b.Name })
		return nil
	})
	return res, err
}

func (w *Warehouse) notThere(p string, st *state) error {
	return failf(KindNotFound, "%s is not in sequence %d", p, st.base.Sequence).hint("wap ls")
}

func (w *Warehouse) fileEntry(f liveFile) FileEntry {
	e := FileEntry{
		Path: f.Partition.Path, URL: w.cfg.Location.URL(f.Key), Size: f.Size, ETag: f.ETag, VersionID: f.VersionID,
		SHA256: f.SHA256, Rows: f.Rows, Partition: f.Partition, Stored: f.StoredKeys, Key: f.Key,
	}
	if w.cfg.Location.Scheme == store.SchemeFile {
		e.Local = w.cfg.Location.Path(f.Key)
	}
	return e
}

// Ls lists one level of the tree. Errors: as Files'.
func (w *Warehouse) Ls(ctx context.Context, pathRef string) (*LsResult, error) {
	res := &LsResult{}
	err := w.reading(ctx, func(h *head) error {
		paths := []string{pathRef}
		if pathRef == "" {
			paths = nil
		}
		st, at, err := w.resolvePaths(ctx, h, paths)
		if err != nil {
			return err
		}
		p := strings.Join(at, "")
		res = &LsResult{Sequence: st.base.Sequence, Path: p}
		e, _, err := st.lookup(ctx, pathComponents(p))
		if err != nil {
			return err
		}
		if e == nil && p != "" {
			return w.notThere(p, st)
		}
		if e == nil { // nothing was published yet
			res.Kind = string(manifest.NodeTree)
			return nil
		}
		res.Kind, res.Totals = string(e.Kind), e.Totals
		if e.Kind == manifest.NodeManifest {
			return st.lsFiles(ctx, e.Ref, res)
		}
		tree, err := load[manifest.Tree](ctx, w, e.Ref)
		if err != nil {
			return err
		}
		for _, c := range tree.Entries {
			res.Entries = append(res.Entries, LsEntry{c.Name, string(c.Kind), c.Totals})
		}
		return nil
	})
	return res, err
}

// lsFiles lists a partition's files.
func (s *state) lsFiles(ctx context.Context, ref manifest.Ref, res *LsResult) error {
	m, err := load[manifest.Manifest](ctx, s.w, ref)
	if err != nil {
		return err
	}
	for _, f := range m.Files {
		res.Entries = append(res.Entries, LsEntry{path.Base(f.Key), "file", manifest.Totals{Files: 1, Rows: f.Rows, Bytes: f.Size}})
	}
	return nil
}

// Log lists history, newest first. Errors: as Files'.
func (w *Warehouse) Log(ctx context.Context, req LogRequest) (*LogResult, error) {
	at := ""
	if req.Path != "" {
		p, err := manifest.ParsePartition(req.Path)
		if err != nil {
			return nil, failf(KindUsage, "path").because(err)
		}
		at = p.Path
	}
	res := &LogResult{}
	err := w.reading(ctx, func(h *head) error {
		res = &LogResult{}
		var bad error
		after, err := w.readable(ctx, h, req.Since)
		if err != nil {
			return err
		}
		_, err = w.walk(ctx, h, after, func(e entry) bool {
			var st *state
			if st, bad = w.at(ctx, e.Base); bad != nil {
				return false
			}
			if le, ok := logEntry(st.snap, at); ok {
				res.Entries = append(res.Entries, le)
			}
			return req.Limit == 0 || len(res.Entries) < req.Limit
		})
		if err := errors.Join(bad, err); err != nil || len(res.Entries) > 0 || at == "" {
			return err
		}
		return w.mustBeThere(ctx, h, at)
	})
	return res, err
}

// mustBeThere tells a path that nothing happened to from one that is not there.
func (w *Warehouse) mustBeThere(ctx context.Context, h *head, at string) error {
	st, err := w.at(ctx, h.base())
	if err != nil {
		return err
	}
	e, _, err := st.lookup(ctx, pathComponents(at))
	if err == nil && e == nil {
		err = w.notThere(at, st)
	}
	return err
}

// logEntry is a snapshot as log shows it; false where it did not touch a path.
func logEntry(s *manifest.Snapshot, at string) (LogEntry, bool) {
	e := LogEntry{Sequence: s.Sequence, Time: s.Time, Operation: s.Operation, By: s.By, Reason: s.Reason}
	touched := at == ""
	for _, r := range s.Runs {
		lr := LogRun{Run: r.Run, Generation: r.Generation, Effect: r.Effect, Rules: r.Rules, Waivers: r.Waivers, Partitions: publishPartitions(r.Partitions)}
		for _, p := range r.Partitions {
			lr.Rows, lr.Bytes = lr.Rows+p.Rows, lr.Bytes+p.Bytes
			touched = touched || p.Path == at || strings.HasPrefix(p.Path, at+"/")
		}
		e.Runs = append(e.Runs, lr)
	}
	return e, touched
}

// Show tells about one entry of the history (`@REF`) or one run. Errors: as
// Files'.
func (w *Warehouse) Show(ctx context.Context, what string) (*ShowResult, error) {
	if !strings.HasPrefix(what, "@") {
		return w.showRun(ctx, what)
	}
	res := &ShowResult{}
	err := w.reading(ctx, func(h *head) error {
		st, _, err := w.resolvePaths(ctx, h, []string{what})
		if err != nil {
			return err
		}
		e, _ := logEntry(st.snap, "")
		res.Entry = &e
		for _, r := range st.snap.Runs {
			if r.Evidence == nil {
				continue
			}
			ev, err := load[Evidence](ctx, w, *r.Evidence)
			if err != nil {
				return err
			}
			res.Evidence, res.Report = append(res.Evidence, r.Evidence.Key), &ev.Report
		}
		return nil
	})
	return res, err
}
