package main

import (
	"encoding/json"
	"errors"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wap-cli/wap/wap/store/storetest/s3test"
)

// scriptCommands are what scripts have besides testscript's own commands, for
// objects in local folders and, where srv is not nil, on a server.
func scriptCommands(srv *s3test.Server) map[string]func(*testscript.TestScript, bool, []string) {
	at := newShelves(srv)
	return map[string]func(*testscript.TestScript, bool, []string){
		"exits":   exits,
		"json":    jsonField,
		"capture": capture,
		"parquet": parquetFile,
		"tree":    at.tree,
		"put":     at.put,
		"del":     at.del,
		"clone":   at.clone,
		"damage":  at.damage,
	}
}

// exits runs a program and wants this exit code, exactly: "exits 3 wap audit".
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			got = 128 + int(status.Signal())
		}
	default:
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

var (
	maskULID   = regexp.MustCompile(`[0-7][0-9A-HJKMNP-TV-Z]{25}`)
	maskDigest = regexp.MustCompile(`\b[0-9a-f]{16}\b`)
)

// jsonField compares one field of the JSON on stdout: "json .error.code 3".
// ".list.len" is a list's length; without a value the field only has to be there,
// and negated it must not be.
func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: [!] json .FIELD [VALUE]")
	}
	got, ok := lookupJSON(ts, args[0])
	switch {
	case neg && ok:
		ts.Fatalf("%s is there: %s", args[0], got)
	case !neg && !ok:
		ts.Fatalf("%s is not there in %s", args[0], ts.ReadFile("stdout"))
	case len(args) == 2 && got != args[1]:
		ts.Fatalf("%s is %s, want %s", args[0], got, args[1])
	}
}

// capture puts a field of the JSON on stdout into an environment variable.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture VARIABLE .FIELD")
	}
	got, ok := lookupJSON(ts, args[1])
	if !ok {
		ts.Fatalf("%s is not there in %s", args[1], ts.ReadFile("stdout"))
	}
	ts.Setenv(args[0], got)
}

func lookupJSON(ts *testscript.TestScript, path string) (string, bool) {
	var v any
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	dec.UseNumber()
	ts.Check(dec.Decode(&v))
	if dec.More() {
		ts.Fatalf("more than one JSON value on stdout")
	}
	for _, part := range strings.Split(strings.TrimPrefix(path, "."), ".") {
		switch node := v.(type) {
		case map[string]any:
			next, ok := node[part]
			if !ok {
				return "", false
			}
			v = next
		case []any:
			if part == "len" {
				v = len(node)
				continue
			}
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(node) {
				return "", false
			}
			v = node[i]
		default:
			return "", false
		}
	}
	if s, ok := v.(string); ok {
		return s, true
	}
	text, err := json.Marshal(v)
	ts.Check(err)
	return string(text), true
}
