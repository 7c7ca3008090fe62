package wap

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

// TestUnknownDeletesNothing cuts a publisher off from the pointer while its swap
// is on the way. It cannot know and must say so, and whether the swap lands then
// or never does, everything that it would make visible is there.
func TestUnknownDeletesNothing(t *testing.T) {
	for name, kind := range map[string]faultstore.Kind{
		"landed": faultstore.FailAfter, "on its way": faultstore.ActLater, "lost": faultstore.FailBefore,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			const p = "orders/dt=1"
			l.begin(BeginRequest{Run: "r", Scope: []string{p}})
			_, err := l.stage("r", "", p, orders(1, 5))
			wantCode(t, err, 0)
			_, err = l.open().Audit(context.Background(), AuditRequest{Run: "r", Rules: l.rules(keyed)})
			wantCode(t, err, 0)
			synctest.Test(t, func(t *testing.T) { cutOff(t, l, kind) })
			retry, err := l.open().Publish(context.Background(), PublishRequest{Run: "r"})
			wantCode(t, err, 0)
			w := examine(t, l.store)
			if len(w.published["r"]) != 1 || retry.Sequence != 1 {
				t.Fatalf("published as %v, the retry says sequence %d", w.published["r"], retry.Sequence)
			}
		})
	}
}

// cutOff publishes run r with the one swap going wrong, and the pointer out of
// reach from then on.
func cutOff(t *testing.T, l *lab, kind faultstore.Kind) {
	ctx := context.Background()
	sent := false
	fs := faultstore.New(l.store, faultstore.Config{Choose: func(_ context.Context, op faultstore.Op) faultstore.Kind {
		switch {
		case op.Key != manifest.PointerKey:
			return faultstore.NoFault
		case sent:
			return faultstore.FailBefore
		case op.Verb == faultstore.Swap:
			sent = true
			return kind
		}
		return faultstore.NoFault
	}})
	_, err := l.client(fs).Publish(ctx, PublishRequest{Run: "r"})
	wantCode(t, err, 5)
	for _, landed := range fs.Release(ctx) {
		if landed.Err != nil {
			t.Fatal(landed.Err)
		}
	}
	examine(t, l.store)
}

// TestEvidenceIsBound: evidence lets nothing pass but the candidate that it
// judged, and, where rules are named, by no others.
func TestEvidenceIsBound(t *testing.T) {
	pass, fail := manifest.OutcomePass, manifest.OutcomeFail
	ref := func(key, candidate, rules string, o manifest.Outcome) manifest.EvidenceRef {
		return manifest.EvidenceRef{Ref: manifest.Ref{Key: key}, Candidate: candidate, Rules: rules, Outcome: o}
	}
	for name, c := range map[string]struct {
		evidence []manifest.EvidenceRef
		rules    string
		want     string
	}{
		"none":                     {nil, "", ""},
		"passed":                   {[]manifest.EvidenceRef{ref("a", "mine", "lax", pass)}, "", "a"},
		"of another candidate":     {[]manifest.EvidenceRef{ref("a", "other", "lax", pass)}, "", ""},
		"of another, by the rules": {[]manifest.EvidenceRef{ref("a", "other", "lax", pass)}, "lax", ""},
		"by other rules":           {[]manifest.EvidenceRef{ref("a", "mine", "lax", pass)}, "strict", ""},
		"the newest word failed":   {[]manifest.EvidenceRef{ref("a", "mine", "lax", pass), ref("b", "mine", "strict", fail)}, "", ""},
		"failed by others since":   {[]manifest.EvidenceRef{ref("a", "mine", "lax", pass), ref("b", "mine", "strict", fail)}, "lax", "a"},
		"passed by others since":   {[]manifest.EvidenceRef{ref("b", "mine", "strict", fail), ref("a", "mine", "lax", pass)}, "", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			got := passing(&manifest.Run{Candidate: &manifest.Candidate{Digest: "mine"}, Evidence: c.evidence}, c.rules)
			if (got == nil) != (c.want == "") || got != nil && got.Key != c.want {
				t.Fatalf("%+v lets it pass, want %q", got, c.want)
			}
		})
	}
}
