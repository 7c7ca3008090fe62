package faultstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/faultstore"
	"github.com/wap-cli/wap/wap/store/storetest"
)

// Without faults the wrapper is a store like any other.
func TestConformance(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Handle {
		m := store.NewMem()
		rec := new(faultstore.Recorder)
		return func() store.Store { return faultstore.New(m, faultstore.Config{Recorder: rec}) }
	})
}

// script does one operation of each verb and tells what the caller saw.
func script(ctx context.Context, s store.Store) string {
	var b strings.Builder
	say := func(verb faultstore.Verb, got string, err error) {
		fmt.Fprintf(&b, "%s: %s%s\n", verb, got, outcome(err))
	}
	v1, err := s.Create(ctx, "k", []byte("one"))
	say(faultstore.Create, etag(v1), err)
	if got, v, err := s.Get(ctx, "k"); err == nil { // whatever Create said
		say(faultstore.Get, string(got), nil)
		v1 = v
	} else {
		say(faultstore.Get, "", err)
	}
	v2, err := s.Swap(ctx, "k", v1, []byte("two"))
	say(faultstore.Swap, etag(v2), err)
	got, _, err := s.Get(ctx, "k")
	say(faultstore.Get, string(got), err)
	e, err := s.Upload(ctx, "u", strings.NewReader("0123456789"), 10)
	say(faultstore.Upload, etag(e.Version), err)
	e, err = s.Head(ctx, "u")
	say(faultstore.Head, fmt.Sprint(e.Size), err)
	var body []byte
	r, err := s.GetRange(ctx, "u", 2, 6, e.Version)
	if err == nil {
		body, err = io.ReadAll(r)
		r.Close()
	}
	say(faultstore.GetRange, string(body), err)
	n := 0
	var listErr error
	for _, err := range s.List(ctx, "") {
		if listErr = err; err == nil {
			n++
		}
	}
	say(faultstore.List, fmt.Sprint(n), listErr)
	say(faultstore.Delete, "", s.Delete(ctx, "k"))
	return b.String()
}

func etag(v store.Version) string {
	if v.ETag == "" {
		return ""
	}
	return "version"
}

func outcome(err error) string {
	switch {
	case err == nil:
		return " ok"
	case errors.Is(err, store.ErrExists):
		return " exists"
	case errors.Is(err, store.ErrNotFound):
		return " not found"
	case errors.Is(err, store.ErrVersionMismatch):
		return " mismatch"
	case errors.Is(err, store.ErrNotSent):
		return " not sent"
	case errors.Is(err, faultstore.ErrInjected):
		return " injected"
	}
	return " " + err.Error()
}

const noFault = `create: version ok
get: one ok
swap: version ok
get: two ok
upload: version ok
head: 10 ok
getrange: 234567 ok
list: 2 ok
delete:  ok
`

func state(t *testing.T, s store.Store) string {
	t.Helper()
	var lines []string
	for e, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		body, _, err := s.Get(t.Context(), e.Key)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, e.Key+"="+string(body))
	}
	slices.Sort(lines)
	return strings.Join(lines, " ")
}

