package wap

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/manifest"
)

// Audit freezes a run and judges its candidate: it stores the evidence and moves
// the record to frozen or rejected. Errors: gate_closed, not_evaluated (no state
// changes), tasks_missing, stopped, usage, outside, outcome_unknown. A run that
// is published is no error: the result has its sequence.
func (w *Warehouse) Audit(ctx context.Context, req AuditRequest) (*AuditResult, error) {
	rec, err := w.frozen(ctx, req.Run)
	if err != nil {
		return auditResult(rec, nil, nil), err
	}
	v, err := w.judge(ctx, rec, req)
	return v.result(rec), err
}

// verdict is what judging a candidate came to.
type verdict struct {
	rec    *record
	report *audit.Report
	ref    *manifest.EvidenceRef
}

func (v *verdict) result(rec *record) *AuditResult {
	if v == nil {
		return auditResult(rec, nil, nil)
	}
	return auditResult(v.rec, v.report, v.ref)
}

func auditResult(rec *record, report *audit.Report, ref *manifest.EvidenceRef) *AuditResult {
	if rec == nil {
		return nil
	}
	r := &AuditResult{Run: rec.Run.Run, Generation: rec.Generation, State: rec.State, Report: report}
	if rec.Candidate != nil {
		r.Candidate = rec.Candidate.Digest
	}
	if ref != nil {
		r.Evidence = ref.Key
	}
	if rec.Published != nil && final(rec.State) {
		r.Sequence = rec.Published.Sequence
	}
	return r
}

// judge audits a frozen or rejected candidate.
func (w *Warehouse) judge(ctx context.Context, rec *record, req AuditRequest) (*verdict, error) {
	v := &verdict{rec: rec}
	if rec.State == manifest.StatePublished {
		return v, nil
	}
	if err := w.standing(rec); err != nil && rec.State != manifest.StateRejected {
		return v, err
	}
	if req.Rules == nil {
		return v, failf(KindUsage, "no assertions are named to judge %s by", rec.names()).
			hint("--checks FILE, or --checks builtin for the built-in ones alone")
	}
	st, err := w.judgedState(ctx, rec)
	if err != nil {
		return v, err
	}
	c, err := w.candidate(ctx, rec, st)
	if err != nil {
		return v, err
	}
	if err := c.checkRules(req); err != nil {
		return v, err
	}
	parts, err := c.judged(ctx, st, req.Rules)
	if err != nil {
		return v, err
	}
	with := &compared{w: w, c: c, rules: req.Rules}
	v.report, err = audit.Run(ctx, req.Rules, parts, audit.Options{
		Now: rec.Now, Memory: w.cfg.Memory, LiveSHA256: c.liveContent(), Published: with,
		Plugins: w.cfg.Plugins, Progress: w.cfg.Progress,
	})
	c.reads = with.noted()
	if err != nil {
		return v, outside("audit %s", rec.names()).because(err)
	}
	waivers, err := w.waive(v.report, req)
	if err != nil {
		return v, err
	}
	if len(v.report.Blocking()) > 0 && v.report.OutsideOnly() {
		// What is gone for good will not be there later.
		if err := w.checkStaged(ctx, rec, c.newFiles()); err != nil {
			return v, err
		}
		return v, failf(KindNotEvaluated, "%s could not be judged: %s", rec.names(), firstBlocking(v.report)).
			hint("retry later; nothing has changed")
	}
	return v, w.conclude(ctx, v, c, req, waivers)
}

// judgedState is what the candidate is compared with: the base; in mode append,
// where others may add meanwhile, the newest state.
func (w *Warehouse) judgedState(ctx context.Context, rec *record) (*state, error) {
	if rec.Mode != manifest.ModeAppend {
		return w.at(ctx, *rec.Base)
	}
	var st *state
	err := w.reading(ctx, func(h *head) (err error) {
		st, err = w.at(ctx, h.base())
		return err
	})
	return st, err
}

