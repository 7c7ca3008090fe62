package wap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

// edit is what somebody did to run r's record by hand.
type edit struct {
	state string // of the record before: see inState
	by    func(t *testing.T, body string) string
	code  int
	at    string   // what the message says of the place
	calls []string // nil: all
}

// instead replaces text that must be there.
func instead(pairs ...string) func(*testing.T, string) string {
	return func(t *testing.T, body string) string {
		t.Helper()
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(body, pairs[i]) {
				t.Fatalf("there is no %s in %s", pairs[i], body)
			}
			body = strings.ReplaceAll(body, pairs[i], pairs[i+1])
		}
		return body
	}
}

func edits() map[string]edit {
	indented := func(t *testing.T, body string) string {
		var out bytes.Buffer
		wantCode(t, json.Indent(&out, []byte(body), "", "  "), 0)
		return out.String()
	}
	// The published state is one that the record knows: its base.
	byHand := func(t *testing.T, body string) string {
		r := decodedRun(t, body)
		at := `{"sequence":1,"snapshot":{"key":"` + manifest.SnapshotKey(1, r.Nonce) + `","sha256":"` + r.Candidate.Digest + `"}}`
		return instead(`"published":null`, `"published":`+at, `"state":"frozen"`, `"state":"published"`)(t, body)
	}
	passed := instead(`"outcome":"fail"`, `"outcome":"pass"`, `"passed":false`, `"passed":true`, `"state":"rejected"`, `"state":"frozen"`)
	publish, asItIs := []string{"publish"}, []string{"publish as it is"}
	return map[string]edit{
		"cut off":                  {"frozen", func(_ *testing.T, b string) string { return b[:len(b)/2] }, 9, "at byte", nil},
		"emptied":                  {"frozen", func(*testing.T, string) string { return "" }, 9, "at byte 0", nil},
		"not JSON":                 {"frozen", func(*testing.T, string) string { return "state: open\n" }, 9, "at byte 0", nil},
		"laid out by an editor":    {"frozen", indented, 9, "at byte", nil},
		"an unknown field":         {"frozen", instead(`"now":`, `"note":"mine","now":`), 9, "note", nil},
		"a field twice":            {"frozen", instead(`"mode":"overwrite"`, `"mode":"overwrite","mode":"overwrite"`), 9, "mode", nil},
		"a field less":             {"frozen", instead(`"mode":"overwrite",`, ``), 9, "mode", nil},
		"an unknown state":         {"frozen", instead(`"state":"frozen"`, `"state":"done"`), 9, "state", nil},
		"open with a candidate":    {"frozen", instead(`"state":"frozen"`, `"state":"open"`), 9, "candidate", nil},
		"frozen without one":       {"open", instead(`"state":"open"`, `"state":"frozen"`), 9, "candidate", nil},
		"rejected for no reason":   {"frozen", instead(`"state":"frozen"`, `"state":"rejected"`), 9, "evidence", nil},
		"revoked, never published": {"frozen", instead(`"state":"frozen"`, `"state":"revoked"`), 9, "published", nil},
		"published, not saying where": {"frozen", instead(`"state":"frozen"`, `"state":"published"`),
			9, "published", nil},
		"published by hand":       {"frozen", byHand, 9, "sequence", nil},
		"another run's":           {"frozen", instead(`"run":"r"`, `"run":"s"`), 9, `"s"`, nil},
		"another generation":      {"frozen", instead(`"generation":1`, `"generation":2`), 9, "redo", nil},
		"no scope":                {"frozen", instead(`"scope":["orders/dt=1"]`, `"scope":[]`), 9, "scope", nil},
		"another digest":          {"frozen", instead(`"candidate":{"digest":"`, `"candidate":{"digest":"0`), 9, "candidate", nil},
		"no generation 1's base":  {"frozen", instead(`"first_base":{"sequence":0`, `"first_base":{"sequence":1`), 9, "first_base", nil},
		"of a newer version":      {"frozen", instead(`"format":1`, `"format":2`), 2, "newer", nil},
		"passed by hand":          {"rejected", passed, 9, "did not pass", asItIs},
		"another scope":           {"frozen", instead(`"scope":["orders/dt=1"]`, `"scope":["sums/dt=1"]`), 9, "scope", []string{"audit", "publish"}},
		"another mode":            {"frozen", instead(`"mode":"overwrite"`, `"mode":"append"`), 9, "mode", publish},
		"no evidence's own rules": {"frozen", swappedRules, 9, "rules", asItIs},
	}
}

