package manifest

import (
	"testing"
	"time"
)

// sampleOpening is a run's first record.
func sampleOpening(testing.TB) *Run {
	return &Run{Format: 1, Warehouse: warehouseID, Run: "r", Generation: 1, State: StateOpening, Nonce: nonceID,
		Floor: 7, Now: sampleTime, Scope: []string{"orders"}, Mode: ModeOverwrite, Tasks: []string{"main"}, Updated: sampleTime}
}

// sampleFrozen is a run's record of generation 1 with passing evidence.
func sampleFrozen(t testing.TB) *Run {
	r := sampleOpening(t)
	r.State, r.Base, r.FirstBase, r.Passed = StateFrozen, sampleBase(8), sampleBase(8), true
	r.Candidate = &Candidate{Seals: []SealRef{{Task: "main", Ref: Ref{Key: SealKey("r", 1, "main"), SHA256: digest("3")}}}}
	r.Candidate.Digest = CandidateDigest(r.Candidate.Seals)
	r.Evidence = []EvidenceRef{
		{Ref: Ref{Key: EvidenceKey("r", 1, "01D"), SHA256: digest("0")}, Rules: digest("1"),
			Candidate: r.Candidate.Digest, Outcome: OutcomePass, Time: sampleTime},
		{Ref: Ref{Key: EvidenceKey("r", 1, "01E"), SHA256: digest("0")}, Rules: digest("2"),
			Candidate: r.Candidate.Digest, Outcome: OutcomeFail, Time: sampleTime},
	}
	return r
}

// Every state that the steps of the protocol can write is valid.
func TestValidateRunStates(t *testing.T) {
	opening, frozen := sampleOpening(t), sampleFrozen(t)
	for _, state := range []State{StateOpening, StateAborting, StateAborted, StateCollecting, StateCollected} {
		r := *opening
		r.State = state
		if err := r.Validate(); err != nil {
			t.Errorf("%s, from opening: %v", state, err)
		}
	}
	for _, state := range []State{StateOpen, StateClosing, StateAborting, StateAborted, StateCollecting, StateCollected} {
		r := *opening
		r.State, r.Base, r.FirstBase = state, frozen.Base, frozen.FirstBase
		if err := r.Validate(); err != nil {
			t.Errorf("%s, from open: %v", state, err)
		}
	}
	for _, state := range []State{StateFrozen, StateRejected, StateAborting, StateAborted, StateCollecting, StateCollected} {
		r := *frozen
		r.State = state
		if err := r.Validate(); err != nil {
			t.Errorf("%s, from frozen: %v", state, err)
		}
	}
	for _, state := range []State{StatePublished, StateRevoked} {
		r := *frozen
		r.State, r.Published = state, sampleBase(9)
		if err := r.Validate(); err != nil {
			t.Errorf("%s: %v", state, err)
		}
	}
	// A run given up while it was opening had no base, ever.
	redone := *opening
	redone.Generation, redone.Redo = 2, &Redo{Reason: "again", Time: sampleTime, From: StateAborted}
	if err := redone.Validate(); err != nil {
		t.Errorf("redo of a run without a base: %v", err)
	}
	kept := *opening
	kept.Generation, kept.FirstBase = 2, sampleBase(8)
	kept.Redo = &Redo{Reason: "again", Time: sampleTime, From: StateRejected, KeepPin: true, PinGeneration: 1, Base: sampleBase(8)}
	if err := kept.Validate(); err != nil {
		t.Errorf("redo with the pin kept: %v", err)
	}
}

