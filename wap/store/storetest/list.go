package storetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func testListPrefixes(t *testing.T, open Handle) {
	s := open()
	all := []string{"a", "a.txt", "ab/c", "b/a", "b/a b", "b/ab/x", "b/b/c/d", "b-/x", "c/d/e/f/g"}
	// "a" is an object here, so nothing can be below "a/".
	for _, key := range all {
		create(t, s, key, key)
	}
	for prefix, want := range map[string][]string{
		"":                           all,
		"a":                          {"a", "a.txt", "ab/c"},
		"a/":                         {},
		"ab":                         {"ab/c"},
		"ab/":                        {"ab/c"},
		"b":                          {"b/a", "b/a b", "b/ab/x", "b/b/c/d", "b-/x"},
		"b/":                         {"b/a", "b/a b", "b/ab/x", "b/b/c/d"},
		"b/a":                        {"b/a", "b/a b", "b/ab/x"},
		"b/ab":                       {"b/ab/x"},
		"b/b/c":                      {"b/b/c/d"},
		"b/b/c/d":                    {"b/b/c/d"},
		"b/b/c/d/":                   {},
		"b/b/c/de":                   {},
		"c/d/e":                      {"c/d/e/f/g"},
		"c/d/e/f/gh":                 {},
		"d":                          {},
		"no/such/":                   {},
		"A":                          {},
		strings.Repeat("long/", 100): {},
	} {
		wantKeys(t, open(), prefix, want...)
	}
	// The caller may stop at any point.
	n := 0
	for _, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Fatalf("%d entries before the stop, want 2", n)
	}
}

// More than one page of an object store.
func testListMany(t *testing.T, open Handle) {
	s := open()
	const n = 1100
	want := make([]string, n)
	for i := range want {
		want[i] = fmt.Sprintf("many/%d/%04d", i%7, i)
	}
	each(16, n, func(i int) {
		if _, err := s.Create(t.Context(), want[i], []byte("x")); err != nil {
			t.Errorf("create %q: %v", want[i], err)
		}
	})
	wantKeys(t, open(), "", want...)
	wantKeys(t, open(), "many/0/0700", "many/0/0700")
	each(16, n, func(i int) {
		if err := s.Delete(t.Context(), want[i]); err != nil {
			t.Errorf("delete %q: %v", want[i], err)
		}
	})
	wantKeys(t, open(), "")
}

// What was there before a listing began and stays is in it, whatever else goes on.
func testListWhileWriting(t *testing.T, open Handle) {
	s := open()
	for i := range 20 {
		create(t, s, fmt.Sprintf("w/%02d/stays", i), "x")
	}
	stop := make(chan struct{})
	var busy sync.WaitGroup
	for w := range 3 {
		busy.Go(func() {
			other := open()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				key := fmt.Sprintf("w/%02d/%d", (i+7*w)%20, w)
				if _, err := other.Create(t.Context(), key, []byte("y")); err != nil {
					t.Errorf("create %q: %v", key, err)
					return
				}
				if err := other.Delete(t.Context(), key); err != nil {
					t.Errorf("delete %q: %v", key, err)
					return
				}
			}
		})
	}
	for range 20 {
		found := 0
		for key := range list(t, s, "w/") {
			if strings.HasSuffix(key, "/stays") {
				found++
			}
		}
		if found != 20 {
			t.Errorf("a listing shows %d of 20 objects", found)
		}
	}
	close(stop)
	busy.Wait()
}

// each calls fn for 0…n-1 from several goroutines.
func each(workers, n int, fn func(i int)) {
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				fn(i)
			}
		})
	}
	wg.Wait()
}