// checkRules refuses a table that no assertion is named for, and to append
// without one that would see the same rows twice.
func (c *candidate) checkRules(req AuditRequest) error {
	for _, p := range c.partitions {
		rules := req.Rules.For(p.partition.Table)
		if rules == nil {
			return failf(KindUsage, "no assertions are named for table %s", p.partition.Table).
				hint("--checks FILE, or a glob under tables: in wap.yaml that covers it")
		}
		if c.rec.Mode == manifest.ModeAppend && !req.AppendUnkeyed && !rules.Keyed() {
			return failf(KindUsage, "mode append needs a unique or primary_key assertion for table %s", p.partition.Table).
				hint("add one, or --append-unkeyed if the table has no key")
		}
	}
	return nil
}

// liveContent tells which bytes are live already in the partitions appended to.
func (c *candidate) liveContent() func(string) (string, bool) {
	live := map[string]string{}
	for _, p := range c.partitions {
		for _, f := range c.kept(p) {
			if f.SHA256 != nil {
				live[*f.SHA256] = f.Key
			}
		}
	}
	return func(sha256 string) (string, bool) { key, ok := live[sha256]; return key, ok }
}

// waive lets named failures pass, on record. A waiver that names nothing that
// failed is a mistake; one that stands may have become needless.
func (w *Warehouse) waive(report *audit.Report, req AuditRequest) ([]manifest.Waiver, error) {
	var out []manifest.Waiver
	for _, x := range req.Waivers {
		if x.Reason == "" {
			return nil, failf(KindUsage, "waiving %q needs a reason", x.Assertion).hint("--reason TEXT")
		}
		if report.Waive(x.Assertion, x.Reason) == 0 {
			w.notify(Warning, "nothing to waive: no assertion "+x.Assertion+" failed", "")
			continue
		}
		out = append(out, manifest.Waiver{Assertion: x.Assertion, Reason: x.Reason, By: w.cfg.By})
	}
	for _, x := range req.standing {
		again := slices.ContainsFunc(req.Waivers, func(o Waive) bool { return o.Assertion == x.Assertion })
		if !again && report.Waive(x.Assertion, x.Reason) > 0 {
			out = append(out, x)
		}
	}
	return out, nil
}

// conclude stores the evidence and moves the record. A crash before the Swap
// leaves evidence that nothing names: the audit is repeated.
func (w *Warehouse) conclude(ctx context.Context, v *verdict, c *candidate, req AuditRequest, waivers []manifest.Waiver) error {
	rec := v.rec
	ev := &Evidence{
		Format: manifest.Format, Run: rec.Run.Run, Generation: rec.Generation, Candidate: rec.Candidate.Digest,
		Rules: req.Rules.Digest(), Time: w.cfg.Now(), Inputs: c.inputs, Reads: c.reads, Controls: c.controls, Waivers: waivers,
		Report: *v.report.WithoutValues(),
	}
	passed := len(v.report.Blocking()) == 0
	objects, err := w.results(c, ev, req.Rules, passed)
	if err != nil {
		return err
	}
	obj, err := encodeObject(manifest.EvidenceKey(rec.Run.Run, rec.Generation, w.cfg.NewID()), ev)
	if err != nil {
		return err
	}
	if err := w.createAll(ctx, append(objects, obj)); err != nil {
		return err
	}
	v.ref = &manifest.EvidenceRef{
		Ref: obj.ref, Rules: ev.Rules, Candidate: ev.Candidate, Outcome: storedOutcome(v.report, passed), Time: ev.Time,
	}
	if passed {
		return w.accept(ctx, v)
	}
	return w.reject(ctx, v)
}

// results lists the partitions before and after, with the manifests to write
// for a candidate that passed.
func (w *Warehouse) results(c *candidate, ev *Evidence, rules *audit.Rules, passed bool) ([]*written, error) {
	var objects []*written
	for _, p := range c.partitions {
		e := EvidencePartition{Path: p.partition.Path, Mode: c.rec.Mode, Before: p.before}
		if passed && !p.emptied {
			m, err := c.manifest(p, rules, &ev.Report)
			if err != nil {
				return nil, err
			}
			body, err := manifest.Encode(m)
			if err != nil {
				return nil, failf(KindUsage, "manifest of %s", e.Path).because(err)
			}
			sha := manifest.SHA256Hex(body)
			key := manifest.ManifestKey(c.rec.Run.Run, c.rec.Generation, w.cfg.NewID(), sha)
			objects = append(objects, &written{manifest.Ref{Key: key, SHA256: sha}, body})
			e.After, e.Totals = &objects[len(objects)-1].ref, m.Totals
		}
		ev.Partitions = append(ev.Partitions, e)
	}
	return objects, nil
}

