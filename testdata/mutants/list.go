package main

import "slices"

// mutants lists what must not go unnoticed, in the order of a run's life.
func mutants() []mutant {
	return slices.Concat(recording(), stopping(), committing(), sending())
}

// noFence stands in for the fence.
const noFence = "func(context.Context, string) error { return nil }"

// recording are sabotages of the run record and of what leads up to a commit.
func recording() []mutant {
	return []mutant{
		{
			name:  "no nonce in run records",
			edits: []edit{{"wap/record.go", "next.Nonce, next.Updated = w.cfg.NewID(), w.cfg.Now()", "next.Updated = w.cfg.Now()"}},
			tests: "TestExploreFreezing/closing_back_to_open",
		},
		{
			name:  "an answer from the record alone",
			edits: []edit{{"wap/record.go", "found, err := w.find(ctx, h, &r.Run)", "found, err := (*landing)(nil), error(nil)"}},
			tests: "TestExploreStopping/publisher_×_abort",
		},
		{
			name:  "a record believed that the history knows nothing of",
			edits: []edit{{"wap/history.go", "found == nil && cached != nil &&", "found != nil && cached != nil &&"}},
			tests: "TestPublishedByAnothersSnapshot",
		},
		{
			name:  "the history searched from base, not first_base",
			edits: []edit{{"wap/history.go", "w.walk(ctx, h, r.FirstBase.Sequence,", "w.walk(ctx, h, r.Base.Sequence,"}},
			tests: "TestRedo$|TestExploreRedoing/redo_×_redo",
		},
		{
			name: "freeze without closing",
			edits: []edit{{"wap/freeze.go",
				"_, err = w.swapRun(ctx, rec, func(m *manifest.Run) { m.State = manifest.StateClosing })", "_, err = w.freeze(ctx, rec)"}},
			tests: "TestExploreFreezing/seal_×_freeze",
		},
		{
			name:  "a seal that does not read the record again",
			edits: []edit{{"wap/seal.go", "_, err = s.stillOpen(ctx, s.sealed.Attempt)", "err = nil"}},
			tests: "TestExploreStopping/seal_×_abort",
		},
		{
			name:  "a second seal taken for the first",
			edits: []edit{{"wap/object.go", "return bytes.Equal(standing, body), standing, nil", "return bytes.Equal(body, body), standing, nil"}},
			tests: "TestExploreFreezing/one_task_sealed_twice",
		},
		{
			name:  "evidence not bound to its candidate",
			edits: []edit{{"wap/evidence.go", "e.Candidate == r.Candidate.Digest && ", ""}},
			tests: "TestEvidenceIsBound",
		},
	}
}

// stopping are sabotages of what ends a generation, or begins the next.
func stopping() []mutant {
	return []mutant{
		{
			name:  "a failed audit without a fence",
			edits: []edit{{"wap/gate.go", `w.fence(ctx, "reject "`, noFence + `(ctx, "reject "`}},
			tests: "TestExploreStopping/publisher_×_strict_auditor",
		},
		{
			name:  "abort without a fence",
			edits: []edit{{"wap/stop.go", "w.fence(ctx, strings.TrimSuffix(string(rec.State)", noFence + "(ctx, strings.TrimSuffix(string(rec.State)"}},
			tests: "TestExploreStopping/publisher_×_abort",
		},
		{
			name: "abort that fences before it changes the record",
			edits: []edit{
				{"wap/stop.go", "w.fence(ctx, strings.TrimSuffix(string(rec.State)", noFence + "(ctx, strings.TrimSuffix(string(rec.State)"},
				{"wap/stop.go", "	next, err := w.swapRun(ctx, rec, func(m *manifest.Run) { m.State, m.Reason = to, reason })",
					"	if err := w.fence(ctx, reason); err != nil {\n		return nil, err\n	}\n" +
						"	next, err := w.swapRun(ctx, rec, func(m *manifest.Run) { m.State, m.Reason = to, reason })"},
			},
			tests: "TestExploreStopping/publisher_×_abort",
		},
		{
			name:  "redo of a rejected run without a fence",
			edits: []edit{{"wap/redo.go", `w.fence(ctx, strings.TrimSuffix("redo "`, noFence + `(ctx, strings.TrimSuffix("redo "`}},
			tests: "TestExploreRedoing/publisher_×_reject_×_redo",
		},
		{
			name:  "a redo that opens one generation more each time",
			edits: []edit{{"wap/redo.go", "target := req.Generation", "target := int64(0)"}},
			tests: "TestExploreRedoing/redo_×_redo",
		},
		{
			name:  "a kept pin with a new base",
			edits: []edit{{"wap/begin.go", "base = *rec.Redo.Base", "_ = rec.Redo.Base"}},
			tests: "TestExploreRedoing/redo_with_the_kept_pin",
		},
	}
}

