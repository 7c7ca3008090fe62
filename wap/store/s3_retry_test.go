package store_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/wap-cli/wap/wap/store"
)

// Parallel requests do not share a number of retries: each is repeated as often
// as one alone would be.
func TestS3RetriesOfMany(t *testing.T) {
	const keys, refusals = 40, 3
	var mu sync.Mutex
	asked := map[string]int{}
	setCredentials(t)
	t.Setenv("AWS_MAX_ATTEMPTS", "8")
	f := &fake{answer: func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path]++
		n := asked[r.URL.Path]
		mu.Unlock()
		if n <= refusals {
			coded(500, "InternalError")(w, r)
			return
		}
		cut("body", 4)(w, r)
	}}
	srv := httptest.NewServer(f)
	defer srv.Close()
	s, err := store.Open(t.Context(), "s3://bucket/p", store.Config{S3: store.S3Config{Endpoint: srv.URL}})
	if err != nil {
		t.Fatal(err)
	}
	errs := make(chan error, keys)
	for i := range keys {
		go func() {
			_, _, err := s.Get(t.Context(), fmt.Sprint(i))
			errs <- err
		}()
	}
	for range keys {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if f.count() != keys*(refusals+1) {
		t.Errorf("%d requests, want %d", f.count(), keys*(refusals+1))
	}
}
