package wap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// findSeal looks up the seal that stands for the session's task: inherited,
// frozen into the candidate, or the first that was created. None is no error.
func (s *session) findSeal(ctx context.Context) error {
	if s.task == "" {
		return nil
	}
	refs := s.rec.Inherited
	if s.rec.Candidate != nil {
		refs = s.rec.Candidate.Seals
	}
	for _, r := range refs {
		if r.Task == s.task {
			seal, err := load[manifest.Seal](ctx, s.w, r.Ref)
			s.sealed = seal
			return err
		}
	}
	if s.rec.Candidate != nil || s.rec.State == manifest.StateOpening {
		return nil
	}
	key := manifest.SealKey(s.rec.Run.Run, s.rec.Generation, s.task)
	seal := new(manifest.Seal)
	_, _, err := fetch(ctx, s.w.cfg.Store, key, seal)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	s.sealed = seal
	return err
}

// sealOutput makes the attempt's output the task's, unless another attempt's is
// already: the first seal per run, generation and task wins.
//
// A crash before Create leaves uploads that no seal names; after it, the seal
// stands and a retry finds it.
func (s *session) sealOutput(ctx context.Context, out output, opt SealOptions) (*SealResult, error) {
	if len(out.partitions) == 0 && !opt.AllowEmpty {
		return s.sealResult(), refused("task %q wrote nothing", s.task).
			hint("--allow-empty, if a run without output is meant to be published")
	}
	if done, err := s.stillOpen(ctx, s.attempt); done || err != nil {
		return s.sealResult(), err
	}
	changed, err := s.recheckInputs(ctx, opt)
	if err != nil {
		return s.sealResult(), err
	}
	if err := s.resolveReplaced(ctx, &out, opt.Replacing); err != nil {
		return s.sealResult(), err
	}
	seal := &manifest.Seal{
		Format: manifest.Format, Run: s.rec.Run.Run, Generation: s.rec.Generation, Task: s.task, Attempt: s.attempt,
		Time: s.w.cfg.Now(), Changed: changed, Schemas: out.schemas, Partitions: out.partitions,
		Controls: out.controls, Totals: out.totals(),
	}
	if s.pin != nil {
		seal.Inputs = &s.pin.ref
	}
	body, err := manifest.Encode(seal)
	if err != nil {
		return s.sealResult(), refused("the seal of task %q cannot be written", s.task).because(err)
	}
	key := manifest.SealKey(seal.Run, seal.Generation, s.task)
	won, standing, err := s.w.claim(ctx, key, body)
	if err != nil {
		return s.sealResult(), err
	}
	s.sealed = seal
	if !won {
		first := new(manifest.Seal)
		if err := decode(key, standing, first); err != nil {
			return s.sealResult(), err
		}
		s.sealed = first
		if err := s.sameRows(ctx, first, seal, opt.Rules); err != nil {
			return s.sealResult(), err
		}
	}
	_, err = s.stillOpen(ctx, s.sealed.Attempt)
	return s.sealResult(), err
}

// stillOpen reads the record: done where the frozen candidate holds the seal of
// attempt mine, an error where it never will.
func (s *session) stillOpen(ctx context.Context, mine string) (done bool, err error) {
	generation := s.rec.Generation
	rec, err := s.w.join(ctx, BeginRequest{Run: s.rec.Run.Run})
	if err != nil {
		return false, err
	}
	if rec.Generation != generation {
		return false, failf(KindSuperseded, "run %q was begun anew as generation %d while generation %d worked", rec.Run.Run, rec.Generation, generation)
	}
	s.rec = rec
	switch rec.State {
	case manifest.StateOpen:
		return false, nil // the seal precedes every later list of seals
	case manifest.StateFrozen, manifest.StateRejected, manifest.StatePublished:
		held := &session{w: s.w, rec: rec, task: s.task}
		if err := held.findSeal(ctx); err != nil {
			return false, err
		}
		if held.sealed == nil || held.sealed.Attempt != mine {
			return false, s.late()
		}
		s.sealed = held.sealed
		return true, nil
	}
	return false, s.w.standing(rec)
}

