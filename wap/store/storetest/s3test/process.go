package s3test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// startTimeout is generous: the machine may be busy with other tests.
const startTimeout = 60 * time.Second

// startProcess runs the server under a shell that ends it when its standard
// input closes, so that it does not outlive a test that is killed.
func startProcess(t testing.TB, s spec, srv Server) string {
	t.Helper()
	address := FreeAddress(t)
	folder := t.TempDir()
	for _, name := range s.inside {
		if err := os.Mkdir(filepath.Join(folder, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	args := append([]string{"-c", `"$@" & read _; kill -9 $!`, "sh", s.binary}, s.args(address, folder)...)
	cmd := exec.Command("sh", args...)
	cmd.Env = append(os.Environ(), s.env(srv)...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait() // killed
		if t.Failed() {
			t.Logf("output of %s:\n%s", srv.Name, tail(output.Bytes()))
		}
	})
	endpoint := "http://" + address
	if err := awaitHealth(endpoint + s.health); err != nil {
		t.Fatalf("start %s: %v", srv.Name, err)
	}
	return endpoint
}

func awaitHealth(url string) error {
	client := http.Client{Timeout: time.Second}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(startTimeout)
	for {
		r, err := client.Get(url)
		if err == nil {
			_, _ = io.Copy(io.Discard, r.Body)
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return nil
			}
			err = fmt.Errorf("status %s", r.Status)
		}
		select {
		case <-tick.C:
		case <-deadline:
			return fmt.Errorf("not ready after %v: %w", startTimeout, err)
		}
	}
}

// tail is the end of a server's output.
func tail(b []byte) []byte { return b[max(0, len(b)-8192):] }
