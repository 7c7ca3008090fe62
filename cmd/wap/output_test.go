package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap"
)

// results has one empty result of every kind that a command returns.
func results() []result {
	return []result{
		initOutput{}, beginOutput{}, sealOutput{}, auditOutput{}, publishOutput{}, statusOutput{}, runOutput{}, inputsOutput{},
		reportOutput{}, filesOutput{}, fetchOutput{}, lsOutput{}, logOutput{}, showOutput{}, configOutput{}, versionOutput{},
		completionOutput{}, helpOutput{},
	}
}

// TestJSONShape holds all outputs to the rules of --json: every field has a
// name, no floats, lists are never null, whatever is known.
func TestJSONShape(t *testing.T) {
	for _, r := range results() {
		checkShape(t, reflect.TypeOf(r), reflect.TypeOf(r).String())
		body, err := envelope(r, &wap.Error{Kind: wap.KindConflict, Message: "m", Hint: "h"})
		if err != nil {
			t.Errorf("%T: %v", r, err)
			continue
		}
		if !bytes.HasPrefix(body, []byte(`{"schema":1,"error":{"code":4,"kind":"conflict","message":"m","hint":"h"},"`)) {
			t.Errorf("%T: %s", r, body)
		}
		var fields map[string]any
		if err := json.Unmarshal(body, &fields); err != nil {
			t.Errorf("%T: %v in %s", r, err, body)
		}
	}
}

func checkShape(t *testing.T, v reflect.Type, path string) {
	t.Helper()
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice:
		checkShape(t, v.Elem(), path)
	case reflect.Float32, reflect.Float64, reflect.Map, reflect.Interface:
		t.Errorf("%s is a %s: not for --json", path, v.Kind())
	case reflect.Struct:
		if v == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			f := v.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case name == "-" || !f.IsExported():
				continue
			case name == "" && !f.Anonymous:
				t.Errorf("%s.%s has no name in --json", path, f.Name)
			case f.Type.Kind() == reflect.Slice && options != "" && f.Name != "Stats":
				t.Errorf("%s.%s is left out when empty", path, f.Name)
			}
			checkShape(t, f.Type, path+"."+f.Name)
		}
	}
}

// TestListsAreNeverNull looks for null in results that lack everything.
func TestListsAreNeverNull(t *testing.T) {
	for _, r := range []result{
		beginOutput{BeginResult: &wap.BeginResult{}},
		auditOutput{&wap.AuditResult{Report: &audit.Report{Assertions: []audit.Result{{}}, Partitions: []audit.PartitionReport{{}}}}},
		publishOutput{PublishResult: &wap.PublishResult{Report: &audit.Report{Assertions: []audit.Result{{}}}}},
		statusOutput{&wap.StatusResult{Runs: []wap.RunStatus{{}}}},
		inputsOutput{InputsResult: &wap.InputsResult{Inputs: []manifest.Input{{Snapshot: &manifest.Base{}}}}},
		logOutput{&wap.LogResult{Entries: []wap.LogEntry{{Runs: []wap.LogRun{{}}}}}},
		filesOutput{}, lsOutput{}, fetchOutput{}, configOutput{},
	} {
		body, err := envelope(r, nil)
		if err != nil || bytes.Contains(body, []byte("null")) {
			t.Errorf("%T: %v %s", r, err, body)
		}
	}
}

// TestTextOfNothing: a failed call of which nothing is known prints nothing.
func TestTextOfNothing(t *testing.T) {
	for _, r := range results() {
		switch r.(type) {
		case configOutput, versionOutput, completionOutput, helpOutput, filesOutput: // cannot fail half way
			continue
		}
		var out bytes.Buffer
		if err := r.text(&out, style{}); err != nil || out.Len() > 0 {
			t.Errorf("%T: %v %q", r, err, out.String())
		}
	}
}

func TestFailureLines(t *testing.T) {
	var stdout, stderr bytes.Buffer
	p := newPage(&stdout, &stderr)
	p.failure(mistakes{
		&wap.Error{Kind: wap.KindUsage, Message: "a", Hint: "b"},
		&wap.Error{Kind: wap.KindOutside, Message: "c", Err: errors.New("d\ne")},
	})
	p.notice(wap.Notice{Level: wap.Info, Text: "f"})
	p.quiet = true
	p.notice(wap.Notice{Level: wap.Info, Text: "g"})
	p.notice(wap.Notice{Level: wap.Warning, Text: "h", Hint: "i"})
	want := "wap: error: a\nwap: hint: b\nwap: error: c: d\n     e\nwap: f\nwap: warning: h\nwap: hint: i\n"
	if stderr.String() != want || stdout.Len() > 0 {
		t.Errorf("got %q and %q, want %q", stderr.String(), stdout.String(), want)
	}
}