// swappedRules claims that the evidence was by other rules.
func swappedRules(t *testing.T, body string) string {
	r := decodedRun(t, body)
	return instead(`"rules":"`+r.Evidence[0].Rules, `"rules":"`+strings.Repeat("0", 64))(t, body)
}

func decodedRun(t *testing.T, body string) *manifest.Run {
	t.Helper()
	r := new(manifest.Run)
	wantCode(t, manifest.Decode([]byte(body), r), 0)
	return r
}

// editRecord lets somebody edit run r's record.
func editRecord(t *testing.T, l *lab, by func(*testing.T, string) string) {
	t.Helper()
	ctx := context.Background()
	body, _, err := l.store.Get(ctx, manifest.RunKey("r"))
	wantCode(t, err, 0)
	wantCode(t, l.store.Delete(ctx, manifest.RunKey("r")), 0)
	_, err = l.store.Create(ctx, manifest.RunKey("r"), []byte(by(t, string(body))))
	wantCode(t, err, 0)
}

// TestHandEditedRecord: a record that somebody edited is refused by name, with
// the place and with what to do, and nothing is written.
func TestHandEditedRecord(t *testing.T) {
	for name, e := range edits() {
		calls := e.calls
		if calls == nil {
			calls = []string{"begin", "stage", "audit", "publish", "abort", "redo", "resolve", "show"}
		}
		for _, call := range calls {
			t.Run(name+"/"+call, func(t *testing.T) {
				l := inState(t, e.state)
				editRecord(t, l, e.by)
				before := contents(t, l.store)
				var err error
				if call == "publish as it is" {
					_, err = l.open().Publish(context.Background(), PublishRequest{Run: "r"})
				} else {
					err = l.call(call)
				}
				wantCode(t, err, e.code)
				var own *Error
				if !errors.As(err, &own) || own.Hint == "" {
					t.Errorf("it says nothing of what to do: %v", err)
				}
				if text := err.Error(); !strings.Contains(text, manifest.RunKey("r")) || !strings.Contains(text, e.at) {
					t.Errorf("it names no record, or not its place %q: %s", e.at, text)
				}
				if after := contents(t, l.store); after != before {
					t.Errorf("there was\n%s\nthere is\n%s", before, after)
				}
			})
		}
	}
}

// TestNotesInARecord: fields that start with x_ are anybody's, and stay.
func TestNotesInARecord(t *testing.T) {
	l := inState(t, "frozen")
	editRecord(t, l, func(_ *testing.T, body string) string {
		return strings.TrimSuffix(body, "}\n") + `,"x_note":"mine"}` + "\n"
	})
	wantCode(t, l.call("publish"), 0)
	body, _, err := l.store.Get(context.Background(), manifest.RunKey("r"))
	wantCode(t, err, 0)
	if !strings.HasSuffix(string(body), `,"x_note":"mine"}`+"\n") || !strings.Contains(string(body), `"state":"published"`) {
		t.Errorf("the record is %s", body)
	}
}

// TestPublishedByAnothersSnapshot: a record that says where it was published is
// believed only if the run is in the history there.
func TestPublishedByAnothersSnapshot(t *testing.T) {
	for _, call := range []string{"begin", "audit", "publish", "abort", "redo", "resolve", "show"} {
		l := inState(t, "frozen")
		l.must(step{run: "other", partition: "orders/dt=2", rows: orders(1, 5)})
		var ptr manifest.Pointer
		read(t, l.store, manifest.PointerKey, &ptr)
		editRecord(t, l, func(t *testing.T, body string) string {
			r := decodedRun(t, body)
			r.State, r.Published = manifest.StatePublished, &manifest.Base{Sequence: ptr.Sequence, Snapshot: ptr.Snapshot}
			out, err := manifest.Encode(r)
			wantCode(t, err, 0)
			return string(out)
		})
		if err := l.call(call); Code(err) != 9 {
			t.Errorf("%s: exit code %d (%v), want 9", call, Code(err), err)
		}
	}
}