// committing are sabotages of the loop that publishes.
func committing() []mutant {
	return []mutant{
		{
			name:  "no check of the run record in the loop",
			edits: []edit{{"wap/plan.go", "rec, err = p.recheckRecord(gctx)", "rec = p.rec"}},
			tests: "TestExploreStopping/publisher_×_abort",
		},
		{
			name:  "no search of the history in the loop",
			edits: []edit{{"wap/publish.go", "if found, err := p.w.find(ctx, h, &rec.Run); err != nil || found != nil {", "if found, err := (*landing)(nil), ctx.Err(); err != nil {"}},
			tests: "TestExplorePublishing/two_publishers_of_one_run",
		},
		{
			name:  "conflicts not checked",
			edits: []edit{{"wap/plan.go", "if err != nil || sameRef(now, e.Before) {", "if err != nil || sameRef(now, now) {"}},
			tests: "TestExplorePublishing/two_runs_on_one_partition",
		},
		{
			name:  "stale evidence not seen",
			edits: []edit{{"wap/plan.go", "				return errStale\n", "				return nil\n"}},
			tests: "TestExplorePublishing/append",
		},
		{
			name:  "skew not checked",
			edits: []edit{{"wap/reads.go", "!slices.Equal(now, r.Found)", "!slices.Equal(now, now)"}},
			tests: "TestExploreComparing",
		},
		{
			name:  "evidence taken for what the record says of it",
			edits: []edit{{"wap/plan.go", "case len(ev.Report.Blocking()) > 0:", "case ev == nil:"}},
			tests: "TestHandEditedRecord/passed_by_hand",
		},
	}
}

// sending are sabotages of how the pointer's swap is sent and its answer read.
func sending() []mutant {
	return []mutant{
		{
			name: "the SDK's retries on",
			edits: []edit{{"wap/store/s3_write.go",
				"s.client.PutObject(traced, in, func(o *s3.Options) { o.Retryer = aws.NopRetryer{} })", "s.client.PutObject(traced, in)"}},
			tests: "TestS3WriteAnswers", pkg: "./wap/store",
		},
		{
			name: "no read-back: success and silence taken at their word",
			edits: []edit{{"wap/send.go", "		o.sent(acknowledged(v, err))\n",
				"		if o.sent(acknowledged(v, err)); err == nil {\n			return nil\n		} else if o.unknown {\n			return outside(\"commit\").because(err)\n		}\n"}},
			tests: "TestExplorePublishing/publisher_×_zombie_write",
		},
		{
			name: "a mismatch taken for lost without the lineage",
			edits: []edit{{"wap/send.go", "		o.sent(acknowledged(v, err))\n",
				"		if o.sent(acknowledged(v, err)); errors.Is(err, store.ErrVersionMismatch) {\n			return failf(KindConflict, \"lost\")\n		}\n"}},
			tests: "TestExplorePublishing/two_runs_disjoint",
		},
		{
			name:  "a refusal with the pointer in place taken for a move",
			edits: []edit{{"wap/send.go", "if err == nil && h.version != p.from.version {", "if err == nil {"}},
			tests: "TestExploreStopping/publisher_×_abort,_whose",
		},
		{
			name:  "an outcome that is not known taken for a failure",
			edits: []edit{{"wap/send.go", "if o.unknown || o.acknowledged > 0 {", "if o.acknowledged > 0 {"}},
			tests: "TestUnknownDeletesNothing",
		},
		{
			name: "delete on unknown",
			edits: []edit{{"wap/publish.go", "err = p.w.send(ctx, pr)",
				"if err = p.w.send(ctx, pr); err != nil {\n			p.w.remove(context.WithoutCancel(ctx), pr.next.Snapshot.Key)\n		}"}},
			tests: "TestUnknownDeletesNothing",
		},
	}
}
