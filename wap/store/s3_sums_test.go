package store_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/wap-cli/wap/wap/store"
)

// keeper is a store that takes whatever comes, as it comes.
func keeper() http.HandlerFunc {
	var mu sync.Mutex
	var body []byte
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("ETag", `"e"`)
		switch {
		case r.Method == http.MethodPost:
			io.WriteString(w, "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>")
		case r.Method == http.MethodPut:
			body = []byte(r.Header.Get("X-Amz-Trailer"))
		case r.Method == http.MethodGet && len(r.URL.Query()["x-id"]) > 0:
			w.Write(body)
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		default:
			coded(501, "NotImplemented")(w, r)
		}
	}
}

// What a store does with checksums is asked in the modes that clients use: in a
// header, for a part, and over TLS in a trailer.
func TestS3InspectChecksums(t *testing.T) {
	strict := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("X-Amz-Trailer") != "":
			coded(501, "NotImplemented")(w, r)
		case r.Header.Get("X-Amz-Checksum-Sha256") != "":
			coded(400, "BadDigest")(w, r)
		default:
			keeper()(w, r)
		}
	}
	for _, c := range []struct {
		name                    string
		answer                  http.HandlerFunc
		checksum, part, trailer string
	}{
		{"strict", strict, "refused", "refused", "refused"},
		{"careless", keeper(), "accepted", "accepted", "stored with its framing"},
		{"knows nothing", coded(403, "AccessDenied"), "", "", ""},
	} {
		for _, tls := range []bool{false, true} {
			open := openFake
			if tls {
				open = openTLS
			}
			f, s := open(t, c.answer)
			facts, err := store.Inspect(t.Context(), s, "scratch/")
			if err != nil {
				t.Fatal(err)
			}
			want := c.trailer
			if !tls {
				want = ""
			}
			if facts.Checksum != c.checksum || facts.PartChecksum != c.part || facts.Trailer != want {
				t.Errorf("%s, TLS %v: checksum %q, of a part %q, in a trailer %q", c.name, tls, facts.Checksum, facts.PartChecksum, facts.Trailer)
			}
			aborted := 0
			for _, r := range f.requests {
				if r.Method == http.MethodDelete && strings.Contains(r.URL.RawQuery, "uploadId=u") {
					aborted++
				}
			}
			if c.part != "" && aborted != 2 { // one to send a part, one to look for it
				t.Errorf("%s: %d uploads of 2 were given up", c.name, aborted)
			}
		}
	}
}
