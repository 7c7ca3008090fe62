// Command upload compares `wap stage` with `aws s3 cp`: one big Parquet file to
// a MinIO of its own on this machine, in turns. It prints rates, their ratio and
// wap's peak memory, and fails where they are worse than promised.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

const (
	mostMemory = 256 << 20 // bytes
	leastRatio = 0.8       // of the rate of aws s3 cp
	access     = "wap-bench-access"
	secret     = "wap-bench-secret"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "upload:", err)
		os.Exit(1)
	}
}

// bench is one comparison.
type bench struct {
	wap, minio, aws string
	bytes           int64
	repeat          int
	dir, file       string
	endpoint        string
	env             []string
}

func run(args []string) (err error) {
	var b bench
	flags := flag.NewFlagSet("upload", flag.ContinueOnError)
	flags.StringVar(&b.wap, "wap", "bin/wap", "the wap to measure")
	flags.StringVar(&b.minio, "minio", ".tools/minio", "the MinIO to upload to; tests build it")
	flags.StringVar(&b.aws, "aws", "aws", "the AWS command line")
	flags.Int64Var(&b.bytes, "bytes", 4<<30, "size of the file")
	flags.IntVar(&b.repeat, "repeat", 3, "uploads of each, of which the median counts")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "wap-upload-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	b.file = filepath.Join(b.dir, "big.parquet")
	if err := writeParquet(b.file, b.bytes); err != nil {
		return fmt.Errorf("write %s: %w", b.file, err)
	}
	stop, err := b.serve()
	if err != nil {
		return err
	}
	defer stop()
	return b.compare()
}

// serve starts MinIO on a port of its own.
func (b *bench) serve() (stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	l.Close()
	data := filepath.Join(b.dir, "minio")
	if err := os.Mkdir(data, 0o777); err != nil {
		return nil, err
	}
	cmd := exec.Command(b.minio, "server", "--quiet", "--address", address, data)
	cmd.Env = append(os.Environ(), "MINIO_ROOT_USER="+access, "MINIO_ROOT_PASSWORD="+secret, "MINIO_CI_CD=1", "MINIO_BROWSER=off")
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start MinIO (the tests build it: go test ./wap/store/storetest/s3test): %w", err)
	}
	stop = func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	}
	b.endpoint = "http://" + address
	b.env = append(os.Environ(), "AWS_ENDPOINT_URL_S3="+b.endpoint,
		"AWS_ACCESS_KEY_ID="+access, "AWS_SECRET_ACCESS_KEY="+secret, "AWS_REGION=us-east-1",
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		r, err := http.Get(b.endpoint + "/minio/health/ready")
		if err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(deadline) {
			stop()
			return nil, errors.New("MinIO is not ready after a minute")
		}
	}
	if _, err := b.awsS3("mb", "s3://bench"); err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// cost is what one upload took.
type cost struct {
	took   time.Duration
	memory int64 // bytes, at the peak
}

func (b *bench) measure(name string, args ...string) (cost, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = b.env
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return cost{}, fmt.Errorf("%s %v: %w\n%s", name, args, err, out)
	}
	c := cost{took: time.Since(begun)}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.memory = usage.Maxrss << 10
	}
	return c, nil
}

// awsS3 names the endpoint in a flag: older ones do not know the variable.
func (b *bench) awsS3(args ...string) (cost, error) {
	return b.measure(b.aws, append([]string{"--endpoint-url", b.endpoint, "s3"}, args...)...)
}

// compare uploads in turns; what one left is removed before the next.
func (b *bench) compare() error {
	var ours, theirs []cost
	for i := range b.repeat {
		theirURL := fmt.Sprintf("s3://bench/aws-%d.parquet", i)
		c, err := b.awsS3("cp", "--no-progress", b.file, theirURL)
		if err != nil {
			return err
		}
		theirs = append(theirs, c)
		lake := fmt.Sprintf("s3://bench/lake-%d", i)
		if _, err := b.measure(b.wap, "init", "-w", lake); err != nil {
			return err
		}
		if _, err := b.measure(b.wap, "begin", "big/dt=1", "-w", lake, "-r", "r"); err != nil {
			return err
		}
		c, err = b.measure(b.wap, "stage", "big/dt=1", b.file, "-w", lake, "-r", "r")
		if err != nil {
			return err
		}
		ours = append(ours, c)
		for _, url := range []string{theirURL, lake} {
			if _, err := b.awsS3("rm", "--recursive", "--quiet", url); err != nil {
				return err
			}
		}
	}
	return b.report(ours, theirs)
}

func (b *bench) report(ours, theirs []cost) error {
	mine, their := b.rate(ours), b.rate(theirs)
	peak := slices.MaxFunc(ours, func(a, b cost) int { return int(a.memory - b.memory) }).memory
	fmt.Printf("upload of %d MiB, median of %d: wap stage %.0f MiB/s, aws s3 cp %.0f MiB/s, ratio %.2f (at least %.2f)\n",
		b.bytes>>20, b.repeat, mine, their, mine/their, leastRatio)
	fmt.Printf("peak memory of wap: %d MiB (at most %d)\n", peak>>20, mostMemory>>20)
	var errs []error
	if mine < leastRatio*their {
		errs = append(errs, errors.New("wap is slower than promised"))
	}
	if peak > mostMemory {
		errs = append(errs, errors.New("wap needs more memory than promised"))
	}
	return errors.Join(errs...)
}

// rate is the median in MiB a second.
func (b *bench) rate(costs []cost) float64 {
	sorted := slices.SortedFunc(slices.Values(costs), func(a, b cost) int { return int(a.took - b.took) })
	return float64(b.bytes) / (1 << 20) / sorted[len(sorted)/2].took.Seconds()
}
