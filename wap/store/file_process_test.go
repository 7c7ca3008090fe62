package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/storetest"
)

// TestMain is also the program that the tests below start as other processes:
// childEnv holds its task and the folder.
func TestMain(m *testing.M) {
	task, dir, ok := strings.Cut(os.Getenv(childEnv), ":")
	if !ok {
		os.Exit(m.Run())
	}
	if err := child(task, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const childEnv = "WAP_STORE_TEST_CHILD"

func child(task, dir string) error {
	ctx := context.Background()
	s, err := store.NewFile(dir)
	if err != nil {
		return err
	}
	switch task {
	case "count":
		for range 50 {
			if err := storetest.Increment(ctx, s, "d/counter"); err != nil {
				return err
			}
		}
	case "work": // until killed, telling what is acknowledged
		for i := 0; ; i++ {
			if err := storetest.Increment(ctx, s, "d/counter"); err != nil {
				return err
			}
			key := fmt.Sprintf("d/%d/%d", os.Getpid(), i)
			if _, err := s.Create(ctx, key, []byte(key)); err != nil {
				return err
			}
			if _, err := s.Upload(ctx, key+"u", strings.NewReader(key), int64(len(key))); err != nil {
				return err
			}
			fmt.Println(key)
		}
	case "forbidden":
		return forbidden(ctx, s)
	}
	return nil
}

func start(t *testing.T, task, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+task+":"+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// Processes exclude each other as goroutines do.
func TestFileProcesses(t *testing.T) {
	dir := t.TempDir()
	s := newFile(t, dir)
	if _, err := s.Create(t.Context(), "d/counter", []byte("0")); err != nil {
		t.Fatal(err)
	}
	var cmds []*exec.Cmd
	for range 4 {
		cmd, _ := start(t, "count", dir)
		cmds = append(cmds, cmd)
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if body, _, err := s.Get(t.Context(), "d/counter"); err != nil || string(body) != "200" {
		t.Fatalf("counter %s, %v; want 200", body, err)
	}
	wantTree(t, dir, "d/.wap-lock", "d/counter")
}

// A process that is killed anywhere loses nothing that it was told is written,
// leaves no broken object, holds up nobody, and its leftovers can be swept.
func TestFileKilled(t *testing.T) {
	dir := t.TempDir()
	s := newFile(t, dir)
	if _, err := s.Create(t.Context(), "d/counter", []byte("0")); err != nil {
		t.Fatal(err)
	}
	acknowledged := 0
	for round := range 20 {
		cmd, lines := start(t, "work", dir)
		for i := 0; i <= round%4 && lines.Scan(); i++ {
			key := lines.Text()
			acknowledged++
			for _, k := range []string{key, key + "u"} {
				if body, _, err := s.Get(t.Context(), k); err != nil || string(body) != key {
					t.Fatalf("get %q: %q, %v", k, body, err)
				}
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			acknowledged++
		}
		_ = cmd.Wait() // killed
	}
	body, _, err := s.Get(t.Context(), "d/counter")
	n, nerr := strconv.Atoi(string(body))
	if err = errors.Join(err, nerr); err != nil || n < acknowledged || n > acknowledged+20 {
		t.Fatalf("counter %d, %v; want %d, or one more for each of 20 kills", n, err, acknowledged)
	}
	for e, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		body, _, err := s.Get(t.Context(), e.Key)
		if e.Key != "d/counter" && (err != nil || string(body) != strings.TrimSuffix(e.Key, "u")) {
			t.Errorf("%q is %q, %v", e.Key, body, err)
		}
	}
	if _, err := s.Sweep(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	for _, path := range tree(t, dir) {
		if strings.Contains(path, ".wap-tmp-") {
			t.Errorf("%q is left", path)
		}
	}
}

// forbidden runs as a user without rights, whoever runs the tests.
func forbidden(ctx context.Context, s *store.File) error {
	if os.Getuid() == 0 {
		if err := errors.Join(syscall.Setgid(65534), syscall.Setuid(65534)); err != nil {
			return err
		}
	}
	_, createErr := s.Create(ctx, "closed/new", nil)
	_, swapErr := s.Swap(ctx, "closed/k", store.Version{ETag: `"0"`}, nil)
	_, _, getErr := s.Get(ctx, "closed/k")
	_, headErr := s.Head(ctx, "closed/k")
	_, rangeErr := s.GetRange(ctx, "closed/k", 0, 1, store.Version{ETag: `"0"`})
	_, roErr := s.Create(ctx, "readonly/new", nil)
	var listErr error
	for _, err := range s.List(ctx, "") {
		listErr = err
	}
	deleteErr := s.Delete(ctx, "readonly/k")
	for i, err := range []error{createErr, swapErr, getErr, headErr, rangeErr, roErr, listErr, deleteErr} {
		if !errors.Is(err, store.ErrForbidden) || errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("error %d is %w, want %w", i, err, store.ErrForbidden)
		}
	}
	return nil
}

func TestFileForbidden(t *testing.T) {
	dir := t.TempDir()
	s := newFile(t, dir)
	for _, key := range []string{"closed/k", "readonly/k"} {
		if _, err := s.Create(t.Context(), key, []byte("1")); err != nil {
			t.Fatal(err)
		}
	}
	for d := dir; strings.HasPrefix(d, os.TempDir()) && d != os.TempDir(); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(os.Chmod(dir+"/closed", 0), os.Chmod(dir+"/readonly", 0o555))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir+"/closed", 0o700); os.Chmod(dir+"/readonly", 0o700) })
	cmd, _ := start(t, "forbidden", dir)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}
