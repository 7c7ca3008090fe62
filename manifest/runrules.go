package manifest

import "slices"

// Validate checks the record by itself: what its state requires and excludes,
// and that its parts are of one generation. What the history says is not here.
func (r *Run) Validate() error {
	return checkAll(
		isFormat(r.Format),
		isID("warehouse", r.Warehouse),
		isName("run", r.Run),
		atLeast("generation", 1, r.Generation),
		oneOf("state", r.State, StateOpening, StateOpen, StateClosing, StateFrozen, StateRejected,
			StatePublished, StateRevoked, StateAborting, StateAborted, StateCollecting, StateCollected),
		isID("nonce", r.Nonce),
		atLeast("floor", 0, r.Floor),
		r.checkBase,
		isSet("now", r.Now),
		r.checkIntent,
		r.checkReferences,
		r.checkRedo,
		r.checkInherited,
		r.checkCandidate,
		r.checkEvidence,
		r.checkPublished,
		isSet("updated", r.Updated),
	)
}

// checkBase checks that a run that is open, or was, has a base, that only one
// given up while opening may lack it, and that nothing is older than its floor.
func (r *Run) checkBase() error {
	needed := slices.Contains([]State{StateOpen, StateClosing, StateFrozen, StateRejected, StatePublished, StateRevoked}, r.State)
	switch {
	case r.State == StateOpening && r.Base != nil:
		return invalid("base", "set while %s", r.State)
	case needed && r.Base == nil:
		return invalid("base", "none while %s", r.State)
	case r.Base == nil && r.FirstBase != nil && r.Generation == 1:
		return invalid("first_base", "set before the base")
	case r.Base != nil && r.FirstBase == nil:
		return invalid("first_base", "none beside a base")
	}
	if err := checkAll(isBaseOrNone("base", r.Base), isBaseOrNone("first_base", r.FirstBase)); err != nil || r.Base == nil {
		return err
	}
	switch {
	case r.Generation == 1 && *r.Base != *r.FirstBase:
		return invalid("first_base", "not the base in generation 1")
	case r.FirstBase.Sequence > r.Base.Sequence:
		return invalid("first_base", "newer than the base")
	case r.Floor > r.Base.Sequence:
		return invalid("floor", "%d is newer than the base", r.Floor)
	}
	return nil
}

// checkIntent checks what the caller of begin said.
func (r *Run) checkIntent() error {
	return checkAll(
		func() error {
			scope, err := ParseScope(r.Scope)
			if err != nil {
				return invalid("scope", "%v", err)
			}
			if !slices.Equal(scope.Strings(), r.Scope) {
				return invalid("scope", "%q is not canonical, that is %q", r.Scope, scope.Strings())
			}
			return nil
		},
		oneOf("mode", r.Mode, ModeOverwrite, ModeAppend, ModeReplace),
		func() error {
			switch {
			case r.ReplaceScope && r.Mode != ModeOverwrite:
				return invalid("replace_scope", "set in mode %s", r.Mode)
			case len(r.Tasks) == 0:
				return invalid("tasks", "none")
			}
			return nil
		},
		each("tasks", r.Tasks, func(task *string) error { return isName("", *task)() }),
		unique("tasks", r.Tasks, itself),
		each("inputs", r.Inputs, func(s *InputSource) error { return s.validate() }),
		uniqueInputs("inputs", r.Inputs, itself),
	)
}

// checkReferences checks that what was resolved are inputs, each at one state
// however often it is named.
func (r *Run) checkReferences() error {
	states := map[string]Base{}
	return each("references", r.References, func(ref *Reference) error {
		named := slices.ContainsFunc(r.Inputs, func(s InputSource) bool { return s.Source == ref.Source })
		state, seen := states[ref.Source]
		states[ref.Source] = ref.Base
		switch {
		case !named:
			return invalid("source", "%q is no input", ref.Source)
		case seen && state != ref.Base:
			return invalid("source", "%q stands for two states", ref.Source)
		case ref.Sequence < r.Floor:
			return invalid("sequence", "%d is older than the floor", ref.Sequence)
		}
		return isBase("", ref.Base)()
	})()
}

// checkRedo checks how a later generation was opened.
func (r *Run) checkRedo() error {
	if (r.Redo == nil) != (r.Generation == 1) {
		return invalid("redo", "generation 1 has none, every other one")
	}
	if r.Redo == nil {
		return nil
	}
	return in("redo", checkAll(
		r.checkAgain,
		r.checkPin,
	))
}

// checkAgain checks why the run was begun anew and what of it runs again.
func (r *Run) checkAgain() error {
	d := r.Redo
	return checkAll(
		filled("reason", d.Reason),
		isSet("time", d.Time),
		each("tasks", d.Tasks, func(task *string) error { return r.checkTask("", *task) }),
		unique("tasks", d.Tasks, itself),
		oneOf("from", d.From, StateRejected, StateAborted, StateCollected, StatePublished, StateRevoked),
		r.checkSeals("seals", d.Seals),
		func() error {
			again := slices.ContainsFunc(d.Seals, func(s SealRef) bool { return slices.Contains(d.Tasks, s.Task) })
			if again || len(d.Tasks) == 0 && len(d.Seals) > 0 {
				return invalid("seals", "of a task that runs again")
			}
			return nil
		},
	)
}