func TestFaults(t *testing.T) {
	const u = "u=0123456789"
	for _, c := range []struct {
		fault faultstore.Fault
		saw   string // lines that replace those of noFault, by number
		left  string // in the store at the end
		freed string // and after Release
	}{
		{faultstore.Fault{Kind: faultstore.FailBefore, Verb: faultstore.Create},
			"0 create:  injected|1 get:  not found|2 swap:  not sent|3 get:  not found|7 list: 1 ok", u, ""},
		{faultstore.Fault{Kind: faultstore.FailBefore, Err: store.ErrNotSent, Verb: faultstore.Swap},
			"2 swap:  not sent|3 get: one ok", u, ""},
		{faultstore.Fault{Kind: faultstore.FailAfter, Verb: faultstore.Create},
			"0 create:  injected", u, ""},
		{faultstore.Fault{Kind: faultstore.FailAfter, Verb: faultstore.Swap, Key: "k"},
			"2 swap:  injected", u, ""},
		{faultstore.Fault{Kind: faultstore.FailAfter, Verb: faultstore.Get, N: 2},
			"3 get:  injected", u, ""},
		{faultstore.Fault{Kind: faultstore.FailAfter, Verb: faultstore.Upload},
			"4 upload:  injected", u, ""},
		{faultstore.Fault{Kind: faultstore.FailAfter, Verb: faultstore.GetRange},
			"6 getrange: 234 injected", u, ""},
		{faultstore.Fault{Kind: faultstore.FailAfter, Verb: faultstore.List},
			"7 list: 2 injected", u, ""},
		{faultstore.Fault{Kind: faultstore.FailAfter, Verb: faultstore.Delete},
			"8 delete:  injected", u, ""},
		{faultstore.Fault{Kind: faultstore.FailBefore, N: 9},
			"8 delete:  injected", "k=two " + u, ""},
		{faultstore.Fault{Kind: faultstore.ActLater, Verb: faultstore.Create},
			"0 create:  injected|1 get:  not found|2 swap:  not sent|3 get:  not found|7 list: 1 ok", u, "k=one " + u},
		{faultstore.Fault{Kind: faultstore.ActLater, Verb: faultstore.Swap},
			"2 swap:  injected|3 get: one ok", u, u}, // deleted meanwhile: it cannot land
		{faultstore.Fault{Kind: faultstore.ActLater, Verb: faultstore.Upload},
			"4 upload:  injected|5 head: 0 not found|6 getrange:  version has no etag|7 list: 1 ok", "", u},
		{faultstore.Fault{Kind: faultstore.ActLater, Verb: faultstore.Delete},
			"8 delete:  injected", "k=two " + u, u},
		{faultstore.Fault{Kind: faultstore.ActTwice, Verb: faultstore.Create},
			"0 create:  exists", u, ""},
		{faultstore.Fault{Kind: faultstore.ActTwice, Verb: faultstore.Swap},
			"2 swap:  mismatch", u, ""},
		{faultstore.Fault{Kind: faultstore.ActTwice, Verb: faultstore.Delete},
			"", u, ""},
		{faultstore.Fault{Kind: faultstore.StaleGet},
			"1 get:  not found", u, ""},
		{faultstore.Fault{Kind: faultstore.StaleGet, N: 2},
			"3 get: one ok", u, ""},
		{faultstore.Fault{Kind: faultstore.ActRefused, Verb: faultstore.Create},
			"0 create:  exists", u, ""},
		{faultstore.Fault{Kind: faultstore.ActRefused, Verb: faultstore.Swap},
			"2 swap:  mismatch", u, ""},
		{faultstore.Fault{Kind: faultstore.NoVersion, Verb: faultstore.Create},
			"0 create:  ok", u, ""},
		{faultstore.Fault{Kind: faultstore.NoVersion, Verb: faultstore.Swap},
			"2 swap:  ok", u, ""},
		{faultstore.Fault{Kind: faultstore.NoVersion, Verb: faultstore.Upload},
			"4 upload:  ok", u, ""},
		{faultstore.Fault{Kind: faultstore.HollowSuccess, Verb: faultstore.Create},
			"0 create:  ok|1 get:  not found|2 swap:  not sent|3 get:  not found|7 list: 1 ok", u, ""},
		{faultstore.Fault{Kind: faultstore.HollowSuccess, Verb: faultstore.Swap},
			"2 swap:  ok|3 get: one ok", u, ""},
		{faultstore.Fault{Kind: faultstore.HollowSuccess, Verb: faultstore.Upload},
			"4 upload:  ok|5 head: 0 not found|6 getrange:  version has no etag|7 list: 1 ok", "", ""},
		{faultstore.Fault{Kind: faultstore.PartialList},
			"7 list: 1 injected", u, ""},
		{faultstore.Fault{Kind: faultstore.ShortList},
			"7 list: 1 ok", u, ""},
	} {
		t.Run(c.fault.String(), func(t *testing.T) {
			m := store.NewMem()
			s := faultstore.New(m, faultstore.Config{Faults: []faultstore.Fault{c.fault}})
			if left := s.Unfired(); len(left) != 1 {
				t.Fatalf("unfired at first: %v", left)
			}
			got := normal(script(t.Context(), s))
			if want := replaced(noFault, c.saw); got != want {
				t.Errorf("the caller saw\n%swant\n%s", got, want)
			}
			if got := state(t, m); got != c.left {
				t.Errorf("in the store: %q, want %q", got, c.left)
			}
			if left := s.Unfired(); len(left) != 0 {
				t.Errorf("unfired: %v", left)
			}
			held := len(s.Held())
			if (held == 1) != (c.fault.Kind == faultstore.ActLater) {
				t.Errorf("%d writes held", held)
			}
			if landed := s.Release(t.Context()); len(landed) != held {
				t.Errorf("%d of %d writes landed", len(landed), held)
			}
			if got := state(t, m); held > 0 && got != c.freed {
				t.Errorf("in the store after release: %q, want %q", got, c.freed)
			}
		})
	}
}

// normal cuts what the store below says about itself.
func normal(s string) string {
	if i := strings.Index(s, ` read object "u": `); i >= 0 {
		s = s[:i+1] + s[i+len(` read object "u": `):]
	}
	return s
}

