package wap

import (
	"context"
	"errors"
	"slices"

	"github.com/wap-cli/wap/manifest"
)

// staleAudits is how often a publish audits again because what the evidence was
// compared with has changed.
const staleAudits = 3

// errStale: what the evidence was compared with is no longer so. Audit again.
var errStale = errors.New("the evidence is stale")

// Publish makes a run visible: all of its partitions or none. It audits first
// where the record holds no passing evidence for these rules. Errors: as
// Audit's, and conflict, different_output, outcome_unknown, store_broken.
func (w *Warehouse) Publish(ctx context.Context, req PublishRequest) (*PublishResult, error) {
	p := &publisher{w: w, req: req, result: &PublishResult{Run: req.Run}}
	err := p.publish(ctx)
	return p.result, err
}

// publisher is one call of Publish.
type publisher struct {
	w       *Warehouse
	req     PublishRequest
	result  *PublishResult
	sent    []manifest.Ref // snapshots this call proposed
	audited int
}

// publish repeats the whole decision until the run is published or something
// stops it: every round starts from record and history.
func (p *publisher) publish(ctx context.Context) error {
	for i := 0; ; i++ {
		rec, err := p.w.frozen(ctx, p.req.Run)
		if err != nil {
			return err
		}
		p.result.Generation = rec.Generation
		p.result.TasksDone, p.result.TasksAll = int64(len(rec.Tasks)), int64(len(rec.Tasks))
		if rec.State == manifest.StatePublished {
			p.w.forget(ctx, rec)
			if len(p.req.Waivers) > 0 {
				p.w.notify(Warning, "nothing was waived: "+rec.names()+" is published already", "")
			}
			return p.published(ctx, rec, *rec.Published)
		}
		if err := p.w.standing(rec); err != nil {
			return p.rejected(ctx, rec, err)
		}
		ref, err := p.evidence(ctx, rec)
		if err == nil && ref != nil {
			err = p.commit(ctx, rec, ref)
			if err == nil {
				return nil
			}
		}
		switch {
		case errors.Is(err, errStale):
			if p.audited++; p.audited > staleAudits {
				return failf(KindConflict, "%s: what its audit is compared with keeps changing", rec.names()).
					hint("publish again when the other writers are done")
			}
			if err := p.auditAgain(ctx, rec, ref); err != nil {
				return err
			}
		case err != nil && !errors.Is(err, errMoved):
			return err
		}
		if err := pauseAfter(ctx, i); err != nil {
			return outside("publish %s", rec.names()).because(err)
		}
	}
}

// evidence finds the passing evidence for the call's rules, auditing if there is
// none. Nil without an error: the record has changed, look again.
func (p *publisher) evidence(ctx context.Context, rec *record) (*manifest.EvidenceRef, error) {
	rules := ""
	if p.req.Rules != nil {
		rules = p.req.Rules.Digest()
	}
	ref := passing(&rec.Run, rules)
	if ref == nil {
		return nil, p.audit(ctx, rec, AuditRequest{
			Run: p.req.Run, Rules: p.req.Rules, Waivers: p.req.Waivers, AppendUnkeyed: p.req.AppendUnkeyed,
		})
	}
	p.result.Evidence = ref.Key
	return ref, nil
}

// audit judges the candidate.
func (p *publisher) audit(ctx context.Context, rec *record, req AuditRequest) error {
	v, err := p.w.judge(ctx, rec, req)
	p.result.Report = v.report
	return err
}

// auditAgain judges the candidate by the call's rules where its evidence is only
// stale; where no rules were given, nobody can. What the audit by these rules was
// allowed still is: its waivers stand, and to append without a key.
func (p *publisher) auditAgain(ctx context.Context, rec *record, stale *manifest.EvidenceRef) error {
	if p.req.Rules == nil {
		return failf(KindUsage, "%s: what its audit was compared with has changed, and no assertions are named to judge it again", rec.names()).
			hint("wap publish --run %s --checks FILE", quote(rec.Run.Run))
	}
	ev, err := load[Evidence](ctx, p.w, stale.Ref)
	if err != nil {
		return err
	}
	return p.audit(ctx, rec, AuditRequest{
		Run: p.req.Run, Rules: p.req.Rules, Waivers: p.req.Waivers, AppendUnkeyed: true, standing: ev.Waivers,
	})
}

// rejected adds the stored report to a gate that is closed already.
func (p *publisher) rejected(ctx context.Context, rec *record, cause error) error {
	if n := len(rec.Evidence); n > 0 && rec.State == manifest.StateRejected {
		ref := rec.Evidence[n-1]
		ev, err := load[Evidence](ctx, p.w, ref.Ref)
		if err != nil {
			return errors.Join(cause, err)
		}
		p.result.Report, p.result.Evidence = &ev.Report, ref.Key
	}
	return cause
}