// resolveReplaced finds the base's files that an output stands in for.
func (s *session) resolveReplaced(ctx context.Context, out *output, names []string) error {
	if s.rec.Mode != manifest.ModeReplace {
		if len(names) > 0 {
			return failf(KindUsage, "--replacing needs mode replace, %s has mode %s", s.rec.names(), s.rec.Mode)
		}
		return nil
	}
	if len(names) == 0 {
		return failf(KindUsage, "mode replace needs the files that are replaced").hint("--replacing FILE, a base name as `wap files` shows it")
	}
	base, err := s.w.at(ctx, *s.rec.Base)
	if err != nil {
		return err
	}
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	found := map[string]int{}
	for i := range out.partitions {
		p := &out.partitions[i]
		m, err := base.manifest(ctx, p.Partition.Components())
		if err != nil {
			return err
		}
		if m == nil {
			return failf(KindUsage, "partition %s is not in sequence %d: nothing to replace", p.Partition.Path, s.rec.Base.Sequence)
		}
		for _, f := range m.Files {
			for _, n := range names {
				if n == f.Key || n == f.Key[strings.LastIndex(f.Key, "/")+1:] {
					p.Replaces = append(p.Replaces, f.Key)
					found[n]++
				}
			}
		}
		slices.Sort(p.Replaces)
		p.Replaces = slices.Compact(p.Replaces) // by its base name and by its key
	}
	for _, n := range names {
		switch {
		case found[n] == 0:
			return failf(KindUsage, "no file %q in the partitions that are written, as of sequence %d", n, s.rec.Base.Sequence).hint("wap files PARTITION@%d", s.rec.Base.Sequence)
		case found[n] > 1:
			return failf(KindUsage, "file %q is ambiguous: %d files have this name", n, found[n]).hint("give its whole key")
		}
	}
	return nil
}

// sameRows compares an output that came second with the one that stands:
// checksums first, and only where bytes differ the rows themselves.
func (s *session) sameRows(ctx context.Context, first, mine *manifest.Seal, rules *audit.Rules) error {
	if first.Attempt == mine.Attempt || sameBytes(first, mine) {
		return nil
	}
	for _, p := range unionPaths(first, mine) {
		a, b := sealedFiles(first, p), sealedFiles(mine, p)
		var ignore []string
		if rules != nil {
			part, err := manifest.ParsePartition(p)
			if err != nil {
				return failf(KindStoreBroken, "partition %q", p).because(err)
			}
			if c := rules.For(part.Table); c != nil {
				ignore = c.IgnoredColumns()
			}
		}
		opts := audit.Options{Now: s.rec.Now, Memory: s.w.cfg.Memory}
		fa, err := audit.Fingerprint(ctx, s.w.auditFiles(a), ignore, opts)
		if err != nil {
			return s.fileError("the first output in "+p, err)
		}
		fb, err := audit.Fingerprint(ctx, s.w.auditFiles(b), ignore, opts)
		if err != nil {
			return s.fileError("this output in "+p, err)
		}
		if d := fa.Diff(fb); d != "" {
			return failf(KindDifferent, "task %q was sealed by attempt %s with other rows in partition %s: %s", s.task, first.Attempt, p, d).
				hint("the first output stands; make the task deterministic, or list columns that may differ under determinism: {ignore: [...]}")
		}
	}
	return nil
}

// sameBytes reports whether both seals hold the same files by checksum.
func sameBytes(a, b *manifest.Seal) bool {
	list := func(s *manifest.Seal) (out []string, known bool) {
		for _, p := range s.Partitions {
			for _, f := range p.Files {
				if f.SHA256 == nil {
					return nil, false
				}
				out = append(out, p.Partition.Path+"\x00"+*f.SHA256)
			}
		}
		slices.Sort(out)
		return out, true
	}
	x, ok := list(a)
	y, ok2 := list(b)
	return ok && ok2 && slices.Equal(x, y)
}

// unionPaths are the partitions of either seal, sorted.
func unionPaths(seals ...*manifest.Seal) []string {
	var out []string
	for _, s := range seals {
		for _, p := range s.Partitions {
			out = append(out, p.Partition.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sealedFiles are a seal's files of one partition.
func sealedFiles(s *manifest.Seal, path string) []manifest.File {
	for _, p := range s.Partitions {
		if p.Partition.Path == path {
			return p.Files
		}
	}
	return nil
}

// sealResult says whose output stands.
func (s *session) sealResult() *SealResult {
	if s == nil || s.rec == nil {
		return nil
	}
	r := &SealResult{
		Run: s.rec.Run.Run, Generation: s.rec.Generation, State: s.rec.State, Task: s.task, Attempt: s.attempt,
	}
	if s.sealed != nil {
		r.SealedBy = s.sealed.Attempt
		r.Files, r.Rows, r.Bytes = s.sealed.Totals.Files, s.sealed.Totals.Rows, s.sealed.Totals.Bytes
	}
	return r
}

// whose names an attempt for a person.
func (s *session) whose() string {
	if s.sealed == nil {
		return ""
	}
	return fmt.Sprintf("sealed by attempt %s: %d files, %d rows", s.sealed.Attempt, s.sealed.Totals.Files, s.sealed.Totals.Rows)
}
