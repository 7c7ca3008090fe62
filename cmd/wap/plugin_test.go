package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/wap/store"
)

func TestPluginRun(t *testing.T) {
	p := &plugins{environ: []string{"PATH=" + os.Getenv("PATH"), "MARK=m"}}
	stdout, stderr, err := p.Run(context.Background(), []string{"sh", "-c", `cat; echo "$MARK" >&2`}, []byte("document"))
	if err != nil || string(stdout) != "document" || string(stderr) != "m\n" {
		t.Errorf("got %q, %q, %v", stdout, stderr, err)
	}
	_, stderr, err = p.Run(context.Background(), []string{"sh", "-c", "seq 5000 >&2; exit 3"}, nil)
	if err == nil || len(stderr) != pluginStderr || !bytes.HasSuffix(stderr, []byte("\n4999\n5000\n")) {
		t.Errorf("got %d bytes of stderr, %v", len(stderr), err)
	}
	if _, _, err = p.Run(context.Background(), []string{"no-such-program"}, nil); err == nil {
		t.Error("a program that is not there ran")
	}
	stdout, _, err = p.Run(context.Background(), []string{"yes"}, nil)
	if err == nil || len(stdout) > pluginStdout || !strings.Contains(err.Error(), "printed more than 1.0 MiB") {
		t.Errorf("got %d bytes, %v", len(stdout), err)
	}
}

// TestPluginGroup: when a plugin's time is over, its children end with it. The
// child holds a pipe open, which ends only with the child.
func TestPluginGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		f, err := os.Open(pipe)
		if err != nil {
			ended <- err
			return
		}
		_, err = io.ReadFull(f, make([]byte, len("started")))
		cancel()
		_, errRest := io.Copy(io.Discard, f)
		ended <- errors.Join(err, errRest, f.Close())
	}()
	p := &plugins{environ: os.Environ()}
	script := `exec 3>"$0"; sleep 1000 & printf started >&3; wait`
	if _, _, err := p.Run(ctx, []string{"sh", "-c", script, pipe}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a plugin that was stopped: %v", err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// bytesSource is a file in memory.
type bytesSource []byte

func (b bytesSource) Size() int64 { return int64(len(b)) }

func (b bytesSource) ReadRange(_ context.Context, p []byte, off int64) error {
	copy(p, b[off:])
	return nil
}

type pathSource struct {
	bytesSource
	path string
}

func (s pathSource) Path() string { return s.path }

func TestPluginFiles(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	local := store.Location{Scheme: store.SchemeFile, Dir: "/lake"}
	remote := store.Location{Scheme: store.SchemeS3, Bucket: "b", Prefix: "lake"}
	for _, test := range []struct {
		location   store.Location
		file       audit.File
		url, local string // local "": downloaded
	}{
		{local, audit.File{Key: "_wap/data/a.parquet"}, "file:///lake/_wap/data/a.parquet", "/lake/_wap/data/a.parquet"},
		{remote, audit.File{Key: "_wap/data/a.parquet"}, "s3://b/lake/_wap/data/a.parquet", ""},
		{local, audit.File{Key: "x.parquet", Source: pathSource{nil, "x.parquet"}}, "file://" + here + "/x.parquet", here + "/x.parquet"},
		{store.Location{}, audit.File{Key: "file:///d/x.parquet"}, "file:///d/x.parquet", "/d/x.parquet"},
		{remote, audit.File{Key: "s3://c/x.parquet"}, "s3://c/x.parquet", ""},
	} {
		p := &plugins{location: test.location}
		if got := p.URL(test.file); got != test.url {
			t.Errorf("%s in %s: URL %s, want %s", test.file.Key, test.location, got, test.url)
		}
		if test.file.Source == nil {
			test.file.Source = bytesSource("content")
		}
		path, err := p.Local(context.Background(), test.file)
		switch {
		case err != nil:
			t.Errorf("%s: %v", test.file.Key, err)
		case test.local != "" && path != test.local:
			t.Errorf("%s: local %s, want %s", test.file.Key, path, test.local)
		case test.local == "":
			checkDownload(t, p, test.file, path)
		}
	}
}

func checkDownload(t *testing.T, p *plugins, f audit.File, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil || string(data) != "content" {
		t.Errorf("%s: downloaded %q, %v", f.Key, data, err)
	}
	if again, err := p.Local(context.Background(), f); err != nil || again != path {
		t.Errorf("%s: downloaded twice: %s, %v", f.Key, again, err)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: the download is left: %v", f.Key, err)
	}
}
