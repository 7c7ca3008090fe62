package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestPointerSign(t *testing.T) {
	p := samplePointer(t)
	signed, err := Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	unsigned := bytes.Replace(signed, []byte(p.SelfSHA256), nil, 1)
	if SHA256Hex(unsigned) != p.SelfSHA256 {
		t.Errorf("self_sha256 is not of %s", unsigned)
	}
	if err := p.Sign(); err != nil {
		t.Fatal(err)
	}
	if again, err := Encode(p); err != nil || !bytes.Equal(again, signed) {
		t.Errorf("signed again: %s, %v", again, err)
	}
	p.Nonce = "01OTHER"
	var e *ChecksumError
	if err := p.Validate(); !errors.As(err, &e) || e.Key != PointerKey {
		t.Errorf("changed after it was signed: %v", err)
	}
	p.Nonce = "\xff"
	if err := p.Sign(); err == nil {
		t.Error("signed a pointer that cannot be stored")
	}
}

func TestValidatePointer(t *testing.T) {
	resigned := func(edit func(*Pointer)) func(*Pointer) {
		return func(p *Pointer) {
			edit(p)
			if err := p.Sign(); err != nil {
				t.Fatal(err)
			}
		}
	}
	checkBroken(t, samplePointer, []broken[Pointer]{
		{"warehouse", resigned(func(p *Pointer) { p.Warehouse = "" }), "warehouse"},
		{"sequence", resigned(func(p *Pointer) { p.Sequence = 43 }), "snapshot.key"},
		{"nonce", resigned(func(p *Pointer) { p.Nonce = "" }), "nonce"},
		{"no lineage", resigned(func(p *Pointer) { p.Recent = nil }), "recent"},
		{"lineage of another", resigned(func(p *Pointer) { p.Recent = p.Recent[1:] }), "recent"},
		{"gap", resigned(func(p *Pointer) { p.Recent[1].Sequence, p.Recent[1].Snapshot = 40, snapshotRef(40) }), "recent[1].sequence"},
		{"generation", resigned(func(p *Pointer) { p.Recent[0].Runs[0].Generation = 0 }), "recent[0].runs[0].generation"},
		{"effect", resigned(func(p *Pointer) { p.Recent[0].Runs[0].Effect = "" }), "recent[0].runs[0].effect"},
		{"run twice", resigned(func(p *Pointer) {
			p.Recent[0].Runs = append(p.Recent[0].Runs, p.Recent[0].Runs[0])
		}), "recent[0].runs[1]"},
		{"too large", resigned(func(p *Pointer) { p.Recent[1].Runs = manyRuns(300) }), "recent"},
	})
}

func manyRuns(n int) []RecentRun {
	var runs []RecentRun
	for i := range n {
		runs = append(runs, RecentRun{Run: fmt.Sprintf("a run with a name, number %d", i), Generation: 1, Effect: EffectRevoked})
	}
	return runs
}

func TestPushRecent(t *testing.T) {
	entry := func(seq int64, runs int) Recent {
		return Recent{Sequence: seq, Snapshot: snapshotRef(seq), Runs: manyRuns(runs)}
	}
	var recent []Recent
	for seq := range int64(300) {
		recent = PushRecent(recent, entry(seq, int(seq)%3))
		if recent[0].Sequence != seq {
			t.Fatalf("after %d: the newest is %d", seq, recent[0].Sequence)
		}
		for i, r := range recent {
			if !reflect.DeepEqual(r, entry(seq-int64(i), int(seq-int64(i))%3)) {
				t.Fatalf("after %d: entry %d is %+v", seq, i, r)
			}
		}
		size := encodedSize(t, recent)
		if size > RecentBudget {
			t.Fatalf("after %d: %d bytes", seq, size)
		}
		if next := seq - int64(len(recent)); next >= 0 {
			if more := encodedSize(t, append(recent[:len(recent):len(recent)], entry(next, int(next)%3))); more <= RecentBudget {
				t.Fatalf("after %d: entry %d would fit in %d bytes", seq, next, more)
			}
		}
	}
	// One that is too large for itself stays whole, and goes with the next.
	recent = PushRecent(recent, entry(300, 5000))
	if len(recent) != 1 || len(recent[0].Runs) != 5000 {
		t.Errorf("%d entries after a large one", len(recent))
	}
	p := Pointer{Format: 1, Warehouse: warehouseID, Sequence: 300, Snapshot: snapshotRef(300), Nonce: nonceID, Recent: recent}
	if err := p.Sign(); err != nil {
		t.Fatal(err)
	}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	if recent = PushRecent(recent, entry(301, 1)); len(recent) != 1 || recent[0].Sequence != 301 {
		t.Errorf("%d entries after the one after a large one", len(recent))
	}
	unreadable := Recent{Sequence: 1, Runs: []RecentRun{{Run: "\xff"}}}
	if got := PushRecent([]Recent{unreadable}, entry(2, 0)); len(got) != 1 {
		t.Errorf("%d entries beside one that cannot be stored", len(got))
	}
}

// encodedSize is the size of the list in canonical JSON, without the newline.
func encodedSize(t *testing.T, recent []Recent) int {
	t.Helper()
	data, err := Encode(recent)
	if err != nil {
		t.Fatal(err)
	}
	return len(strings.TrimSuffix(string(data), "\n"))
}
