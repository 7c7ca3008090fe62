package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Schemes of a Location.
const (
	SchemeFile = "file"
	SchemeS3   = "s3"
)

// Location is a parsed root URL.
type Location struct {
	Scheme string // SchemeFile or SchemeS3
	Bucket string // s3: never empty
	Prefix string // s3: "" or "a/b", no slash at either end
	Dir    string // file: absolute and clean
}

// ParseURL reads s3://bucket/prefix, file:///dir, or a bare local path, which
// is taken from the current folder. The bytes of a URL stand for themselves, as
// they do for the engines that read Parquet by URL: "%20" is three characters,
// "?" and "#" are ordinary ones. Slashes at the end do not count.
func ParseURL(url string) (Location, error) {
	l, err := parseURL(url)
	if err != nil {
		return Location{}, fmt.Errorf("parse location %q: %w", url, err)
	}
	return l, nil
}

func parseURL(url string) (Location, error) {
	if url == "" {
		return Location{}, errors.New("it is empty")
	}
	if strings.IndexByte(url, 0) >= 0 {
		return Location{}, errors.New("it holds a zero byte")
	}
	scheme, rest, ok := strings.Cut(url, "://")
	switch {
	case ok && strings.EqualFold(scheme, SchemeS3):
		return parseS3(rest)
	case ok && strings.EqualFold(scheme, SchemeFile), !ok && strings.HasPrefix(url, "file:/"):
		if !ok {
			rest = url[len("file:"):]
		}
		if !strings.HasPrefix(rest, "/") {
			return Location{}, errors.New("a file URL holds an absolute path after three slashes, as in file:///dir")
		}
		return Location{Scheme: SchemeFile, Dir: filepath.Clean(rest)}, nil
	case ok && isScheme(scheme):
		return Location{}, fmt.Errorf("unknown scheme %q: want s3://bucket/prefix, file:///dir or a local path", scheme)
	case strings.HasPrefix(url, "s3:"), strings.HasPrefix(url, "file:"):
		return Location{}, errors.New("a URL has two slashes after the colon, as in s3://bucket/prefix; for a local path put ./ before it")
	}
	dir, err := filepath.Abs(url)
	if err != nil {
		return Location{}, err
	}
	return Location{Scheme: SchemeFile, Dir: dir}, nil
}

// isScheme tells "gs" from the start of a path such as "./a".
func isScheme(s string) bool {
	for i, c := range []byte(strings.ToLower(s)) {
		letter := c >= 'a' && c <= 'z'
		other := c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'
		if !letter && (i == 0 || !other) {
			return false
		}
	}
	return s != ""
}

func parseS3(rest string) (Location, error) {
	bucket, prefix, _ := strings.Cut(rest, "/")
	if bucket == "" {
		return Location{}, errors.New("no bucket after s3://")
	}
	if strings.ContainsAny(bucket, "?#@: ") {
		return Location{}, fmt.Errorf("%q is no bucket name", bucket)
	}
	prefix = strings.TrimRight(prefix, "/")
	if prefix != "" {
		if err := checkKey(prefix); err != nil {
			return Location{}, err
		}
	}
	return Location{Scheme: SchemeS3, Bucket: bucket, Prefix: prefix}, nil
}

// String is the canonical URL, without a slash at the end save for the local
// root; ParseURL gives the same Location back.
func (l Location) String() string {
	if l.Scheme == SchemeFile {
		return "file://" + l.Dir
	}
	return strings.TrimSuffix("s3://"+l.Bucket+"/"+l.Prefix, "/")
}

// URL is what an engine opens to read the object under key, with the bytes of
// both as they are: DuckDB and Hadoop's readers (Spark, Trino) decode nothing.
func (l Location) URL(key string) string {
	return strings.TrimSuffix(l.String(), "/") + "/" + key
}

// Path is the local path of key in a file location, else "".
func (l Location) Path(key string) string {
	if l.Scheme != SchemeFile {
		return ""
	}
	return filepath.Join(l.Dir, filepath.FromSlash(key))
}

// Key is the whole key in the bucket of an s3 location.
func (l Location) Key(key string) string {
	if l.Prefix == "" {
		return key
	}
	return l.Prefix + "/" + key
}
