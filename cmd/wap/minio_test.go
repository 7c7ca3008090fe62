package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wap-cli/wap/wap/store/storetest/s3test"
)

// TestReadmeMinIO types the README's five commands into a shell, save that the
// server is built already, and listens where nobody else does.
func TestReadmeMinIO(t *testing.T) {
	if os.Getenv(s3test.EnvEndpoint) != "" {
		t.Skip("a server was given: " + s3test.EnvEndpoint)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "**MinIO in five commands.**")
	_, rest, _ = strings.Cut(rest, "```sh\n")
	block, _, _ := strings.Cut(rest, "\n```")
	lines := strings.Split(block, "\n")
	binary, module := s3test.Tool(t, s3test.MinIO)
	if len(lines) != 5 || lines[0] != "go install "+module {
		t.Fatalf("%d commands, the first %q; want five, and go install %s", len(lines), lines[0], module)
	}
	script := strings.Join(lines[1:], "\n")
	const address = "127.0.0.1:9000"
	if strings.Count(script, address) != 2 {
		t.Fatalf("the address is not there twice:\n%s", script)
	}
	script = strings.ReplaceAll(script, address, s3test.FreeAddress(t))
	cmd := exec.Command("sh", "-ec", "trap 'kill $!' EXIT\n"+script+"\nwap ls -w s3://lake/shop --json")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"), "HOME="+cmd.Dir,
		"AWS_REGION=", "AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "created  warehouse") || !strings.Contains(string(out), `"sequence":0`) {
		t.Errorf("%v\n%s", err, out)
	}
}
