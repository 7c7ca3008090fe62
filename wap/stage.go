package wap

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// Stage is an attempt that uploads local Parquet files as a task's output and
// seals them. Errors: as Begin's, and output_refused, late, superseded,
// input_changed, different_output.
func (w *Warehouse) Stage(ctx context.Context, req StageRequest) (*SealResult, error) {
	if req.Task == "" {
		req.Task = MainTask
	}
	s, err := w.resume(ctx, req.Run, req.Task, req.Attempt)
	if err != nil || s.sealedHere() {
		return s.sealResult(), err
	}
	files, controls, err := s.stageFiles(req)
	if err == nil {
		err = s.distinct(files, output{})
	}
	if err != nil {
		return s.sealResult(), err
	}
	used, err := s.used(ctx)
	if err != nil {
		return s.sealResult(), err
	}
	if used {
		if err := s.startAttempt(ctx); err != nil {
			return s.sealResult(), err
		}
	}
	out, err := s.upload(ctx, files)
	if err != nil {
		return s.sealResult(), err
	}
	out.controls = controls
	return s.sealOutput(ctx, out, req.Seal)
}

// used reports whether the session needs an attempt of its own: it has none, or
// a call that was killed has uploaded under it, and no key is written twice.
func (s *session) used(ctx context.Context) (bool, error) {
	if s.attempt == "" {
		return true, nil
	}
	for _, table := range s.scope.Tables() {
		prefix := s.dataPrefix(table)
		for _, err := range s.w.cfg.Store.List(ctx, prefix) {
			if err != nil {
				return false, outside("list %s", prefix).because(err)
			}
			return true, nil
		}
	}
	return false, nil
}

// stageFiles lists what a stage request names.
func (s *session) stageFiles(req StageRequest) ([]localFile, []manifest.Control, error) {
	if req.Dir != "" {
		return s.collectDir(req.Dir)
	}
	p, err := manifest.ParsePartition(req.Partition)
	if err != nil {
		return nil, nil, failf(KindUsage, "partition").because(err)
	}
	var files []localFile
	names := map[string]string{}
	for _, f := range req.Files {
		name := path.Base(filepath.ToSlash(f))
		if twin, ok := names[name]; ok {
			return nil, nil, failf(KindUsage, "%s and %s have the same name", twin, f)
		}
		names[name] = f
		if strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
			return nil, nil, refused("%s starts with %q: engines skip such files silently", f, name[:1])
		}
		if err := s.inScope(p, f); err != nil {
			return nil, nil, err
		}
		files = append(files, localFile{f, f, p})
	}
	return files, nil, nil
}

// Seal seals what an engine wrote under the attempt's staging URL. Errors: as
// Stage's.
func (w *Warehouse) Seal(ctx context.Context, req SealRequest) (*SealResult, error) {
	if req.Attempt == "" {
		return nil, failf(KindUsage, "no attempt is named").hint("--attempt ID, as `wap begin` printed it")
	}
	if req.Task == "" {
		req.Task = MainTask
	}
	s, err := w.resume(ctx, req.Run, req.Task, req.Attempt)
	if err != nil || s.sealedHere() {
		return s.sealResult(), err
	}
	out, err := s.collectStaged(ctx)
	if err != nil {
		return s.sealResult(), err
	}
	return s.sealOutput(ctx, out, req.Seal)
}

// collectStaged lists and describes what lies under the staging URLs. Nobody
// vouches for bytes that an engine wrote itself: size, ETag and version do.
func (s *session) collectStaged(ctx context.Context) (output, error) {
	var parts []manifest.Partition
	var entries []store.Entry
	for _, table := range s.scope.Tables() {
		prefix := s.dataPrefix(table)
		for e, err := range s.w.cfg.Store.List(ctx, prefix) {
			if err != nil {
				return output{}, outside("list %s", prefix).because(err)
			}
			if e.Size == 0 && strings.HasSuffix(e.Key, "/") {
				continue // a folder marker
			}
			p, err := s.placeFile(path.Join(table, strings.TrimPrefix(e.Key, prefix)))
			if err != nil {
				return output{}, err
			}
			if p.Path != "" {
				parts, entries = append(parts, p), append(entries, e)
			}
		}
	}
	files := make([]manifest.File, len(entries))
	schemas := make([]manifest.Schema, len(entries))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(s.w.cfg.Parallel)
	for i, e := range entries {
		g.Go(func() (err error) {
			src := &storeSource{s.w.cfg.Store, e.Key, e.Size, e.Version}
			if files[i], schemas[i], err = describe(gctx, src, parts[i].Keys); err != nil {
				if errors.Is(err, store.ErrVersionMismatch) || errors.Is(err, store.ErrNotFound) {
					return refused("%s changed while it was sealed", e.Key).because(err)
				}
				return s.fileError(e.Key, err)
			}
			s.own(&files[i])
			files[i].Key, files[i].ETag, files[i].VersionID = e.Key, e.Version.ETag, e.Version.ID
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return output{}, err
	}
	return assemble(parts, files, schemas), nil
}

// resume finds a run that was begun before, in a state that takes a seal.
func (w *Warehouse) resume(ctx context.Context, run, task, attempt string) (*session, error) {
	rec, err := w.join(ctx, BeginRequest{Run: run, Task: task})
	s := &session{w: w, rec: rec, task: task, attempt: attempt}
	if rec == nil {
		return s, err
	}
	if s.scope, err = manifest.ParseScope(rec.Scope); err != nil {
		return s, failf(KindStoreBroken, "scope of %s", rec.names()).because(err)
	}
	if err := w.agrees(rec, BeginRequest{}, task); err != nil {
		return s, err
	}
	if err := w.standing(rec); err != nil && rec.State != manifest.StateRejected {
		return s, err
	}
	if err := s.findSeal(ctx); err != nil || s.sealedHere() {
		return s, err
	}
	if rec.State != manifest.StateOpen {
		return s, s.late()
	}
	if attempt != "" {
		key := manifest.AttemptKey(run, rec.Generation, task, attempt)
		if _, _, err := w.cfg.Store.Get(ctx, key); errors.Is(err, store.ErrNotFound) {
			return s, failf(KindSuperseded, "%s knows no attempt %s of task %q", rec.names(), attempt, task).
				hint("begin again: the run may have been redone since")
		} else if err != nil {
			return s, outside("read %s", key).because(err)
		}
	}
	s.pin, err = w.pinInputs(ctx, rec, task, BeginRequest{})
	return s, err
}

// sealedHere reports whether this very attempt's seal stands.
func (s *session) sealedHere() bool {
	return s.sealed != nil && s.attempt != "" && s.sealed.Attempt == s.attempt
}

// late is the error of a task that is not in a frozen candidate.
func (s *session) late() error {
	run := quote(s.rec.Run.Run)
	e := failf(KindLate, "%s was frozen without this output of task %q", s.rec.names(), s.task)
	if s.rec.State == manifest.StateFrozen {
		return e.hint("wap publish --run %s goes on with the output that stands; or wap abort --run %s, then wap redo %s --reason TEXT", run, run, run)
	}
	return e.hint("wap redo %s --task %s --reason TEXT", run, quote(s.task))
}