// published reports where the run stands in the history.
func (p *publisher) published(ctx context.Context, rec *record, at manifest.Base) error {
	p.result.Status = StatusAlreadyPublished
	if slices.Contains(p.sent, at.Snapshot) {
		p.result.Status = StatusPublished
	}
	p.result.Sequence = at.Sequence
	p.result.TasksDone, p.result.TasksAll = int64(len(rec.Tasks)), int64(len(rec.Tasks))
	st, err := p.w.at(ctx, at)
	if errors.Is(err, errGone) {
		return nil // collected since; the record is what is left
	}
	if err != nil {
		return err
	}
	for _, r := range st.snap.Runs {
		if r.Run == rec.Run.Run && r.Generation == rec.Generation {
			p.result.Partitions = publishPartitions(r.Partitions)
			if r.Evidence != nil {
				p.result.Evidence = r.Evidence.Key
			}
		}
	}
	return nil
}

func publishPartitions(parts []manifest.SnapshotPartition) []PublishPartition {
	out := []PublishPartition{}
	for _, s := range parts {
		out = append(out, PublishPartition{s.Path, s.Mode, s.Files, s.Rows, s.Bytes})
	}
	return out
}

// commit is one candidate's way to the pointer. It returns nil once the run is
// in the lineage, errMoved to start over from the record, errStale to audit
// again, and else what stopped it. Audits never run inside its loop, nor against
// its deadline.
func (p *publisher) commit(ctx context.Context, rec *record, ref *manifest.EvidenceRef) error {
	ctx, cancel := context.WithTimeout(ctx, p.w.cfg.CommitTimeout)
	defer cancel()
	plan, err := p.w.plan(ctx, rec, ref)
	if err != nil {
		return err
	}
	for {
		if err := ctx.Err(); err != nil {
			return outside("publish %s", rec.names()).because(err)
		}
		h, err := p.w.head(ctx)
		if err != nil {
			return err
		}
		if found, err := p.w.find(ctx, h, &rec.Run); err != nil || found != nil {
			return p.found(ctx, rec, found, err)
		}
		pr, err := plan.propose(ctx, h)
		if err != nil {
			return err
		}
		p.sent = append(p.sent, pr.next.Snapshot)
		err = p.w.send(ctx, pr)
		if errors.Is(err, errOvertaken) {
			continue
		}
		if err != nil {
			return err
		}
		p.result.Partitions = publishPartitions(plan.entry().Partitions)
		p.land(ctx, rec, pr.next)
		return nil
	}
}

// found turns an entry of the history about this run into an answer.
func (p *publisher) found(ctx context.Context, rec *record, found *landing, err error) error {
	if errors.Is(err, errGone) {
		return errMoved // the horizon may have passed what was read
	}
	if err != nil {
		return err
	}
	if found.generation != rec.Generation || found.effect != manifest.EffectPublished {
		return errMoved // settled and answered at the top
	}
	st, err := p.w.at(ctx, found.Base)
	if err != nil {
		return err
	}
	for _, r := range st.snap.Runs {
		if r.Run == rec.Run.Run && r.Generation == rec.Generation && r.Candidate != rec.Candidate.Digest {
			return failf(KindDifferent, "%s is published at sequence %d with another candidate", rec.names(), found.Sequence).
				hint("the published one stands")
		}
	}
	p.land(ctx, rec, found.Base)
	p.warn(rec, p.published(ctx, rec, found.Base))
	return nil
}

// land settles the record once the run is in the lineage: from here the answer
// is 0, and whatever fails is a warning. A crash before it leaves a record and
// an open mark behind, which the next call settles.
func (p *publisher) land(ctx context.Context, rec *record, at manifest.Base) {
	own, cancel := graced(context.WithoutCancel(ctx), signalGrace)
	defer cancel()
	p.result.Status, p.result.Sequence = StatusPublished, at.Sequence
	_, err := p.w.settle(own, rec, &landing{at, rec.Generation, manifest.EffectPublished})
	if errors.Is(err, errMoved) {
		_, _, err = p.w.settled(own, rec.Run.Run)
	}
	p.warn(rec, err)
}

func (p *publisher) warn(rec *record, err error) {
	if err != nil {
		p.w.notify(Warning, rec.names()+" is published, but its record is not settled: "+err.Error(), "wap resolve "+quote(rec.Run.Run))
	}
}
