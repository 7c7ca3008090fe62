package wap

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

// bucketOf answers listings of a bucket with n objects, a thousand a page.
func bucketOf(n int, lists *atomic.Int64) http.HandlerFunc {
	const page = 1000
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		w.Header().Set("Content-Type", "application/xml")
		switch {
		case q.Has("versioning"):
			fmt.Fprint(w, "<VersioningConfiguration/>")
		case q.Get("list-type") == "2":
			lists.Add(1)
			from, _ := strconv.Atoi(q.Get("continuation-token")) // empty: 0
			to := min(from+page, n)
			fmt.Fprintf(w, "<ListBucketResult><IsTruncated>%v</IsTruncated><NextContinuationToken>%d</NextContinuationToken>", to < n, to)
			for i := from; i < to; i++ {
				fmt.Fprintf(w, `<Contents><Key>src/%05d.parquet</Key><ETag>"%d"</ETag><Size>%d</Size></Contents>`, i, i, i)
			}
			fmt.Fprint(w, "</ListBucketResult>")
		default:
			w.WriteHeader(http.StatusNotImplemented)
		}
	}
}

// TestRequestsOfAPin: ten thousand objects cost ten pages.
func TestRequestsOfAPin(t *testing.T) {
	const objects = 10_000
	var lists atomic.Int64
	srv := httptest.NewServer(bucketOf(objects, &lists))
	defer srv.Close()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "access", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	l := newLab(t)
	cfg := l.config(l.store)
	cfg.OpenStore = func(ctx context.Context, url string) (store.Store, store.Location, error) {
		loc, err := store.ParseURL(url)
		if err != nil {
			return nil, loc, err
		}
		st, err := store.Open(ctx, url, store.Config{S3: store.S3Config{Endpoint: srv.URL}})
		return st, loc, err
	}
	w, err := Open(t.Context(), cfg)
	wantCode(t, err, 0)
	b, err := w.Begin(t.Context(), BeginRequest{
		Run: "r", Scope: []string{"orders/dt=1"}, Inputs: []manifest.InputSource{{Source: "s3://in/src"}},
	})
	wantCode(t, err, 0)
	if b.Inputs.Objects != objects || b.Inputs.Bytes != objects*(objects-1)/2 {
		t.Errorf("pinned %+v", b.Inputs)
	}
	if n := lists.Load(); n > 11 {
		t.Errorf("%d list requests, want at most 11", n)
	}
}

// TestRequestsOfManyFiles: a thousand files are staged and published for two
// requests each and a constant, the audit's reads aside.
func TestRequestsOfManyFiles(t *testing.T) {
	const files, constant = 1000, 60
	l := newLab(t)
	dir := t.TempDir()
	for i := range files {
		name := filepath.Join(dir, fmt.Sprintf("part-%04d.parquet", i))
		if err := parquet.WriteFile(name, orders(3*i, 3)); err != nil {
			t.Fatal(err)
		}
	}
	fs := faultstore.New(l.store, faultstore.Config{})
	w := l.client(fs)
	ctx := context.Background()
	b, err := w.Begin(ctx, BeginRequest{Run: "r", Scope: []string{"orders/dt=1"}})
	wantCode(t, err, 0)
	sealed, err := w.Stage(ctx, StageRequest{Run: "r", Attempt: b.Attempt, Dir: dir})
	wantCode(t, err, 0)
	res, err := w.Publish(ctx, PublishRequest{Run: "r", Rules: l.rules(keyed)})
	wantCode(t, err, 0)
	if sealed.Files != files || len(res.Partitions) != 1 || res.Partitions[0].Rows != 3*files {
		t.Fatalf("sealed %d files, published %+v", sealed.Files, res.Partitions)
	}
	requests := map[faultstore.Verb]int{}
	all := 0
	for _, op := range fs.Recorder().Ops() {
		if op.Verb != faultstore.GetRange { // the audit's
			requests[op.Verb] += op.Requests
			all += op.Requests
		}
	}
	if all > 2*files+constant {
		t.Errorf("%d requests for %d files, want at most %d: %v", all, files, 2*files+constant, requests)
	}
	t.Logf("%d requests besides the audit's reads: %s", all, strings.TrimPrefix(fmt.Sprint(requests), "map"))
}
