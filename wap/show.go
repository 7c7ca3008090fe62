package wap

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wap-cli/wap/manifest"
)

// showRun is a run's timeline over all generations, with its newest evidence.
func (w *Warehouse) showRun(ctx context.Context, run string) (*ShowResult, error) {
	rec, h, err := w.mustRun(ctx, run)
	if err != nil {
		return nil, err
	}
	res := &ShowResult{}
	if res.Run, err = w.runStatus(ctx, rec); err != nil {
		return res, err
	}
	for g := int64(1); g <= rec.Generation; g++ {
		events, err := w.generationEvents(ctx, rec, g)
		if err != nil {
			return res, err
		}
		res.Timeline = append(res.Timeline, events...)
	}
	if h != nil && rec.FirstBase != nil {
		events, err := w.historyEvents(ctx, h, rec)
		if err != nil {
			return res, err
		}
		res.Timeline = append(res.Timeline, events...)
	}
	slices.SortStableFunc(res.Timeline, func(a, b RunEvent) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Generation, b.Generation))
	})
	for i, e := range rec.Evidence {
		res.Evidence = append(res.Evidence, e.Key)
		if i == len(rec.Evidence)-1 {
			ev, err := load[Evidence](ctx, w, e.Ref)
			if err != nil {
				return res, err
			}
			res.Report = &ev.Report
		}
	}
	return res, nil
}

// generationEvents are the attempts, seals and audits of a generation.
func (w *Warehouse) generationEvents(ctx context.Context, rec *record, g int64) ([]RunEvent, error) {
	var out []RunEvent
	attempts, err := w.attempts(ctx, rec, g)
	if err != nil {
		return nil, err
	}
	for _, a := range attempts {
		detail := fmt.Sprintf("on %s, pid %d", a.Host, a.PID)
		if a.Try != "" {
			detail += ", try " + a.Try
		}
		out = append(out, RunEvent{a.Started, g, a.Task, a.Attempt, "attempt", detail})
	}
	older := rec.Run
	older.Generation, older.Inherited = g, nil
	seals, _, err := w.seals(ctx, &older)
	if err != nil {
		return nil, err
	}
	for _, s := range seals {
		t := s.seal.Totals
		out = append(out, RunEvent{s.seal.Time, g, s.ref.Task, s.seal.Attempt, "sealed", fmt.Sprintf("%d files, %d rows", t.Files, t.Rows)})
	}
	if g == rec.Generation && rec.Redo != nil {
		out = append(out, RunEvent{rec.Redo.Time, g, "", "", "redo", strings.TrimSuffix("by "+rec.Redo.By+": "+rec.Redo.Reason, ": ")})
	}
	audits, err := w.auditEvents(ctx, rec, g)
	return append(out, audits...), err
}

// auditEvents are the audits whose evidence a generation holds. The record
// names the newest of each rules alone, and none of an older generation.
func (w *Warehouse) auditEvents(ctx context.Context, rec *record, g int64) ([]RunEvent, error) {
	prefix := manifest.RunPrefix(rec.Run.Run) + fmt.Sprintf("g%d/audits/", g)
	var out []RunEvent
	for e, err := range w.cfg.Store.List(ctx, prefix) {
		if err != nil {
			return nil, outside("list %s", prefix).because(err)
		}
		body, _, err := w.cfg.Store.Get(ctx, e.Key)
		if err != nil {
			return nil, outside("read %s", e.Key).because(err)
		}
		var ev Evidence
		if err := decode(e.Key, body, &ev); err != nil {
			return nil, err
		}
		out = append(out, RunEvent{ev.Time, g, "", "", "audited", string(ev.Report.Outcome)})
	}
	return out, nil
}

// historyEvents are the run's entries in the history.
func (w *Warehouse) historyEvents(ctx context.Context, h *head, rec *record) ([]RunEvent, error) {
	var out []RunEvent
	var bad error
	_, err := w.walk(ctx, h, rec.FirstBase.Sequence, func(e entry) bool {
		for _, r := range e.runs {
			if r.Run != rec.Run.Run {
				continue
			}
			st, err := w.at(ctx, e.Base)
			if err != nil {
				bad = err
				return false
			}
			detail := fmt.Sprintf("sequence %d by %s", e.Sequence, st.snap.By)
			if st.snap.Reason != "" {
				detail += ": " + st.snap.Reason
			}
			out = append(out, RunEvent{st.snap.Time, r.Generation, "", "", string(r.Effect), strings.TrimSpace(detail)})
		}
		return true
	})
	if bad != nil {
		err = bad
	}
	return out, err
}
