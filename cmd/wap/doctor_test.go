package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/storetest/s3test"
)

// doctorGolden compares what init and doctor say of a server with the golden
// file of that name, and sees that nothing is left behind.
func doctorGolden(t *testing.T, srv s3test.Server, name string) {
	root := srv.Root()
	var got strings.Builder
	for _, args := range [][]string{
		{"doctor", "-w", root}, {"doctor", "-w", root, "--policy"}, {"init", "-w", root},
	} {
		var stdout, stderr bytes.Buffer
		s := system{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, environ: srv.Environ(), openStore: store.Open}
		code := s.run(context.Background(), args)
		got.WriteString("$ wap " + strings.Join(args, " ") + "\n" + stdout.String() + stderr.String())
		if code != 0 {
			got.WriteString("[exit " + string(rune('0'+code)) + "]\n")
		}
		got.WriteByte('\n')
	}
	text := got.String()
	for _, m := range []struct{ pattern, with string }{
		{regexp.QuoteMeta(srv.Endpoint), "ENDPOINT"},
		{`test-[A-Z2-7]{26}`, "ROOT"},
		{`[0-9.]+(µs|ms|s) a small`, "TIME a small"},
		{`[0-9.]+ [KMG]?i?B/s`, "SPEED/s"},
		{`[0-7][0-9A-HJKMNP-TV-Z]{25}`, "ULID"},
		{`(list order +).*`, "${1}…"}, // either is fine
	} {
		text = regexp.MustCompile(m.pattern).ReplaceAllString(text, m.with)
	}
	golden := filepath.Join("../../testdata/doctor", name+".txt")
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("doctor of %s:\n%s\nwant:\n%s", srv.Name, text, want)
	}
	for e, err := range srv.Open(t, root).List(t.Context(), "_wap/probe/") {
		if err != nil {
			t.Fatal(err)
		}
		t.Errorf("left behind: %s", e.Key)
	}
}

// serverDoctor: the server is accepted, and refused behind a gateway that drops
// conditions.
func serverDoctor(t *testing.T, srv s3test.Server, kind s3test.Kind) {
	srv.Setenv(t)
	if os.Getenv(s3test.EnvEndpoint) != "" { // what it says of itself is not known
		var stdout, stderr bytes.Buffer
		s := system{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, environ: srv.Environ(), openStore: store.Open}
		if code := s.run(t.Context(), []string{"doctor", "-w", srv.Root()}); code != 0 {
			t.Errorf("exit %d:\n%s%s", code, stdout.String(), stderr.String())
		}
		return
	}
	doctorGolden(t, srv, string(kind))
	if kind == s3test.MinIO {
		front := s3test.StripConditions(t, srv)
		front.Setenv(t)
		doctorGolden(t, front, "no-conditions")
	}
}

// TestDoctorRefuses a store that people do run.
func TestDoctorRefuses(t *testing.T) {
	if os.Getenv(s3test.EnvEndpoint) != "" {
		t.Skip("a server was given, and is not meant to be refused: " + s3test.EnvEndpoint)
	}
	srv := s3test.Start(t, s3test.MinIOPools)
	srv.Setenv(t)
	doctorGolden(t, srv, string(s3test.MinIOPools))
}