func replaced(script, changes string) string {
	lines := strings.SplitAfter(script, "\n")
	for change := range strings.SplitSeq(changes, "|") {
		var n int
		if _, err := fmt.Sscanf(change, "%d", &n); err == nil {
			_, text, _ := strings.Cut(change, " ")
			lines[n] = text + "\n"
		}
	}
	return strings.Join(lines, "")
}

func TestUnfired(t *testing.T) {
	s := faultstore.New(store.NewMem(), faultstore.Config{Faults: []faultstore.Fault{
		{Kind: faultstore.FailBefore, N: 10},                            // the script has 9 operations
		{Kind: faultstore.FailBefore, Key: "elsewhere"},                 // no such key
		{Kind: faultstore.PartialList, Verb: faultstore.Get},            // cannot happen to that verb
		{Kind: faultstore.StaleGet, Key: "u"},                           // no Get of it
		{Kind: faultstore.FailBefore, Verb: faultstore.GetRange, N: 1},  // happens
		{Kind: faultstore.FailAfter, Verb: faultstore.GetRange, N: 1},   // comes second to it
		{Kind: faultstore.ActRefused, Verb: faultstore.Create, Key: ""}, // happens
	}})
	script(t.Context(), s)
	var got []string
	for _, f := range s.Unfired() {
		got = append(got, f.String())
	}
	want := []string{
		`fail before at operation 10 on keys with ""`,
		`fail before at operation 1 on keys with "elsewhere"`,
		`partial list at get 1 on keys with ""`,
		`stale get at operation 1 on keys with "u"`,
		`fail after at getrange 1 on keys with ""`,
	}
	if !slices.Equal(got, want) {
		t.Fatalf("unfired\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The hook sees both sides of each operation and can stop it on either.
func TestHook(t *testing.T) {
	stop := errors.New("stopped")
	for _, c := range []struct {
		phase faultstore.Phase
		left  string
	}{{faultstore.Before, ""}, {faultstore.After, "k=one"}} {
		m := store.NewMem()
		var seen []string
		s := faultstore.New(m, faultstore.Config{OnOp: func(_ context.Context, op faultstore.Op) error {
			seen = append(seen, fmt.Sprintf("%d %s %s %d", op.Seq, op.Verb, op.Key, op.Phase))
			if op.Phase == c.phase {
				return stop
			}
			return nil
		}})
		if v, err := s.Create(t.Context(), "k", []byte("one")); err != stop || v != (store.Version{}) {
			t.Fatalf("create: %v, %v", v, err)
		}
		if got := state(t, m); got != c.left {
			t.Fatalf("in the store: %q, want %q", got, c.left)
		}
		if want := []string{"1 create k 0", "1 create k 1"}; !slices.Equal(seen, want) {
			t.Fatalf("hooks %q, want %q", seen, want)
		}
	}
}

// A test can choose an interleaving: two clients read the same version, and the
// one that read first swaps last.
func TestInterleaving(t *testing.T) {
	m := store.NewMem()
	if _, err := m.Create(t.Context(), "p", []byte("0")); err != nil {
		t.Fatal(err)
	}
	aRead, bDone := make(chan struct{}), make(chan struct{})
	a := faultstore.New(m, faultstore.Config{OnOp: func(_ context.Context, op faultstore.Op) error {
		if op.Verb == faultstore.Swap && op.Phase == faultstore.Before {
			close(aRead)
			<-bDone
		}
		return nil
	}})
	client := func(s store.Store, body string) error {
		_, v, err := s.Get(t.Context(), "p")
		if err == nil {
			_, err = s.Swap(t.Context(), "p", v, []byte(body))
		}
		return err
	}
	lost := make(chan error, 1)
	go func() { lost <- client(a, "a") }()
	<-aRead
	if err := client(m, "b"); err != nil {
		t.Fatal(err)
	}
	close(bDone)
	if err := <-lost; !errors.Is(err, store.ErrVersionMismatch) {
		t.Fatalf("a: %v", err)
	}
	if got := state(t, m); got != "p=b" {
		t.Fatal(got)
	}
}

// An operation that is cancelled while it is delayed has not been sent.
func TestDelayCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := store.NewMem()
		s := faultstore.New(m, faultstore.Config{Delays: map[faultstore.Verb]time.Duration{faultstore.Create: time.Hour}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := s.Create(ctx, "k", nil)
		if !errors.Is(err, store.ErrNotSent) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if got := state(t, m); got != "" {
			t.Errorf("in the store: %q", got)
		}
	})
}
