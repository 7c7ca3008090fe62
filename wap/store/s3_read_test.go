package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/wap-cli/wap/wap/store"
)

// inTurn gives one answer after the other, and the last for ever.
func inTurn(answers ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	i := 0
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		answer := answers[min(i, len(answers)-1)]
		i++
		mu.Unlock()
		answer(w, r)
	}
}

// cut announces more than it sends.
func cut(body string, announced int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"e"`)
		w.Header().Set("Content-Length", fmt.Sprint(announced))
		io.WriteString(w, body)
	}
}

func TestS3GetAnswers(t *testing.T) {
	unmeasured := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"e"`)
		w.(http.Flusher).Flush() // no length: a cut would not show
		io.WriteString(w, "body")
	}
	for _, c := range []struct {
		name     string
		answer   http.HandlerFunc
		want     error
		not      error
		requests int
	}{
		{"absent", coded(404, "NoSuchKey"), store.ErrNotFound, nil, 1},
		{"no bucket", coded(404, "NoSuchBucket"), store.ErrNoBucket, store.ErrNotFound, 1},
		{"404 page", status(404, page), nil, store.ErrNotFound, 1},
		{"403", coded(403, "AccessDenied"), store.ErrForbidden, store.ErrNotFound, 1},
		{"200 page", status(200, page), nil, store.ErrNotFound, 1},
		{"cut", cut("bo", 4), io.ErrUnexpectedEOF, nil, 4},
		{"no length", unmeasured, io.ErrUnexpectedEOF, nil, 4},
		{"slow down", coded(503, "SlowDown"), nil, store.ErrNotFound, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, s := openFake(t, c.answer)
			_, _, err := s.Get(t.Context(), "k")
			if err == nil || c.want != nil && !errors.Is(err, c.want) || c.not != nil && errors.Is(err, c.not) {
				t.Errorf("get: %v; want %v", err, c.want)
			}
			if f.count() != c.requests {
				t.Errorf("%d requests, want %d", f.count(), c.requests)
			}
		})
	}
	f, s := openFake(t, inTurn(cut("bo", 4), coded(503, "SlowDown"), cut("body", 4)))
	if body, v, err := s.Get(t.Context(), "k"); string(body) != "body" || v.ETag != `"e"` || err != nil || f.count() != 3 {
		t.Errorf("get: %q, %v, %v after %d requests", body, v, err, f.count())
	}
}

func TestS3RangeAnswers(t *testing.T) {
	const object = "0123456789"
	part := func(etag, header, body string, announced int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", etag)
			w.Header().Set("Content-Range", header)
			w.Header().Set("Content-Length", fmt.Sprint(announced))
			w.WriteHeader(http.StatusPartialContent)
			io.WriteString(w, body)
		}
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
		err    error
		ranges string // of the requests
	}{
		{"whole", part(`"e"`, "bytes 2-7/10", "234567", 6), "234567", nil, "2-7"},
		{"broken twice", inTurn(part(`"e"`, "bytes 2-7/10", "23", 6), part(`"e"`, "bytes 4-7/10", "4", 4), part(`"e"`, "bytes 5-7/10", "567", 3)), "234567", nil, "2-7 4-7 5-7"},
		{"broken, then changed", inTurn(part(`"e"`, "bytes 2-7/10", "23", 6), coded(412, "PreconditionFailed")), "23", store.ErrVersionMismatch, "2-7 4-7"},
		{"broken, then gone", inTurn(part(`"e"`, "bytes 2-7/10", "23", 6), coded(404, "NoSuchKey")), "23", store.ErrNotFound, "2-7 4-7"},
		{"broken for good", inTurn(part(`"e"`, "bytes 2-7/10", "23", 6), part(`"e"`, "bytes 4-7/10", "", 4)), "23", io.ErrUnexpectedEOF, "2-7 4-7 4-7 4-7"},
		{"condition ignored", part(`"other"`, "bytes 2-7/10", "234567", 6), "", store.ErrVersionMismatch, "2-7"},
		{"range ignored", cut(object, 10), "", errUnknown, "2-7"},
		{"another range", part(`"e"`, "bytes 0-5/10", "012345", 6), "", errUnknown, "2-7"},
		{"a longer range", part(`"e"`, "bytes 2-8/10", "2345678", 7), "", errUnknown, "2-7"},
		{"short object", part(`"e"`, "bytes 2-3/4", "23", 2), "23", io.ErrUnexpectedEOF, "2-7"},
		{"unreadable header", part(`"e"`, "bytes x", "234567", 6), "", errUnknown, "2-7"},
		{"404 page", status(404, page), "", errUnknown, "2-7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, s := openFake(t, c.answer)
			var got []byte
			body, err := s.GetRange(t.Context(), "k", 2, 6, store.Version{ETag: `"e"`, ID: "id"})
			if err == nil {
				got, err = io.ReadAll(body)
				body.Close()
			}
			switch {
			case c.err == errUnknown:
				if err == nil || store.Refused(err) {
					t.Errorf("error %v", err)
				}
			case c.err == nil && err != nil, !errors.Is(err, c.err):
				t.Errorf("error %v, want %v", err, c.err)
			}
			if string(got) != c.want {
				t.Errorf("read %q, want %q", got, c.want)
			}
			var ranges []string
			for _, r := range f.requests {
				ranges = append(ranges, strings.TrimPrefix(r.Header.Get("Range"), "bytes="))
				if r.Header.Get("If-Match") != `"e"` || r.URL.Query().Get("versionId") != "id" {
					t.Errorf("request without its pins: %v %v", r.Header, r.URL)
				}
			}
			if got := strings.Join(ranges, " "); got != c.ranges {
				t.Errorf("ranges %q, want %q", got, c.ranges)
			}
		})
	}
}

