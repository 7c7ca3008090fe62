package faultstore_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

func TestRecord(t *testing.T) {
	m := store.NewMem()
	rec := new(faultstore.Recorder)
	a := faultstore.New(m, faultstore.Config{Recorder: rec, Client: "a"})
	b := faultstore.New(m, faultstore.Config{Recorder: rec, Client: "b"})
	if got := script(t.Context(), a); got != noFault {
		t.Fatalf("saw\n%s", got)
	}
	from := rec.Len()
	for i := range 2001 {
		if _, err := b.Create(t.Context(), fmt.Sprintf("many/%d", i), []byte("xy")); err != nil {
			t.Fatal(err)
		}
	}
	for range b.List(t.Context(), "many/") {
	}
	c := faultstore.CountOps(rec.Ops()[:from])
	if c.Ops != 9 || c.Requests != 9 || c.Sent != 3+3+10 || c.Received != 3+3+6 || c.ByVerb[faultstore.Get] != 2 {
		t.Errorf("count of the script: %+v", c)
	}
	c = faultstore.CountOps(rec.Ops()[from:])
	if c.Ops != 2002 || c.Requests != 2001+3 || c.Sent != 4002 {
		t.Errorf("count of the rest: %+v", c)
	}
	ops := rec.Ops()
	if ops[0].Client != "a" || ops[from].Client != "b" || ops[from].Seq != from+1 || ops[from].Phase != faultstore.After {
		t.Errorf("operations %+v, %+v", ops[0], ops[from])
	}
	if got, want := faultstore.Log(ops[2:5]), "swap k\nget k\nupload u\n"; got != want {
		t.Errorf("log %q, want %q", got, want)
	}
}

func TestRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := new(faultstore.Recorder)
		cfg := faultstore.Config{Recorder: rec, Delay: 40 * time.Millisecond}
		m := store.NewMem()
		start := time.Now()
		put := func(key string) {
			if _, err := faultstore.New(m, cfg).Create(t.Context(), key, nil); err != nil {
				t.Error(err)
			}
		}
		put("first")
		var wg sync.WaitGroup
		for i := range 10 { // one round
			wg.Go(func() { put(fmt.Sprintf("par/%d", i)) })
		}
		wg.Go(func() { // three, the longest chain
			put("chain/1")
			put("chain/2")
			put("chain/3")
		})
		wg.Wait()
		put("last")
		if got := faultstore.Rounds(rec.Ops()); got != 5 {
			t.Errorf("%d rounds, want 5", got)
		}
		if got := faultstore.Rounds(rec.Ops()[1:11]); got != 1 {
			t.Errorf("%d rounds in parallel, want 1", got)
		}
		if got := faultstore.Rounds(nil); got != 0 {
			t.Errorf("%d rounds of nothing", got)
		}
		if got := time.Since(start); got != 5*cfg.Delay {
			t.Errorf("the clock moved %v, want %v", got, 5*cfg.Delay)
		}
	})
}
