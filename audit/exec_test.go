package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

// fakePlugins answers every command alike.
type fakePlugins struct {
	stdout, stderr string
	err            error
	hang           bool
	localErr       error

	command  []string
	document []byte
}

func (f *fakePlugins) Run(ctx context.Context, command []string, document []byte) ([]byte, []byte, error) {
	f.command, f.document = command, document
	if f.hang {
		<-ctx.Done()
		return nil, nil, ctx.Err()
	}
	return []byte(f.stdout), []byte(f.stderr), f.err
}

func (f *fakePlugins) Local(_ context.Context, file File) (string, error) {
	return "/local/" + file.Key, f.localErr
}

func (f *fakePlugins) URL(file File) string { return "file:///" + file.Key }

func TestPluginVerdicts(t *testing.T) {
	tests := []struct {
		name    string
		plugins Plugins
		want    string // outcome, and observed or a part of the message
	}{
		{"pass", &fakePlugins{stdout: `{"outcome": "pass", "observed": 12, "expected": "few"}`}, "pass 12"},
		{"fail", &fakePlugins{stdout: `{"outcome": "fail", "observed": "13", "violations": 4, "samples": [{"file": "a", "row": 1, "values": [{"column": "x", "text": "1"}]}]}` + "\n"}, "fail 13"},
		{"warn", &fakePlugins{stdout: `{"outcome": "warn", "message": "hm", "extra": {}}`}, "warn hm"},
		{"negative", &fakePlugins{stdout: `{"outcome": "fail", "violations": -1}`}, "error plugin counted -1 violations"},
		{"says error", &fakePlugins{stdout: `{"outcome": "error", "message": "no model"}`}, "error plugin could not judge: no model"},
		{"no outcome", &fakePlugins{stdout: `{}`}, `error plugin gave the outcome ""`},
		{"silence", &fakePlugins{}, "error plugin printed no verdict"},
		{"half", &fakePlugins{stdout: `{"outcome": "pa`}, "error plugin printed no valid verdict"},
		{"text", &fakePlugins{stdout: "all good"}, "error plugin printed no valid verdict"},
		{"two", &fakePlugins{stdout: `{"outcome": "pass"} {"outcome": "fail"}`}, "error plugin printed something after its verdict"},
		{"flood", &fakePlugins{stdout: `{"outcome": "pass", "message": "` + strings.Repeat("x", maxVerdict) + `"}`}, "error plugin printed more than 1048576 bytes"},
		{"exit status", &fakePlugins{stdout: `{"outcome": "pass"}`, err: errors.New("exit status 2")}, "error plugin exit status 2"},
		{"hangs", &fakePlugins{hang: true}, "error plugin gave no verdict within 1ms"},
		{"no download", &fakePlugins{localErr: errors.New("disk full")}, `error fetch "a" for a plugin: disk full`},
		{"none", nil, "error plugins cannot be run here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			timeout := "1h"
			if tt.name == "hangs" {
				timeout = "1ms"
			}
			c := mustParse(t, checks("exec: {command: [x], local: true, timeout: "+timeout+"}", "row_count: 2"))
			r := mustRun(t, c, Partition{Files: []File{fileOf(t, "a", longs("x", 1, 2))}}, Options{Plugins: tt.plugins})
			a := resultOf(t, r, "exec")
			got := fmt.Sprintf("%s %s%s", a.Outcome, a.Observed, a.Message)
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if a.Outcome == Error && (a.Error.Cause != CauseOutside || !r.OutsideOnly()) {
				t.Errorf("cause %+v", a.Error)
			}
			if b := resultOf(t, r, "row_count"); b.Outcome != Pass {
				t.Errorf("another assertion is %s", b.Outcome)
			}
			if tt.name == "fail" && (a.Violations != 4 || len(a.Samples) != 1) {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestPluginDocument(t *testing.T) {
	plugins := &fakePlugins{stdout: `{"outcome": "pass"}`, stderr: strings.Repeat("a", 5000) + "the end"}
	c := mustParse(t, checks("exec: {command: [judge, '${partition.dt}'], local: true, parameters: {day: '${partition.dt}', limit: 5}}"))
	part := Partition{
		Partition: manifest.Partition{Table: "t", Path: "t/dt=1", Keys: []manifest.KeyValue{{Name: "dt", Value: "1", Type: "int32"}}},
		Files:     []File{fileOf(t, "a", longs("x", 1, 2), strs("s", "q", nil))},
	}
	live := Partition{Files: []File{fileOf(t, "b", longs("x", 1), strs("s", "q"))}}
	live.Files[0].Rows = 1
	r := mustRun(t, c, part, Options{Plugins: plugins, Published: &shelf{live: []Partition{live}}})
	if a := resultOf(t, r, "exec"); a.Outcome != Pass || len(a.PluginStderr) != maxStderr || !strings.HasSuffix(a.PluginStderr, "the end") {
		t.Errorf("%+v", a)
	}
	if fmt.Sprint(plugins.command) != "[judge 1]" {
		t.Errorf("command %v", plugins.command)
	}
	size := part.Files[0].Source.Size()
	want := fmt.Sprintf(`{"schema":1,"assertion":"exec","now":"2025-03-05T12:00:00Z",`+
		`"partition":{"path":"t/dt=1","table":"t","keys":[{"name":"dt","value":"1","type":"int32"}]},`+
		`"columns":[{"name":"x","type":"int64","nullable":true},{"name":"s","type":"string","nullable":true}],`+
		`"files":[{"key":"a","url":"file:///a","path":"/local/a","size":%d,"rows":2}],`+
		`"parameters":{"day":"1","limit":"5"},`+
		`"baseline":[{"key":"b","url":"file:///b","path":"/local/b","size":%d,"rows":1}],`+
		`"limits":{"samples":10,"timeout_ms":60000,"memory_bytes":536870912}}`, size, live.Files[0].Source.Size())
	if string(plugins.document) != want || !json.Valid(plugins.document) {
		t.Errorf("got  %s\nwant %s", plugins.document, want)
	}
}
