package s3test

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/testcontainers/testcontainers-go"
)

// dockerAnswers looks for a daemon as the Docker command does.
func dockerAnswers() bool {
	if os.Getenv("DOCKER_HOST") != "" {
		return true
	}
	c, err := net.Dial("unix", "/var/run/docker.sock")
	if err != nil {
		return false
	}
	c.Close()
	return true
}

const containerPort = "9000/tcp"

// startContainer runs the very binary that startProcess would, alone in an
// image. The image is kept, so that the next test finds it built.
func startContainer(t testing.TB, s spec, srv Server) string {
	t.Helper()
	// Its reaper is one more image to pull, and needs the daemon's socket.
	t.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
	port := network.MustParsePort(containerPort)
	env := map[string]string{}
	for _, v := range s.env(srv) {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	c, err := testcontainers.GenericContainer(t.Context(), testcontainers.GenericContainerRequest{
		ContainerRequest: testcontainers.ContainerRequest{
			FromDockerfile: testcontainers.FromDockerfile{
				Context: imageContext(t, s), Repo: "wap-test-" + string(s.kind), Tag: "pinned", KeepImage: true,
			},
			Cmd:          s.args(":9000", "/data"),
			Env:          env,
			ExposedPorts: []string{containerPort},
			HostConfigModifier: func(h *container.HostConfig) {
				h.PortBindings = network.PortMap{port: {{HostIP: netip.MustParseAddr("127.0.0.1")}}}
			},
		},
		Started: true,
	})
	t.Cleanup(func() { stopContainer(t, c, srv) })
	if err != nil {
		t.Fatalf("start %s: %v", srv.Name, err)
	}
	mapped, err := c.MappedPort(t.Context(), containerPort)
	if err != nil {
		t.Fatal(err)
	}
	// Not by a wait strategy of testcontainers: where the test itself runs in a
	// container, that asks at the gateway, where we do not publish the port.
	endpoint := "http://127.0.0.1:" + mapped.Port()
	if err := awaitHealth(endpoint + s.health); err != nil {
		t.Fatalf("start %s: %v", srv.Name, err)
	}
	return endpoint
}

func stopContainer(t testing.TB, c testcontainers.Container, srv Server) {
	if c == nil {
		return
	}
	ctx := context.Background() // the test's own is over
	if t.Failed() {
		if logs, err := c.Logs(ctx); err == nil {
			output, _ := io.ReadAll(logs)
			t.Logf("output of %s:\n%s", srv.Name, tail(output))
		}
	}
	if err := testcontainers.TerminateContainer(c); err != nil {
		t.Errorf("stop %s: %v", srv.Name, err)
	}
}

// imageContext is a folder with the binary and nothing else, no base image.
func imageContext(t testing.TB, s spec) string {
	t.Helper()
	dir := t.TempDir()
	dockerfile := "FROM scratch\nCOPY server /server\nWORKDIR /tmp\n"
	for _, name := range append(s.inside, "") { // WORKDIR makes what is not there
		dockerfile += "WORKDIR /data/" + name + "\n"
	}
	dockerfile += "ENTRYPOINT [\"/server\"]\n"
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(dockerfile), 0o666); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "server")
	if os.Link(s.binary, binary) == nil {
		return dir
	}
	// On another file system: copy.
	src, err := os.Open(s.binary)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dst, err := os.OpenFile(binary, os.O_CREATE|os.O_WRONLY, 0o777)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(dst, src); err != nil {
		t.Fatal(err)
	}
	if err := dst.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}