func TestValidateOpeningRun(t *testing.T) {
	checkBroken(t, sampleOpening, []broken[Run]{
		{"state", func(r *Run) { r.State = "" }, "state"},
		{"nonce", func(r *Run) { r.Nonce = "" }, "nonce"},
		{"floor", func(r *Run) { r.Floor = -1 }, "floor"},
		{"base", func(r *Run) { r.Base = sampleBase(8) }, "base"},
		{"no base", func(r *Run) { r.State = StateOpen }, "base"},
		{"first base alone", func(r *Run) { r.FirstBase = sampleBase(8) }, "first_base"},
		{"no now", func(r *Run) { r.Now = time.Time{} }, "now"},
		{"no scope", func(r *Run) { r.Scope = nil }, "scope"},
		{"scope not canonical", func(r *Run) { r.Scope = []string{"orders/dt=2", "orders/dt=1"} }, "scope"},
		{"scope syntax", func(r *Run) { r.Scope = []string{"/orders"} }, "scope"},
		{"mode", func(r *Run) { r.Mode = "" }, "mode"},
		{"replace scope", func(r *Run) { r.Mode, r.ReplaceScope = ModeAppend, true }, "replace_scope"},
		{"no task", func(r *Run) { r.Tasks = nil }, "tasks"},
		{"task twice", func(r *Run) { r.Tasks = []string{"a", "a"} }, "tasks[1]"},
		{"task name", func(r *Run) { r.Tasks = []string{"a", ""} }, "tasks[1]"},
		{"input", func(r *Run) { r.Inputs = []InputSource{{Name: "a"}} }, "inputs[0].source"},
		{"input twice", func(r *Run) { r.Inputs = []InputSource{{Source: "a"}, {Source: "a"}} }, "inputs[1]"},
		{"reference to no input", func(r *Run) { r.References = []Reference{{Source: "a@1"}} }, "references[0].source"},
		{"redo in generation 1", func(r *Run) { r.Redo = &Redo{} }, "redo"},
		{"no redo", func(r *Run) { r.Generation = 2 }, "redo"},
		{"candidate", func(r *Run) { r.Candidate = &Candidate{} }, "candidate"},
		{"evidence", func(r *Run) { r.Evidence = []EvidenceRef{{}} }, "evidence[0].candidate"},
		{"passed", func(r *Run) { r.Passed = true }, "passed"},
		{"published", func(r *Run) { r.Published = sampleBase(9) }, "published"},
		{"not updated", func(r *Run) { r.Updated = time.Time{} }, "updated"},
	})
}

func TestValidateFrozenRun(t *testing.T) {
	checkBroken(t, sampleFrozen, []broken[Run]{
		{"no first base", func(r *Run) { r.FirstBase = nil }, "first_base"},
		{"another first base", func(r *Run) { r.FirstBase = sampleBase(7) }, "first_base"},
		{"base of another sequence", func(r *Run) { r.Base.Sequence, r.FirstBase = 9, r.Base }, "base.snapshot.key"},
		{"floor", func(r *Run) { r.Floor = 9 }, "floor"},
		{"no candidate", func(r *Run) { r.Candidate = nil }, "candidate"},
		{"digest", func(r *Run) { r.Candidate.Digest = digest("5") }, "candidate.digest"},
		{"a task less", func(r *Run) { r.Tasks = []string{"main", "b"} }, "candidate.seals"},
		{"seal of no task", func(r *Run) { r.Candidate.Seals[0].Task = "b" }, "candidate.seals[0].task"},
		{"seal digest", func(r *Run) { r.Candidate.Seals[0].SHA256 = "" }, "candidate.seals[0].sha256"},
		{"totals", func(r *Run) { r.Candidate.Totals.Files = -1 }, "candidate.totals"},
		{"evidence of another candidate", func(r *Run) { r.Evidence[0].Candidate = digest("5") }, "evidence[0].candidate"},
		{"outcome", func(r *Run) { r.Evidence[1].Outcome = "error" }, "evidence[1].outcome"},
		{"rules", func(r *Run) { r.Evidence[1].Rules = "" }, "evidence[1].rules"},
		{"rules twice", func(r *Run) { r.Evidence[1].Rules = r.Evidence[0].Rules }, "evidence[1]"},
		{"never passed", func(r *Run) { r.Passed = false }, "passed"},
		{"rejected by passing evidence", func(r *Run) { r.State, r.Evidence = StateRejected, r.Evidence[:1] }, "evidence"},
		{"rejected by nothing", func(r *Run) { r.State, r.Evidence = StateRejected, nil }, "evidence"},
		{"published nowhere", func(r *Run) { r.State = StatePublished }, "published"},
		{"published before the base", func(r *Run) { r.State, r.Published = StatePublished, sampleBase(8) }, "published"},
		{"inherited in generation 1", func(r *Run) { r.Inherited = r.Candidate.Seals }, "inherited"},
	})
}

