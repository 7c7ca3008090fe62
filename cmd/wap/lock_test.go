package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/storetest/s3test"
)

// lockedBucket locks new objects by default, as archives must: nothing that wap
// does to publish needs an object to go away. doctor says what will not go.
func lockedBucket(t *testing.T, srv s3test.Server) {
	if os.Getenv(s3test.EnvEndpoint) != "" {
		t.Skip("a server was given, and locked objects would stay on it: " + s3test.EnvEndpoint)
	}
	srv.Bucket = "wap-test-locked"
	client := srv.Client()
	_, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &srv.Bucket, ObjectLockEnabledForBucket: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.PutObjectLockConfiguration(t.Context(), &s3.PutObjectLockConfigurationInput{
		Bucket: &srv.Bucket,
		ObjectLockConfiguration: &types.ObjectLockConfiguration{
			ObjectLockEnabled: types.ObjectLockEnabledEnabled,
			Rule:              &types.ObjectLockRule{DefaultRetention: &types.DefaultRetention{Mode: types.ObjectLockRetentionModeCompliance, Days: aws.Int32(1)}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.Setenv(t)
	body, err := encodeParquet("id:int64\n1\n2\n3\n")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a.parquet")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		t.Fatal(err)
	}
	root := srv.Root()
	var stdout, stderr bytes.Buffer
	wap := func(want int, args ...string) {
		t.Helper()
		stdout.Reset()
		stderr.Reset()
		s := system{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, environ: os.Environ(), openStore: store.Open}
		if code := s.run(t.Context(), append(args, "-w", root)); code != want {
			t.Fatalf("wap %q: exit %d\n%s%s", args, code, stdout.String(), stderr.String())
		}
	}
	wap(0, "doctor")
	for _, want := range []string{`(?m)^warning  object lock +new objects are locked by default`, `(?m)^ok       delete `} {
		if !regexp.MustCompile(want).Match(stdout.Bytes()) {
			t.Errorf("doctor does not say %s:\n%s", want, stdout.String())
		}
	}
	wap(0, "init")
	wap(0, "begin", "orders/dt=1", "-r", "r1")
	wap(0, "stage", "orders/dt=1", file, "-r", "r1")
	wap(0, "publish", "-r", "r1", "--checks", "builtin")
	wap(0, "begin", "orders/dt=2", "-r", "r2")
	wap(0, "abort", "r2", "--reason", "not wanted")
	wap(0, "status")
	if !strings.HasPrefix(stdout.String(), "no unfinished run") {
		t.Errorf("open: %s", stdout.String())
	}
	wap(0, "fetch", "orders", t.TempDir(), "--json")
	if !strings.Contains(stdout.String(), `"files":1`) {
		t.Errorf("fetched: %s", stdout.String())
	}
}