func TestS3ListAnswers(t *testing.T) {
	listing := func(truncated bool, token string, keys ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			var b bytes.Buffer
			fmt.Fprintf(&b, "<ListBucketResult><Name>bucket</Name><IsTruncated>%v</IsTruncated>", truncated)
			if token != "" {
				fmt.Fprintf(&b, "<NextContinuationToken>%s</NextContinuationToken>", token)
			}
			for _, k := range keys {
				fmt.Fprintf(&b, "<Contents><Key>%s</Key><Size>%d</Size><ETag>&quot;e&quot;</ETag></Contents>", k, len(k)%2)
			}
			b.WriteString("</ListBucketResult>")
			w.Header().Set("Content-Type", "application/xml")
			w.Write(b.Bytes())
		}
	}
	noETag := status(200, "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>p/k</Key><Size>1</Size></Contents></ListBucketResult>")
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
		err    string
	}{
		{"unsorted pages", inTurn(listing(true, "t", "p/b", "p/a"), listing(false, "", "p/0")), "b a 0", ""},
		{"folder markers", listing(false, "", "p/", "p/a/", "p/ab/c"), "ab/c", ""},
		{"empty", listing(false, ""), "", ""},
		{"page", status(200, page), "", "no listing"},
		{"cut", listing(true, "", "p/a"), "a", "listing is cut"},
		{"in a circle", listing(true, "t", "p/a"), "a a", "listing is cut"},
		{"foreign key", listing(false, "", "q/a"), "", "does not start with"},
		{"no etag", noETag, "", "no etag"},
		{"404 page", status(404, page), "", "404"},
		{"no bucket", coded(404, "NoSuchBucket"), "", "no such bucket"},
		{"forbidden", coded(403, "AccessDenied"), "", "permission denied"},
		{"second page fails", inTurn(listing(true, "t", "p/a"), coded(400, "InvalidArgument")), "a", "InvalidArgument"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, s := openFake(t, c.answer)
			var got []string
			text := ""
			for e, err := range s.List(t.Context(), "") {
				if err != nil {
					text = err.Error()
				} else {
					got = append(got, e.Key)
				}
			}
			if strings.Join(got, " ") != c.want || (c.err == "") != (text == "") || !strings.Contains(text, c.err) {
				t.Errorf("list: %q, %q; want %q, %q", got, text, c.want, c.err)
			}
		})
	}
}

func TestS3DeleteAnswers(t *testing.T) {
	for _, c := range []struct {
		answer http.HandlerFunc
		want   error
	}{
		{status(204, ""), nil},
		{coded(404, "NoSuchKey"), nil},
		{coded(404, "NoSuchBucket"), store.ErrNoBucket},
		{coded(403, "AccessDenied"), store.ErrForbidden},
	} {
		_, s := openFake(t, c.answer)
		if err := s.Delete(t.Context(), "k"); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("delete: %v, want %v", err, c.want)
		}
	}
}

// A HEAD has no body to tell what is missing, so a GET asks.
func TestS3HeadAnswers(t *testing.T) {
	for _, c := range []struct {
		name string
		get  http.HandlerFunc
		want error
	}{
		{"absent", coded(404, "NoSuchKey"), store.ErrNotFound},
		{"no bucket", coded(404, "NoSuchBucket"), store.ErrNoBucket},
		{"no user", coded(404, "XAdminUserNotFound"), store.ErrForbidden},
		{"page", status(404, page), errUnknown},
		{"there since", cut("x", 1), store.ErrNotFound},
		{"empty since", coded(416, "InvalidRange"), errUnknown},
	} {
		f, s := openFake(t, inTurn(status(404, ""), c.get))
		_, err := s.Head(t.Context(), "k")
		if c.want == errUnknown && (err == nil || store.Refused(err)) || c.want != errUnknown && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if f.count() != 2 {
			t.Errorf("%s: %d requests, want 2", c.name, f.count())
		}
	}
	f, s := openFake(t, status(403, ""))
	if _, err := s.Head(t.Context(), "k"); !errors.Is(err, store.ErrForbidden) || f.count() != 1 {
		t.Errorf("403: %v after %d requests", err, f.count())
	}
}