func TestValidateRedoneRun(t *testing.T) {
	checkBroken(t, sampleRun, []broken[Run]{
		{"first base", func(r *Run) { r.FirstBase = sampleBase(42) }, "first_base"},
		{"reference below the floor", func(r *Run) { r.References[0].Base = *sampleBase(39) }, "references[0].sequence"},
		{"reference to two states", func(r *Run) {
			r.References = append(r.References, Reference{Source: r.References[0].Source, Base: *sampleBase(41)})
		}, "references[1].source"},
		{"no reason", func(r *Run) { r.Redo.Reason = "" }, "redo.reason"},
		{"task", func(r *Run) { r.Redo.Tasks[0] = "c" }, "redo.tasks[0]"},
		{"from", func(r *Run) { r.Redo.From = StateOpen }, "redo.from"},
		{"seal of a task again", func(r *Run) { r.Redo.Tasks[0] = "a" }, "redo.seals"},
		{"seals of all tasks again", func(r *Run) { r.Redo.Tasks = nil }, "redo.seals"},
		{"kept pin without a base", func(r *Run) { r.Redo.KeepPin, r.Redo.PinGeneration = true, 1 }, "redo.base"},
		{"base without a kept pin", func(r *Run) { r.Redo.Base = sampleBase(41) }, "redo.base"},
		{"another kept base", func(r *Run) {
			r.Redo.KeepPin, r.Redo.PinGeneration, r.Redo.Base = true, 1, sampleBase(40)
		}, "redo.base"},
		{"kept pin of this generation", func(r *Run) {
			r.Redo.KeepPin, r.Redo.PinGeneration, r.Redo.Base = true, 2, sampleBase(41)
		}, "redo.pin_generation"},
		{"kept pin after an abort", func(r *Run) { r.Redo.From, r.Redo.KeepPin = StateAborted, true }, "redo.keep_pin"},
		{"pin of a later generation", func(r *Run) { r.Redo.PinGeneration = 3 }, "redo.pin_generation"},
		{"inherited from nowhere", func(r *Run) { r.Inherited[0].SHA256 = digest("9") }, "inherited[0]"},
		{"inherited and lost", func(r *Run) {
			r.Candidate.Seals[0].SHA256 = digest("9")
			r.Candidate.Digest = CandidateDigest(r.Candidate.Seals)
		}, "candidate.seals"},
		{"seals not in order", func(r *Run) {
			s := r.Candidate.Seals
			s[0], s[1] = s[1], s[0]
		}, "candidate.seals[1]"},
	})
}

func TestCandidateDigest(t *testing.T) {
	a := SealRef{Task: "ä\"", Ref: Ref{Key: "k1", SHA256: digest("1")}}
	b := SealRef{Task: "b", Ref: Ref{Key: "k2", SHA256: digest("2")}}
	type identity struct {
		SHA256 string `json:"sha256"`
		Task   string `json:"task"`
	}
	data, err := Encode([]identity{{digest("2"), "b"}, {digest("1"), "ä\""}})
	if err != nil {
		t.Fatal(err)
	}
	want := SHA256Hex(data)
	if got := CandidateDigest([]SealRef{a, b}); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	a.Key = "elsewhere"
	if got := CandidateDigest([]SealRef{b, a}); got != want {
		t.Errorf("digest %s, want %s in any order and place", got, want)
	}
	b.SHA256 = digest("3")
	if got := CandidateDigest([]SealRef{b, a}); got == want {
		t.Error("another seal has the same digest")
	}
	if got := CandidateDigest(nil); got != SHA256Hex([]byte("[]\n")) {
		t.Errorf("digest of nothing is %s", got)
	}
}
