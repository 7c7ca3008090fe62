package main

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/storetest/s3test"
)

// lists tells listings from reads of an object.
func lists(r *http.Request) bool { return r.Method == http.MethodGet && r.URL.Query().Has("list-type") }

// serverPermissions: what is not allowed is named, and never passes for what is
// not there.
func serverPermissions(t *testing.T, srv s3test.Server) {
	root, elsewhere := srv.Root(), srv.Root()
	srv.Setenv(t)
	call := func(args ...string) (int, string) {
		var stdout, stderr bytes.Buffer
		s := system{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, openStore: store.Open}
		code := s.run(t.Context(), args)
		return code, stdout.String() + stderr.String()
	}
	if code, said := call("init", "-w", root); code != 0 {
		t.Fatalf("exit %d: %s", code, said)
	}
	object := func(r *http.Request) bool { return r.Method == http.MethodGet && !r.URL.Query().Has("list-type") }
	puts := func(r *http.Request) bool { return r.Method == http.MethodPut }
	for _, c := range []struct {
		name string
		deny func(*http.Request) bool
		args []string
		says string
	}{
		{"get", object, []string{"ls", "-w", root}, `get object "_wap/warehouse.json": permission denied`},
		{"get of nothing", object, []string{"ls", "-w", elsewhere}, `get object "_wap/warehouse.json": permission denied`},
		{"list", lists, []string{"begin", "orders/dt=1", "-w", root, "-r", "r1", "--input", elsewhere}, `list objects "": permission denied`},
		{"list for init", lists, []string{"init", "-w", elsewhere}, `list objects "": permission denied`},
		{"put", puts, []string{"begin", "orders/dt=1", "-w", root, "-r", "r2"}, `create object "_wap/open/r2.g000001": permission denied`},
		{"put for init", puts, []string{"init", "-w", elsewhere}, `permission denied`},
		{"put for doctor", puts, []string{"doctor", "-w", elsewhere}, `permission denied`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s3test.Forbid(t, srv, c.deny).Setenv(t)
			code, said := call(c.args...)
			if code != 1 || !strings.Contains(said, c.says) || !strings.Contains(said, "hint: the credentials need s3:ListBucket") {
				t.Errorf("exit %d: %s", code, said)
			}
		})
	}
	// Nothing was made where nothing could be.
	if code, said := call("ls", "-w", elsewhere); code != 2 || !strings.Contains(said, "no warehouse at") {
		t.Errorf("exit %d: %s", code, said)
	}
}