// checkPin checks that a redo keeps pin and base together, and only what no
// garbage collection has touched.
func (r *Run) checkPin() error {
	d := r.Redo
	switch {
	case d.KeepPin && d.From != StateRejected:
		return invalid("keep_pin", "set after %s", d.From)
	case d.KeepPin != (d.Base != nil):
		return invalid("base", "a kept pin has one, nothing else")
	case d.KeepPin && (d.PinGeneration < 1 || d.PinGeneration >= r.Generation):
		return invalid("pin_generation", "%d is no older one", d.PinGeneration)
	case d.PinGeneration < 0 || d.PinGeneration > r.Generation:
		return invalid("pin_generation", "%d of %d", d.PinGeneration, r.Generation)
	case d.KeepPin && r.Base != nil && *r.Base != *d.Base:
		return invalid("base", "the run has another one")
	}
	return isBaseOrNone("base", d.Base)()
}

func (r *Run) checkTask(path, task string) error {
	if !slices.Contains(r.Tasks, task) {
		return invalid(path, "%q is no task of the run", task)
	}
	return nil
}

// checkSeals checks seals of the run's tasks, sorted by task.
func (r *Run) checkSeals(path string, seals []SealRef) rule {
	return func() error {
		return checkAll(
			each(path, seals, func(s *SealRef) error {
				if err := r.checkTask("task", s.Task); err != nil {
					return err
				}
				return isRef("", s.Ref)()
			}),
			sorted(path, seals, func(s SealRef) string { return s.Task }),
		)
	}
}

// checkInherited checks that inherited seals come from the redo and were
// decided when the run left opening.
func (r *Run) checkInherited() error {
	if len(r.Inherited) == 0 {
		return nil
	}
	if r.Redo == nil || r.Base == nil {
		return invalid("inherited", "set before a redo is open")
	}
	return checkAll(
		r.checkSeals("inherited", r.Inherited),
		each("inherited", r.Inherited, func(s *SealRef) error {
			if !slices.Contains(r.Redo.Seals, *s) {
				return invalid("", "not among the seals of the redo")
			}
			return nil
		}),
	)
}

// checkCandidate checks that it stands where the intake has ended, and holds one
// seal of every task.
func (r *Run) checkCandidate() error {
	before := slices.Contains([]State{StateOpening, StateOpen, StateClosing}, r.State)
	needed := slices.Contains([]State{StateFrozen, StateRejected, StatePublished, StateRevoked}, r.State)
	c := r.Candidate
	switch {
	case before && c != nil:
		return invalid("candidate", "set while %s", r.State)
	case needed && c == nil:
		return invalid("candidate", "none while %s", r.State)
	case c == nil:
		return nil
	}
	if err := r.checkSeals("candidate.seals", c.Seals)(); err != nil {
		return err
	}
	switch want := CandidateDigest(c.Seals); {
	case len(c.Seals) != len(r.Tasks):
		return invalid("candidate.seals", "%d seals of %d tasks", len(c.Seals), len(r.Tasks))
	case c.Digest != want:
		return invalid("candidate.digest", "%q, the seals' is %q", c.Digest, want)
	}
	for _, s := range r.Inherited {
		if !slices.Contains(c.Seals, s) {
			return invalid("candidate.seals", "without the inherited seal of task %q", s.Task)
		}
	}
	return notNegative("candidate.totals", c.Totals)()
}

// checkEvidence checks that all evidence is on the candidate, and that the
// newest is why a run is rejected.
func (r *Run) checkEvidence() error {
	passing := false
	err := checkAll(
		each("evidence", r.Evidence, func(e *EvidenceRef) error {
			if r.Candidate == nil || e.Candidate != r.Candidate.Digest {
				return invalid("candidate", "not the run's")
			}
			passing = passing || e.Outcome != OutcomeFail
			return checkAll(
				isRef("", e.Ref),
				isDigest("rules", e.Rules),
				oneOf("outcome", e.Outcome, OutcomePass, OutcomeWarn, OutcomeFail),
				isSet("time", e.Time),
			)
		}),
		unique("evidence", r.Evidence, func(e EvidenceRef) string { return e.Rules }),
	)
	n := len(r.Evidence)
	switch {
	case err != nil:
		return err
	case passing && !r.Passed:
		return invalid("passed", "false beside passing evidence")
	case r.Passed && r.Candidate == nil:
		return invalid("passed", "true without a candidate")
	case r.State == StateRejected && (n == 0 || r.Evidence[n-1].Outcome != OutcomeFail):
		return invalid("evidence", "the newest does not say why the run is %s", r.State)
	}
	return nil
}

// checkPublished checks where the history is said to have the run.
func (r *Run) checkPublished() error {
	p := r.Published
	switch may := r.State == StatePublished || r.State == StateRevoked; {
	case p != nil && !may:
		return invalid("published", "set while %s", r.State)
	case p == nil && may:
		return invalid("published", "none while %s", r.State)
	case p != nil && p.Sequence <= r.Base.Sequence:
		return invalid("published", "sequence %d is not after the base", p.Sequence)
	}
	return isBaseOrNone("published", p)()
}
