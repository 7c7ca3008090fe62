package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestEngineScripts runs `sql` assertions in the real engine, which is built
// first. Its module has DuckDB as a library of C++.
func TestEngineScripts(t *testing.T) {
	tools, err := filepath.Abs("../../.tools")
	if err != nil {
		t.Fatal(err)
	}
	// The go tool links it anew only when it would differ.
	build := exec.Command("go", "build", "-o", filepath.Join(tools, "wap-duckdb"), ".")
	build.Dir = "../wap-duckdb"
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build wap-duckdb, for which Go needs a C compiler (apt-get install g++): %v\n%s", err, out)
	}
	params := scripts(t, "../../testdata/script/duckdb")
	setup := params.Setup
	params.Setup = func(env *testscript.Env) error {
		env.Setenv("ENGINE", tools)
		return setup(env)
	}
	testscript.Run(t, params)
}
