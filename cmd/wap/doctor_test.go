package main

import (
	"bytes"
	"context"
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

// doctorGolden compares what init and doctor say of a server with the golden
// file of that name, save for checks whose outcome is chance, and sees that
// nothing is left behind.
func doctorGolden(t *testing.T, srv s3test.Server, name string, chance ...string) {
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
	for _, check := range chance {
		text = regexp.MustCompile(`(?m)^(ok|broken) +`+check+`  .*`).ReplaceAllString(text, "…        "+check+"  …")
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
	doctorByTLS(t, s3test.BehindTLS(t, srv))
	if kind == s3test.MinIO {
		front := s3test.StripConditions(t, srv)
		front.Setenv(t)
		doctorGolden(t, front, "no-conditions")
	}
}

// doctorByTLS: SDKs send checksums another way there, so that is asked too.
func doctorByTLS(t *testing.T, front s3test.Server) {
	front.Setenv(t)
	var stdout, stderr bytes.Buffer
	s := system{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, openStore: store.Open}
	if code := s.run(t.Context(), []string{"doctor", "-w", front.Root()}); code != 0 {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
	for _, want := range []string{
		`(?m)^ok       checksums +a body whose SHA-256 is wrong was refused`,
		`(?m)^ok       part checksums +a part of an upload whose SHA-256 is wrong was refused`,
		`(?m)^ok       trailers +a body in chunks`,
		`(?m)^endpoint +https://`,
	} {
		if !regexp.MustCompile(want).Match(stdout.Bytes()) {
			t.Errorf("doctor does not say %s:\n%s", want, stdout.String())
		}
	}
}

// bucketWithTraps keeps versions, and has a rule that removes live objects.
func bucketWithTraps(t *testing.T, srv s3test.Server) {
	srv.Bucket = versionedBucket
	srv.Setenv(t)
	root := srv.Root()
	loc, err := store.ParseURL(root)
	if err != nil {
		t.Fatal(err)
	}
	prefix := loc.Prefix + "/_wap/data/"
	client := srv.Client()
	_, err = client.PutBucketLifecycleConfiguration(t.Context(), &s3.PutBucketLifecycleConfigurationInput{
		Bucket: &srv.Bucket,
		LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: []types.LifecycleRule{
			{ID: aws.String("tidy"), Status: types.ExpirationStatusEnabled, Filter: &types.LifecycleRuleFilter{Prefix: &prefix},
				Expiration: &types.LifecycleExpiration{Days: aws.Int32(30)}},
			{ID: aws.String("others"), Status: types.ExpirationStatusEnabled, Filter: &types.LifecycleRuleFilter{Prefix: aws.String("logs/")},
				Expiration: &types.LifecycleExpiration{Days: aws.Int32(1)}},
			{ID: aws.String("off"), Status: types.ExpirationStatusDisabled, Filter: &types.LifecycleRuleFilter{Prefix: aws.String("")},
				Expiration: &types.LifecycleExpiration{Days: aws.Int32(1)}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	s := system{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, openStore: store.Open}
	if code := s.run(t.Context(), []string{"doctor", "-w", root}); code != 0 {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
	for _, want := range []string{
		`(?m)^warning  lifecycle +rule "tidy" on "` + prefix + `" removes live objects`,
		`(?m)^info     lifecycle +no rule removes the parts`,
		`(?m)^info     versioning +enabled`,
		`(?m)^ok       version pins +a version that was replaced can still be read`,
	} {
		if !regexp.MustCompile(want).Match(stdout.Bytes()) {
			t.Errorf("doctor does not say %s:\n%s", want, stdout.String())
		}
	}
	for _, never := range []string{`"others"`, `"off"`} {
		if strings.Contains(stdout.String(), never) {
			t.Errorf("doctor names rule %s:\n%s", never, stdout.String())
		}
	}
}

// unfinishedUpload is named. MinIO lists none but those of one whole key.
func unfinishedUpload(t *testing.T, srv s3test.Server) {
	srv.Setenv(t)
	root := srv.Root()
	loc, err := store.ParseURL(root)
	if err != nil {
		t.Fatal(err)
	}
	key := loc.Key("_wap/data/big.parquet")
	if _, err := srv.Client().CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: &srv.Bucket, Key: &key}); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	s := system{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, openStore: store.Open}
	if code := s.run(t.Context(), []string{"doctor", "-w", root}); code != 0 {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
	if want := regexp.MustCompile(`(?m)^warning  uploads +1 unfinished multipart upload, .* of _wap/data/big.parquet`); !want.Match(stdout.Bytes()) {
		t.Errorf("doctor says:\n%s", stdout.String())
	}
}

// TestDoctorRefuses a store that people do run.
func TestDoctorRefuses(t *testing.T) {
	if os.Getenv(s3test.EnvEndpoint) != "" {
		t.Skip("a server was given, and is not meant to be refused: " + s3test.EnvEndpoint)
	}
	srv := s3test.Start(t, s3test.MinIOPools)
	srv.Setenv(t)
	// Whether If-Match finds a key depends on the pool that the write falls into.
	doctorGolden(t, srv, string(s3test.MinIOPools), "swap", "swap race")
}
