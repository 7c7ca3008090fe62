package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

// TestCommitSent: a commit counts from before it is sent until the store
// provably refused it.
func TestCommitSent(t *testing.T) {
	ctx := context.Background()
	for _, test := range []struct {
		name  string
		key   string
		stale bool
		fault []faultstore.Fault
		want  bool
	}{
		{"acknowledged", manifest.PointerKey, false, nil, true},
		{"refused", manifest.PointerKey, true, nil, false},
		{"unknown", manifest.PointerKey, false, []faultstore.Fault{{Kind: faultstore.FailBefore, Verb: faultstore.Swap}}, true},
		{"another object", "_wap/runs/r/run.json", false, nil, false},
	} {
		mem := store.NewMem()
		version, err := mem.Create(ctx, test.key, []byte("a"))
		if err != nil {
			t.Fatal(err)
		}
		if test.stale {
			if _, err := mem.Swap(ctx, test.key, version, []byte("b")); err != nil {
				t.Fatal(err)
			}
		}
		m := newMeter()
		faulty := faultstore.New(mem, faultstore.Config{Faults: test.fault})
		_, err = m.watch(faulty).Swap(ctx, test.key, version, []byte("c"))
		if wantErr := test.stale || test.fault != nil; (err != nil) != wantErr {
			t.Errorf("%s: %v", test.name, err)
		}
		if got := m.commitSent(); got != test.want {
			t.Errorf("%s: commit sent is %v", test.name, got)
		}
	}
}

func TestMeterCounts(t *testing.T) {
	ctx := context.Background()
	m := newMeter()
	s := m.watch(store.NewMem())
	entry, err := s.Upload(ctx, "data", strings.NewReader("0123456789"), 10)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.GetRange(ctx, "data", 2, 5, entry.Version)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "23456" {
		t.Fatalf("%q, %v", got, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	version, err := s.Create(ctx, "k", []byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	_, errSwap := s.Swap(ctx, "k", version, []byte("b"))
	_, _, errGet := s.Get(ctx, "k")
	_, errHead := s.Head(ctx, "k")
	for _, errList := range s.List(ctx, "") {
		errHead = errors.Join(errHead, errList)
	}
	if err := errors.Join(errSwap, errGet, errHead, s.Delete(ctx, "k")); err != nil {
		t.Fatal(err)
	}
	for _, n := range m.requests() {
		if n.Requests != 1 {
			t.Errorf("%s: %d requests", n.Operation, n.Requests)
		}
	}
	if got := m.moved(); got != "read 5 B, wrote 10 B" {
		t.Errorf("moved: %s", got)
	}
	m.uploaded(1<<20, 3<<20)
	if got := m.moved(); got != "uploaded 1.0 MiB of 3.0 MiB" {
		t.Errorf("moved: %s", got)
	}
	if got := upload(1<<20, 3<<20, 2*time.Second); got != "uploaded 1.0 MiB of 3.0 MiB, 512.0 KiB/s, 4s left" {
		t.Errorf("upload: %s", got)
	}
	m.uploaded(3<<20, 3<<20)
	m.judged(1<<20, 3<<20)
	if got := m.moved(); got != "audited 1.0 MiB of 3.0 MiB" {
		t.Errorf("moved: %s", got)
	}
}

// TestProgressLine: on a terminal the line is drawn again and removed before
// anything else is printed; elsewhere there are whole lines.
func TestProgressLine(t *testing.T) {
	var stderr bytes.Buffer
	p := newPage(io.Discard, &stderr)
	p.draw("a", true)
	p.draw("a", true)
	p.draw("b", true)
	p.warning("w", "")
	p.draw("c", true)
	p.draw("", true)
	p.draw("d", false)
	want := []string{"wap: a", "\r\x1b[K", "wap: b", "\r\x1b[K", "wap: warning: w\n", "wap: c", "\r\x1b[K", "wap: d\n"}
	if got := stderr.String(); got != strings.Join(want, "") {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 5 << 40: "5.0 TiB"} {
		if got := size(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func TestWrapped(t *testing.T) {
	got := wrapped("a bb ccc", "  ")
	if got != "  a bb ccc" {
		t.Errorf("got %q", got)
	}
	long := strings.Repeat("word ", 40)
	for line := range strings.SplitSeq(wrapped(long, "    "), "\n") {
		if len(line) > helpWidth || !strings.HasPrefix(line, "    word") {
			t.Errorf("line %q", line)
		}
	}
	if n := len(slices.Collect(strings.FieldsSeq(wrapped(long, "    ")))); n != 40 {
		t.Errorf("%d words are left of 40", n)
	}
}
