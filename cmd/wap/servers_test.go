package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/storetest/s3test"
)

// versionedBucket keeps versions, on servers that can.
const versionedBucket = "wap-test-versions"

// TestServers runs commands against real object stores: scripts, and the demo.
func TestServers(t *testing.T) {
	for _, kind := range s3test.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			srv := s3test.Start(t, kind)
			dir := "../../testdata/script/s3"
			t.Run("scripts", func(t *testing.T) { serverScripts(t, srv, dir) })
			if kind == s3test.MinIO { // versitygw needs a file system with attributes for it
				srv.MakeBucket(t, versionedBucket)
				srv.KeepVersions(t, versionedBucket)
				t.Run("traps", func(t *testing.T) { bucketWithTraps(t, srv) })
				t.Run("versions", func(t *testing.T) { serverScripts(t, srv, dir+"/versions") })
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

// serverScripts runs the scripts of dir. Each has a warehouse of its own in
// WAP_WAREHOUSE, and prefixes for other objects in INPUTS and VERSIONED.
func serverScripts(t *testing.T, srv s3test.Server, dir string) {
	testscript.Run(t, testscript.Params{
		Dir:           dir,
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			versioned := srv
			versioned.Bucket = versionedBucket
			env.Vars = append(append(env.Vars, srv.Environ()...),
				"WAP_WAREHOUSE="+srv.Root()+"/lake", "INPUTS="+srv.Root(), "VERSIONED="+versioned.Root())
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"json":    jsonField,
			"capture": capture,
			"parquet": parquetFile,
			"objects": func(ts *testscript.TestScript, neg bool, args []string) { objects(ts, srv, neg, args) },
			"put":     func(ts *testscript.TestScript, neg bool, args []string) { put(ts, srv, neg, args) },
			"del":     func(ts *testscript.TestScript, neg bool, args []string) { del(ts, srv, neg, args) },
		},
	})
}

// objects prints every key below a URL, with ULIDs and digests masked.
func objects(ts *testscript.TestScript, srv s3test.Server, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: objects URL")
	}
	loc, err := store.ParseURL(args[0])
	ts.Check(err)
	var keys []string
	pages := s3.NewListObjectsV2Paginator(srv.Client(), &s3.ListObjectsV2Input{Bucket: &loc.Bucket, Prefix: aws.String(loc.Key(""))})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		ts.Check(err)
		for _, o := range page.Contents {
			key := strings.TrimPrefix(*o.Key, loc.Key(""))
			keys = append(keys, maskDigest.ReplaceAllString(maskULID.ReplaceAllString(key, "ULID"), "HASH"))
		}
	}
	slices.Sort(keys)
	fmt.Fprintln(ts.Stdout(), strings.Join(keys, "\n"))
}

// put writes a file to a URL: "put FILE URL".
func put(ts *testscript.TestScript, srv s3test.Server, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: put FILE URL")
	}
	loc, err := store.ParseURL(args[1])
	ts.Check(err)
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	_, err = srv.Client().PutObject(context.Background(), &s3.PutObjectInput{Bucket: &loc.Bucket, Key: &loc.Prefix, Body: f})
	ts.Check(err)
}

// del deletes the object at a URL: "del URL".
func del(ts *testscript.TestScript, srv s3test.Server, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: del URL")
	}
	loc, err := store.ParseURL(args[0])
	ts.Check(err)
	_, err = srv.Client().DeleteObject(context.Background(), &s3.DeleteObjectInput{Bucket: &loc.Bucket, Key: &loc.Prefix})
	ts.Check(err)
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
