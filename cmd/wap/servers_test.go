package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wap-cli/wap/wap/store/storetest/s3test"
)

// versionedBucket keeps versions, on servers that can.
const versionedBucket = "wap-test-versions"

// TestServers runs commands against real object stores: scripts, and the demo.
func TestServers(t *testing.T) {
	for _, kind := range s3test.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			srv := s3test.Start(t, kind)
			t.Run("scripts", func(t *testing.T) { serverScripts(t, srv, scriptDir) })
			t.Run("store scripts", func(t *testing.T) { serverScripts(t, srv, scriptDir+"/s3") })
			if kind == s3test.MinIO { // versitygw needs a file system with attributes for it
				srv.MakeBucket(t, versionedBucket)
				srv.KeepVersions(t, versionedBucket)
				t.Run("locked", func(t *testing.T) { lockedBucket(t, srv) })
				t.Run("traps", func(t *testing.T) { bucketWithTraps(t, srv) })
				t.Run("versions", func(t *testing.T) { serverScripts(t, srv, scriptDir+"/s3/versions") })
			}
			if kind == s3test.VersityGW {
				t.Run("unfinished upload", func(t *testing.T) { unfinishedUpload(t, srv) })
			}
			t.Run("permissions", func(t *testing.T) { serverPermissions(t, srv) })
			t.Run("doctor", func(t *testing.T) { serverDoctor(t, srv, kind) })
			t.Run("demo", func(t *testing.T) { serverDemo(t, srv) })
		})
	}
}

// onFolders are the scripts that run on local folders alone, and why.
func onFolders() map[string]string {
	return map[string]string{
		"argv":             "arguments are split before any store is opened",
		"check":            "it reads local files",
		"checks":           "no warehouse",
		"completion":       "no warehouse",
		"config":           "relative paths in wap.yaml are its subject",
		"flights":          "run is its small twin",
		"help":             "no warehouse",
		"partition-syntax": "paths are refused before the store is asked",
		"version":          "no warehouse",
		"yaml":             "no warehouse",
	}
}

// serverScripts runs the scripts of all commands, and those of dir, which are
// for stores alone, with $INPUTS and $VERSIONED as places for other objects.
func serverScripts(t *testing.T, srv s3test.Server, dir string) {
	p := scripts(t, dir)
	if dir == scriptDir {
		p.Dir, p.Files = "", sharedScripts(t)
	}
	setup := p.Setup
	p.Setup = func(env *testscript.Env) error {
		if err := setup(env); err != nil {
			return err
		}
		versioned := srv
		versioned.Bucket = versionedBucket
		above := srv.Root()
		env.Vars = append(append(env.Vars, srv.Environ()...),
			"LAKE="+above+"/lake", "ABOVE="+above, "INPUTS="+srv.Root(), "VERSIONED="+versioned.Root())
		return nil
	}
	p.Cmds = scriptCommands(&srv)
	testscript.Run(t, p)
}

// sharedScripts are all but those of onFolders.
func sharedScripts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(scriptDir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	local := onFolders()
	var shared []string
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		if why, ok := local[name]; ok {
			t.Logf("%s runs on folders alone: %s", name, why)
			delete(local, name)
			continue
		}
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(body), "$LAKE") {
			shared = append(shared, file)
		} else {
			t.Logf("%s runs on folders alone: its warehouse is not at $LAKE", name)
		}
	}
	for name := range local {
		t.Errorf("there is no script %s", name)
	}
	return shared
}

// serverDemo runs the demo on a warehouse in the server's bucket. The script
// checks its exit codes itself.
func serverDemo(t *testing.T, srv s3test.Server) {
	bin := t.TempDir()
	for name, pkg := range map[string]string{"wap": "./cmd/wap", "orders": "./testdata/demo"} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(bin, name), pkg)
		cmd.Dir = "../.."
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go build %s: %v\n%s", pkg, err, out)
		}
	}
	cmd := exec.Command("../../testdata/demo/demo.sh")
	cmd.Env = append(append(os.Environ(), srv.Environ()...), "ROWS=4000", "TMPDIR="+t.TempDir(),
		"WAP="+filepath.Join(bin, "wap"), "GEN="+filepath.Join(bin, "orders"), "WAREHOUSE="+srv.Root())
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err != nil || !strings.Contains(string(out), "== Summary") {
		t.Errorf("demo.sh: %v\n%s", err, out)
	}
}
