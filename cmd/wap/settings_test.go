package main

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/wap-cli/wap/wap/store"
)

func lookupIn(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := vars[name]
		return value, ok
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "16": 16, "16B": 16, "512MiB": 512 << 20, "2 GiB": 2 << 30, "1KB": 1000, "3TB": 3e12, "1KiB": 1024,
	} {
		if got, ok := parseSize(text); !ok || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "B", "MiB", "-1", "1.5GiB", "512mib", "1PB", "99999999TiB", "0x10"} {
		if got, ok := parseSize(text); ok {
			t.Errorf("%q is taken for %d", text, got)
		}
	}
}

func TestUnstableName(t *testing.T) {
	pod := map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1", "HOSTNAME": "load-7f9c"}
	for _, test := range []struct {
		run  string
		env  map[string]string
		want string
	}{
		{"orders/2025-03-05", nil, ""},
		{"orders/load-7f9c", map[string]string{"HOSTNAME": "load-7f9c"}, ""}, // a machine, not a pod
		{"orders/load-7f9c", pod, "holds the pod's name"},
		{"orders/2025-03-05", pod, ""},
		{"orders/x", map[string]string{"POD_NAME": "x"}, "holds the value of POD_NAME"},
		{"job/771", map[string]string{"CI_JOB_ID": "771"}, "holds the value of CI_JOB_ID"},
		{"orders/try2", map[string]string{"AIRFLOW_CTX_TRY_NUMBER": "2"}, "holds the scheduler's try number"},
		{"orders/attempt_no_3", map[string]string{"FLYTE_ATTEMPT_NUMBER": "3"}, "holds the scheduler's try number"},
		{"orders/try2", map[string]string{"AIRFLOW_CTX_TRY_NUMBER": "1"}, ""},
		{"orders/2025-03-02", map[string]string{"AIRFLOW_CTX_TRY_NUMBER": "2"}, ""}, // a day, not a try
		{"0b9f6f5e-7c0a-4a7e-9a43-0d3a6a6f4b11", nil, "holds a fresh UUID"},
		{"x/0190163d-8694-739b-aea5-966c26f8ad91", nil, "holds a fresh UUID"},
		{"2ed6657d-e927-568b-95e1-2665a8aea6a2", nil, ""}, // version 5: made of a name
	} {
		if got := unstableName(test.run, lookupIn(test.env)); got != test.want {
			t.Errorf("%q in %v: got %q, want %q", test.run, test.env, got, test.want)
		}
	}
}

func TestShellQuote(t *testing.T) {
	for text, want := range map[string]string{
		"": "''", "a/b=c": "a/b=c", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'", "~": "'~'", "a\nb": "'a\nb'",
	} {
		if got := shellQuote(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestConfigFileMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"warehouse: [a]\n":                    "wap.yaml:1:12: expected a value",
		"warehouse:\n":                        "wap.yaml:1:11: expected a value",
		"- a\n":                               "wap.yaml:1:1: expected a mapping of keys to values",
		"inputs: a\n":                         "wap.yaml:1:9: expected a list",
		"tables:\n  '[': {checks: x}\n":       "wap.yaml:2:3: \"[\" is no glob of tables",
		"tables:\n  a: {check: x}\n":          "wap.yaml:2:7: unknown key \"check\"",
		"a: &x b\nrun: *x\n":                  "wap.yaml:1:1: unknown key \"a\"\nwap.yaml:2:1: aliases and merge keys are not supported",
		"s3: {sse: AES256, requester: true}":  "wap.yaml:1:19: unknown key \"requester\"",
		"plugins:\n  fraud: ./fraud.sh\n":     "wap.yaml:2:10: expected a list",
		"run: a\n\twarehouse: b\n":            "wap.yaml:2:1: not YAML: found a tab character that violates indentation",
		"warehouse: a\n---\nwarehouse: b\n":   "wap.yaml:2:1: a second document",
		"run: \"${env:}\"\nrun: x\ntasks: {}": "wap.yaml:2:1: \"run\" stands twice, first in line 1\nwap.yaml:3:8: expected a value",
	} {
		_, err := parseConfigFile("wap.yaml", "/", []byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestExpand(t *testing.T) {
	f := &configFile{name: "wap.yaml"}
	getenv := lookupIn(map[string]string{"DAG": "load", "EMPTY": ""})
	for text, want := range map[string]string{
		"plain": "plain", "${env:DAG}/x/${env:DAG}": "load/x/load", "$DAG": "$DAG",
	} {
		if got, err := f.expand(fileText{text: text}, getenv); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"${env:NONE}", "${env:EMPTY}", "${DAG}", "${env:}", "${env:DAG"} {
		if got, err := f.expand(fileText{text: text, line: 3, column: 6}, getenv); err == nil || !strings.HasPrefix(err.Error(), "wap.yaml:3:6: ") {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
}

// TestMemoryIsALimit: of the whole process, whether it is given or not. A limit
// of 0 would have the collector run all the time.
func TestMemoryIsALimit(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	file := filepath.Join(t.TempDir(), "a.parquet")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for want, flags := range map[int64][]string{448 << 20: nil, 28 << 20: {"--memory", "32MiB"}} {
		debug.SetMemoryLimit(math.MaxInt64)
		s := system{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, openStore: store.Open}
		if code := s.run(t.Context(), append([]string{"check", file, "--checks", "builtin"}, flags...)); code != 3 {
			t.Errorf("%v: exit %d", flags, code)
		}
		if got := debug.SetMemoryLimit(-1); got != want {
			t.Errorf("%v: the limit is %d bytes, want %d", flags, got, want)
		}
	}
}
