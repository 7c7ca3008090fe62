package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/storetest/s3test"
)

// shelf is where objects lie, for a test that looks at them or changes them
// behind the back of wap.
type shelf interface {
	// keys lists all objects, in no order.
	keys() ([]string, error)
	read(key string) ([]byte, error)
	write(key string, body []byte) error
	remove(key string) error
}

// folder is a shelf on the local disk.
type folder string

func (f folder) path(key string) string { return filepath.Join(string(f), filepath.FromSlash(key)) }

// keys leaves out the lock files of the file backend, which are no objects.
func (f folder) keys() (keys []string, err error) {
	err = filepath.WalkDir(string(f), func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == string(f) {
			return nil
		}
		if err != nil || d.IsDir() || d.Name() == ".wap-lock" {
			return err
		}
		key, err := filepath.Rel(string(f), name)
		keys = append(keys, filepath.ToSlash(key))
		return err
	})
	return keys, err
}

func (f folder) read(key string) ([]byte, error) { return os.ReadFile(f.path(key)) }

func (f folder) write(key string, body []byte) error {
	name := f.path(key)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	if err := os.Chmod(name, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(name, body, 0o600)
}

func (f folder) remove(key string) error { return os.Remove(f.path(key)) }

// bucket is a shelf below a prefix of a bucket.
type bucket struct {
	client *s3.Client
	at     store.Location
}

func (b bucket) keys() (keys []string, err error) {
	root := b.at.Key("")
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.at.Bucket, Prefix: &root})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		if err != nil {
			return nil, err
		}
		for _, o := range page.Contents {
			keys = append(keys, strings.TrimPrefix(*o.Key, root))
		}
	}
	return keys, nil
}

func (b bucket) read(key string) ([]byte, error) {
	out, err := b.client.GetObject(context.Background(), &s3.GetObjectInput{Bucket: &b.at.Bucket, Key: aws.String(b.at.Key(key))})
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(out.Body)
	return body, errors.Join(err, out.Body.Close())
}

func (b bucket) write(key string, body []byte) error {
	_, err := b.client.PutObject(context.Background(), &s3.PutObjectInput{
		Bucket: &b.at.Bucket, Key: aws.String(b.at.Key(key)), Body: bytes.NewReader(body),
	})
	return err
}

func (b bucket) remove(key string) error {
	_, err := b.client.DeleteObject(context.Background(), &s3.DeleteObjectInput{Bucket: &b.at.Bucket, Key: aws.String(b.at.Key(key))})
	return err
}

// shelves finds the shelf of a script's argument: a path, or a URL of the server.
type shelves struct{ client *s3.Client }

// newShelves is for scripts on a server, or on folders alone where it is nil.
func newShelves(srv *s3test.Server) shelves {
	if srv == nil {
		return shelves{}
	}
	return shelves{srv.Client()}
}

func (s shelves) open(ts *testscript.TestScript, url string) shelf {
	if !strings.HasPrefix(url, store.SchemeS3+"://") {
		return folder(ts.MkAbs(url))
	}
	at, err := store.ParseURL(url)
	ts.Check(err)
	return bucket{s.client, at}
}

// one is the object that a path or URL names, whose last components may be
// patterns of path.Match.
func (s shelves) one(ts *testscript.TestScript, pattern string) (shelf, string) {
	dir, rest := path.Split(pattern)
	if i := strings.IndexByte(pattern, '*'); i >= 0 {
		dir, _ = path.Split(pattern[:i])
		rest = pattern[len(dir):]
	}
	at := s.open(ts, strings.TrimSuffix(dir, "/"))
	if !strings.Contains(rest, "*") {
		return at, rest
	}
	keys, err := at.keys()
	ts.Check(err)
	keys = slices.DeleteFunc(keys, func(key string) bool {
		ok, err := path.Match(rest, key)
		ts.Check(err)
		return !ok
	})
	if len(keys) != 1 {
		ts.Fatalf("%d objects match %s", len(keys), pattern)
	}
	return at, keys[0]
}

// tree prints every object below a folder or URL, with ULIDs and digests masked.
func (s shelves) tree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tree URL")
	}
	keys, err := s.open(ts, args[0]).keys()
	ts.Check(err)
	for i, key := range keys {
		keys[i] = maskDigest.ReplaceAllString(maskULID.ReplaceAllString(key, "ULID"), "HASH")
	}
	slices.Sort(keys)
	fmt.Fprintln(ts.Stdout(), strings.Join(keys, "\n"))
}

// put writes a local file to a path or URL: "put FILE URL".
func (s shelves) put(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: put FILE URL")
	}
	body, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	at, key := s.one(ts, args[1])
	ts.Check(at.write(key, body))
}

// del deletes the one object at a path or URL: "del URL".
func (s shelves) del(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: del URL")
	}
	at, key := s.one(ts, args[0])
	ts.Check(at.remove(key))
}

// clone copies all objects below a folder or URL to another: "clone FROM TO".
func (s shelves) clone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: clone FROM TO")
	}
	from, to := s.open(ts, args[0]), s.open(ts, args[1])
	keys, err := from.keys()
	ts.Check(err)
	for _, key := range keys {
		body, err := from.read(key)
		ts.Check(err)
		ts.Check(to.write(key, body))
	}
}

// damage changes the one object that a pattern matches: "flip" one byte in its
// middle, "truncate" it to half, or write it anew with "replace OLD NEW".
func (s shelves) damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: damage PATTERN flip|truncate|replace OLD NEW")
	}
	at, key := s.one(ts, args[0])
	data, err := at.read(key)
	ts.Check(err)
	switch {
	case args[1] == "flip":
		data[len(data)/2] ^= 1
	case args[1] == "truncate":
		data = data[:len(data)/2]
	case args[1] == "replace" && len(args) == 4 && strings.Contains(string(data), args[2]):
		data = []byte(strings.ReplaceAll(string(data), args[2], args[3]))
	default:
		ts.Fatalf("nothing to do for %q in %s", args[1:], data)
	}
	ts.Check(at.write(key, data))
}
