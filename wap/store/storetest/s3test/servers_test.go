package s3test_test

import (
	"errors"
	"io"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/storetest"
	"github.com/wap-cli/wap/wap/store/storetest/s3test"
)

func TestServers(t *testing.T) {
	for _, kind := range s3test.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			srv := s3test.Start(t, kind)
			srv.Setenv(t)
			t.Run("conformance", func(t *testing.T) { conformance(t, srv) })
			t.Run("conformance by TLS", func(t *testing.T) {
				front := s3test.BehindTLS(t, srv)
				front.Setenv(t)
				conformance(t, front)
			})
			t.Run("broken upload", func(t *testing.T) { brokenUpload(t, srv) })
			t.Run("cut upload", func(t *testing.T) { cutUpload(t, srv) })
			t.Run("corrupt upload", func(t *testing.T) { corruptUpload(t, srv) })
			t.Run("wrong", func(t *testing.T) { wrongServer(t, srv) })
			if kind == s3test.MinIO { // versitygw needs a file system with attributes for it
				t.Run("versioned", func(t *testing.T) { versioned(t, srv) })
			}
		})
	}
}

func conformance(t *testing.T, srv s3test.Server) {
	storetest.Run(t, func(t *testing.T) storetest.Handle {
		root := srv.Root()
		return func() store.Store { return srv.Open(t, root) }
	})
}

// wrongServer: what is wrong is named, and never "absent".
func wrongServer(t *testing.T, srv s3test.Server) {
	missing := srv
	missing.Bucket = "wap-no-such-bucket"
	s := srv.Open(t, missing.Root())
	_, _, getErr := s.Get(t.Context(), "k")
	_, createErr := s.Create(t.Context(), "k", nil)
	_, swapErr := s.Swap(t.Context(), "k", store.Version{ETag: `"0"`}, nil)
	for i, err := range []error{getErr, createErr, swapErr, listError(t, s)} {
		if !errors.Is(err, store.ErrNoBucket) || errors.Is(err, store.ErrNotFound) {
			t.Errorf("missing bucket: error %d is %v", i, err)
		}
	}
	regions(t, srv)
	for name, value := range map[string]string{"AWS_SECRET_ACCESS_KEY": "wrong", "AWS_ACCESS_KEY_ID": "nobody"} {
		t.Setenv(name, value)
		s := srv.Open(t, srv.Root())
		_, _, getErr := s.Get(t.Context(), "k")
		_, headErr := s.Head(t.Context(), "k")
		_, createErr := s.Create(t.Context(), "k", nil)
		_, uploadErr := s.Upload(t.Context(), "k", strings.NewReader("x"), 1)
		for i, err := range []error{getErr, headErr, createErr, uploadErr, s.Delete(t.Context(), "k"), listError(t, s)} {
			if !errors.Is(err, store.ErrForbidden) || errors.Is(err, store.ErrNotFound) {
				t.Errorf("wrong %s: error %d is %v", name, i, err)
			}
		}
	}
}

// regions: versitygw wants its own, as AWS does.
func regions(t *testing.T, srv s3test.Server) {
	if os.Getenv(s3test.EnvEndpoint) != "" {
		return // it may take any
	}
	wrong := srv
	wrong.Region = "eu-west-3"
	wrong.Setenv(t)
	s := srv.Open(t, srv.Root())
	_, _, getErr := s.Get(t.Context(), "k")
	_, createErr := s.Create(t.Context(), "k", nil)
	srv.Setenv(t)
	if strings.HasPrefix(srv.Name, string(s3test.MinIO)) { // it takes any
		if !errors.Is(getErr, store.ErrNotFound) || createErr != nil {
			t.Errorf("another region: %v; %v", getErr, createErr)
		}
		return
	}
	for i, err := range []error{getErr, createErr} {
		if !errors.Is(err, store.ErrUnsupported) || !strings.Contains(store.Remedy(err), "--region") {
			t.Errorf("wrong region: error %d is %v; remedy %q", i, err, store.Remedy(err))
		}
	}
}

func listError(t *testing.T, s store.Store) error {
	t.Helper()
	var last error
	for _, err := range s.List(t.Context(), "") {
		last = err
	}
	return last
}

// versioned: the contract holds in a bucket with versions too, and what was
// pinned there can still be read when it was overwritten or deleted.
func versioned(t *testing.T, srv s3test.Server) {
	srv.Bucket = "wap-versioned"
	srv.MakeBucket(t, srv.Bucket)
	srv.KeepVersions(t, srv.Bucket)
	conformance(t, srv)

	s := srv.Open(t, srv.Root())
	v1, err := s.Create(t.Context(), "in", []byte("first"))
	if err != nil || v1.ID == "" {
		t.Fatalf("create: %+v, %v; want a version id", v1, err)
	}
	v2, err := s.Swap(t.Context(), "in", v1, []byte("other"))
	if err != nil {
		t.Fatal(err)
	}
	wantVersions(t, s, map[string]store.Version{"in": v2})
	for _, after := range []string{"overwritten", "deleted"} {
		r, err := s.GetRange(t.Context(), "in", 0, 5, v1)
		if err != nil {
			t.Fatalf("%s: %v", after, err)
		}
		body, err := io.ReadAll(r)
		r.Close()
		if err != nil || string(body) != "first" {
			t.Fatalf("%s: %q, %v", after, body, err)
		}
		if err := s.Delete(t.Context(), "in"); err != nil {
			t.Fatal(err)
		}
	}
	wantVersions(t, s, map[string]store.Version{})
	if _, err := s.GetRange(t.Context(), "in", 0, 5, store.Version{ETag: v1.ETag}); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("deleted, without its id: %v", err)
	}
}

// wantVersions checks the newest versions that a listing names.
func wantVersions(t *testing.T, s store.Store, want map[string]store.Version) {
	t.Helper()
	got := map[string]store.Version{}
	for e, err := range store.ListVersions(t.Context(), s, "") {
		if err != nil {
			t.Fatal(err)
		}
		got[e.Key] = e.Version
	}
	if !maps.Equal(got, want) {
		t.Fatalf("versions %v, want %v", got, want)
	}
}
