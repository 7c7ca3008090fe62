package faultstore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

// TestChoose picks faults as operations come, and lands what was held in the
// other order.
func TestChoose(t *testing.T) {
	ctx := context.Background()
	m := store.NewMem()
	kinds := map[string]faultstore.Kind{"a": faultstore.ActLater, "b": faultstore.ActLater, "c": faultstore.FailBefore}
	s := faultstore.New(m, faultstore.Config{
		Faults: []faultstore.Fault{{Kind: faultstore.FailAfter, Verb: faultstore.Create, Key: "d"}},
		Choose: func(_ context.Context, op faultstore.Op) faultstore.Kind {
			if op.Phase != faultstore.Before || op.Key == "d" {
				t.Errorf("asked about %s %s in phase %d", op.Verb, op.Key, op.Phase)
			}
			return kinds[op.Key]
		},
	})
	for key, want := range map[string]error{
		"a": faultstore.ErrInjected, "b": faultstore.ErrInjected, "c": faultstore.ErrInjected,
		"d": faultstore.ErrInjected, "e": nil,
	} {
		if _, err := s.Create(ctx, key, []byte(key)); !errors.Is(err, want) {
			t.Errorf("create %s: %v, want %v", key, err, want)
		}
	}
	there := func() string {
		got := ""
		for _, key := range []string{"a", "b", "c", "d", "e"} {
			if _, _, err := m.Get(ctx, key); err == nil {
				got += key
			}
		}
		return got
	}
	if got := there(); got != "de" {
		t.Fatalf("%s are there, want de", got)
	}
	second := s.Held()[1].Key
	if l := s.Land(ctx, 1); l.Err != nil || l.Op.Key != second {
		t.Fatalf("landed %s: %v", l.Op.Key, l.Err)
	}
	if got := there(); len(got) != 3 || len(s.Held()) != 1 {
		t.Fatalf("%s are there, %d held", got, len(s.Held()))
	}
	for _, l := range s.Release(ctx) {
		if l.Err != nil {
			t.Fatal(l.Err)
		}
	}
	if got := there(); got != "abde" {
		t.Fatalf("%s are there, want abde", got)
	}
}

// TestChooseNonsense: a fault that cannot happen is a mistake of the test.
func TestChooseNonsense(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("a list acted later")
		}
	}()
	s := faultstore.New(store.NewMem(), faultstore.Config{
		Choose: func(context.Context, faultstore.Op) faultstore.Kind { return faultstore.ActLater },
	})
	for _, err := range s.List(context.Background(), "") {
		t.Fatal(err)
	}
}
