package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wap-cli/wap/wap/store"
)

// racers is how many clients race in each round: enough for a store that looks
// and then writes to be caught in the first few rounds.
const racers = 24

// testRaceCreate: of many creates of one key exactly one wins, the others are
// told so, and what the winner wrote is what is there.
func testRaceCreate(t *testing.T, open Handle) {
	clients := handles(open, racers)
	for round := range 30 {
		key := fmt.Sprintf("race/%02d/key", round)
		won := race(t, store.ErrExists, func(i int) error {
			_, err := clients[i].Create(t.Context(), key, fmt.Appendf(nil, "client %d", i))
			return err
		})
		body, _, err := clients[0].Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("client %d", won); string(body) != want {
			t.Fatalf("round %d: the object is %q, the winner %q", round, body, want)
		}
	}
	if n := len(keys(t, open(), "")); n != 30 {
		t.Fatalf("%d objects, want 30", n)
	}
}

// testRaceSwapOnce: the same for swaps from one version.
func testRaceSwapOnce(t *testing.T, open Handle) {
	clients := handles(open, racers)
	v := create(t, clients[0], "race/pointer", "client -1, round -1")
	for round := range 30 {
		won := race(t, store.ErrVersionMismatch, func(i int) error {
			_, err := clients[i].Swap(t.Context(), "race/pointer", v, fmt.Appendf(nil, "client %d, round %d", i, round))
			return err
		})
		body, now, err := clients[0].Get(t.Context(), "race/pointer")
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("client %d, round %d", won, round); string(body) != want {
			t.Fatalf("round %d: the object is %q, the winner %q", round, body, want)
		}
		v = now
	}
	wantKeys(t, open(), "", "race/pointer")
}

// race runs act for all racers at once and returns the one that won.
func race(t *testing.T, lost error, act func(i int) error) int {
	t.Helper()
	errs := make([]error, racers)
	var ready sync.WaitGroup
	ready.Add(racers)
	each(racers, racers, func(i int) {
		ready.Done()
		ready.Wait()
		errs[i] = act(i)
	})
	for _, err := range errs {
		if err != nil {
			refusal(t, err, lost)
		}
	}
	won := slices.Index(errs, nil)
	if won < 0 || slices.Contains(errs[won+1:], nil) {
		t.Fatalf("want exactly one winner: %v", errs)
	}
	return won
}

// testRaceSwap: a counter incremented by read and swap loses no increment.
func testRaceSwap(t *testing.T, open Handle) {
	const clients, each1 = 8, 12
	create(t, open(), "race/counter", "0")
	each(clients, clients, func(int) {
		s := open()
		for range each1 {
			if err := Increment(t.Context(), s, "race/counter"); err != nil {
				t.Error(err)
				return
			}
		}
	})
	body, _, err := open().Get(t.Context(), "race/counter")
	if err != nil {
		t.Fatal(err)
	}
	if want := strconv.Itoa(clients * each1); string(body) != want {
		t.Fatalf("counter is %s, want %s", body, want)
	}
	wantKeys(t, open(), "", "race/counter")
}

// Increment adds one to the decimal number under key by read and swap, as often
// as it takes.
func Increment(ctx context.Context, s store.Meta, key string) error {
	for {
		body, v, err := s.Get(ctx, key)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(body))
		if err != nil {
			return err
		}
		_, err = s.Swap(ctx, key, v, []byte(strconv.Itoa(n+1)))
		if !errors.Is(err, store.ErrVersionMismatch) {
			return err
		}
	}
}

// testRaceCreateDelete: objects that come and go do not disturb others of the
// same folder, nor its parents. Stores that keep objects in folders stumble over
// one that they remove at that moment: versitygw answers 409 and MinIO on a
// single drive 403. That must be an error; the same write sent again settles it.
func testRaceCreateDelete(t *testing.T, open Handle) {
	const clients, rounds = 8, 40
	var unknown atomic.Int64
	each(clients, clients, func(w int) {
		s := open()
		for i := range rounds {
			key := fmt.Sprintf("x/%d/y/%d.%d", i%2, w, i)
			n, err := createSettled(t.Context(), s, key)
			unknown.Add(int64(n))
			if err != nil {
				t.Errorf("create %q: %v", key, err)
				return
			}
			if body, _, err := s.Get(t.Context(), key); err != nil || string(body) != key {
				t.Errorf("get %q: %q, %v", key, body, err)
			}
			if err := s.Delete(t.Context(), key); err != nil {
				t.Errorf("delete %q: %v", key, err)
			}
		}
	})
	if n := unknown.Load(); n > 0 {
		t.Logf("%d of %d creates had to be settled", n, clients*rounds)
	}
	if left := keys(t, open(), ""); len(left) > 0 {
		t.Fatalf("left behind: %s", strings.Join(left, " "))
	}
}

// createSettled creates key, which nobody else writes, with itself as body, and
// returns how many answers on the way said nothing.
func createSettled(ctx context.Context, s store.Store, key string) (int, error) {
	for unknown := 0; ; unknown++ {
		_, err := s.Create(ctx, key, []byte(key))
		switch {
		case errors.Is(err, store.ErrExists) && unknown > 0: // the earlier one landed
			return unknown, nil
		case err == nil, unknown == 100:
			return unknown, err
		case store.Refused(err) && !errors.Is(err, store.ErrForbidden):
			return unknown, err
		}
	}
}

func handles(open Handle, n int) []store.Store {
	s := make([]store.Store, n)
	for i := range s {
		s[i] = open()
	}
	return s
}