func storedOutcome(r *audit.Report, passed bool) manifest.Outcome {
	switch {
	case !passed:
		return manifest.OutcomeFail
	case r.Outcome == audit.Warn:
		return manifest.OutcomeWarn
	}
	return manifest.OutcomePass
}

// firstBlocking names what closes the gate.
func firstBlocking(r *audit.Report) string {
	b := r.Blocking()[0]
	msg := b.Message
	if b.Error != nil {
		msg = b.Error.Message
	}
	return strings.TrimSuffix(b.ID+" on "+b.Partition+": "+msg, ": ")
}

// accept moves the record to frozen with passing evidence: from frozen, or from
// rejected under other rules.
func (w *Warehouse) accept(ctx context.Context, v *verdict) error {
	return w.moveJudged(ctx, v, func(m *manifest.Run) {
		m.State, m.Passed = manifest.StateFrozen, true
		m.Evidence = withEvidence(m.Evidence, *v.ref)
	})
}

// reject moves the record to rejected. Where passing evidence ever stood in this
// generation, a publisher may be on its way: it is fenced off before this
// answers that the gate is closed.
func (w *Warehouse) reject(ctx context.Context, v *verdict) error {
	err := w.moveJudged(ctx, v, func(m *manifest.Run) {
		m.State = manifest.StateRejected
		m.Evidence = withEvidence(m.Evidence, *v.ref)
	})
	if err != nil {
		return err
	}
	if v.rec.Passed && v.rec.State == manifest.StateRejected {
		if err := w.fence(ctx, "reject "+v.rec.names()); err != nil {
			return err
		}
		now, _, err := w.settled(ctx, v.rec.Run.Run)
		if err != nil {
			return err
		}
		if now.Generation != v.rec.Generation {
			// It may have been published, too, before it was begun anew.
			return v.superseded()
		}
		v.rec = now
	}
	if v.rec.State == manifest.StatePublished {
		w.notify(Warning, "the audit fails, but "+v.rec.names()+" was published by other rules", "wap show "+quote(v.rec.Run.Run))
		return nil
	}
	n := len(v.report.Blocking())
	return failf(KindGateClosed, "the gate is closed: %d of %d assertions failed, first %s", n, len(v.report.Assertions), firstBlocking(v.report)).
		hint("readers still see what they saw before; fix the data and `wap redo %s --reason TEXT`, or audit the same bytes by other rules", quote(v.rec.Run.Run))
}

// superseded is the error of a verdict on a generation that is over.
func (v *verdict) superseded() error {
	return failf(KindSuperseded, "%s was begun anew while it was judged", v.rec.names())
}

// moveJudged changes the record that a verdict is about, as long as it still is
// the same candidate's.
func (w *Warehouse) moveJudged(ctx context.Context, v *verdict, change func(*manifest.Run)) error {
	for i := 0; ; i++ {
		next, err := w.swapRun(ctx, v.rec, change)
		if err == nil {
			v.rec = next
			return nil
		}
		if !errors.Is(err, errMoved) {
			return err
		}
		now, _, err := w.settled(ctx, v.rec.Run.Run)
		if err != nil {
			return err
		}
		switch {
		case now == nil || now.Generation != v.rec.Generation:
			return v.superseded()
		case now.State == manifest.StatePublished:
			v.rec = now
			return nil
		case now.State != manifest.StateFrozen && now.State != manifest.StateRejected:
			return w.standing(now)
		}
		v.rec = now
		if err := pauseAfter(ctx, i); err != nil {
			return outside("judge %s", now.names()).because(err)
		}
	}
}
