package s3test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"
)

// spec is how to build and run one kind of server. Servers are run, never
// linked: their licence and dependencies stay out of the module.
type spec struct {
	kind   Kind
	tool   string // name of the binary
	module string // for go install
	// args run it on an address, with objects in a folder that exists.
	args   func(address, folder string) []string
	inside []string // folders to make in that folder
	env    func(s Server) []string
	health string // path that answers 200 when it is ready, or ""
	binary string
}

func (k Kind) spec(t testing.TB) spec {
	t.Helper()
	var s spec
	switch k {
	case MinIO, MinIOPools:
		s = spec{
			tool:   "minio",
			module: "github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c",
			args: func(address, folder string) []string {
				return []string{"server", "--quiet", "--address", address, folder}
			},
			env: func(s Server) []string {
				return []string{"MINIO_ROOT_USER=" + s.AccessKey, "MINIO_ROOT_PASSWORD=" + s.SecretKey,
					"MINIO_CI_CD=1", "MINIO_BROWSER=off", "HOME=/", "MINIO_UPDATE=off"}
			},
			health: "/minio/health/ready",
		}
		if k == MinIOPools {
			s.args = func(address, folder string) []string {
				return []string{"server", "--quiet", "--address", address, folder + "/a{1...4}", folder + "/b{1...4}"}
			}
			for _, pool := range []string{"a", "b"} {
				for disk := range 4 {
					s.inside = append(s.inside, fmt.Sprint(pool, disk+1))
				}
			}
		}
	case VersityGW:
		s = spec{
			tool:   "versitygw",
			module: "github.com/versity/versitygw/cmd/versitygw@v1.8.0",
			args: func(address, folder string) []string {
				return []string{"--quiet", "--port", address, "--health", "/health", "posix", folder}
			},
			env: func(s Server) []string {
				return []string{"ROOT_ACCESS_KEY=" + s.AccessKey, "ROOT_SECRET_KEY=" + s.SecretKey}
			},
			health: "/health",
		}
	default:
		t.Fatalf("unknown server %q", k)
	}
	s.kind = k
	s.binary = build(t, s)
	return s
}

// Tool builds the server's binary if it is not there, and names the module that
// it is built from.
func Tool(t testing.TB, k Kind) (binary, module string) {
	t.Helper()
	s := k.spec(t)
	return s.binary, s.module
}

// build installs the binary into the module's .tools/ once; packages that are
// tested at the same time wait for each other.
func build(t testing.TB, s spec) string {
	t.Helper()
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatalf("find module: %v", err)
	}
	tools := filepath.Join(filepath.Dir(strings.TrimSpace(string(mod))), ".tools")
	binary := filepath.Join(tools, s.tool)
	if err := os.MkdirAll(tools, 0o777); err != nil {
		t.Fatal(err)
	}
	lock := flock.New(filepath.Join(tools, ".lock"))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if _, err := os.Stat(binary); err == nil {
		return binary
	}
	t.Logf("building %s into %s, once: this takes minutes", s.module, tools)
	cmd := exec.Command("go", "install", s.module)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOBIN="+tools, "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", s.module, err, out)
	}
	return binary
}
