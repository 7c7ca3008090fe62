package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseURL(t *testing.T) {
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		url  string
		want Location
	}{
		{"s3://b", Location{Scheme: SchemeS3, Bucket: "b"}},
		{"s3://b/", Location{Scheme: SchemeS3, Bucket: "b"}},
		{"S3://b/p/q//", Location{Scheme: SchemeS3, Bucket: "b", Prefix: "p/q"}},
		{"s3://b/a%20b?c#d", Location{Scheme: SchemeS3, Bucket: "b", Prefix: "a%20b?c#d"}},
		{"file:///", Location{Scheme: SchemeFile, Dir: "/"}},
		{"file:///a/b/", Location{Scheme: SchemeFile, Dir: "/a/b"}},
		{"file:/a/b", Location{Scheme: SchemeFile, Dir: "/a/b"}},
		{"file:///a%20b/c d?e", Location{Scheme: SchemeFile, Dir: "/a%20b/c d?e"}},
		{"/a/../b/", Location{Scheme: SchemeFile, Dir: "/b"}},
		{"wh", Location{Scheme: SchemeFile, Dir: filepath.Join(cwd, "wh")}},
		{"./s3://b", Location{Scheme: SchemeFile, Dir: filepath.Join(cwd, "s3:/b")}},
		{".", Location{Scheme: SchemeFile, Dir: cwd}},
	} {
		got, err := ParseURL(c.url)
		if err != nil || got != c.want {
			t.Errorf("ParseURL(%q) = %+v, %v; want %+v", c.url, got, err, c.want)
			continue
		}
		again, err := ParseURL(got.String())
		if err != nil || again != got {
			t.Errorf("ParseURL(%q) = %+v, %v; want %+v again", got.String(), again, err, got)
		}
	}
}

func TestParseURLErrors(t *testing.T) {
	for url, want := range map[string]string{
		"":                 "it is empty",
		"s3://":            "no bucket",
		"s3:///p":          "no bucket",
		"s3://b?x/p":       "no bucket name",
		"s3://b/a//b":      "empty component",
		"s3://b//a":        "empty component",
		"s3://b/../a":      "plain path",
		"s3:/b/p":          "two slashes",
		"s3:b":             "two slashes",
		"file:a":           "two slashes",
		"file://a/b":       "three slashes",
		"file://":          "three slashes",
		"gs://b/p":         `unknown scheme "gs"`,
		"s3a://b/p":        `unknown scheme "s3a"`,
		"https://host/b/p": `unknown scheme "https"`,
		"a\x00b":           "zero byte",
	} {
		_, err := ParseURL(url)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseURL(%q): %v; want %q in it", url, err, want)
		}
	}
}

func TestLocationKeys(t *testing.T) {
	for _, c := range []struct{ root, key, url, path, whole string }{
		{"s3://b", "k", "s3://b/k", "", "k"},
		{"s3://b/p", "dt=1/a%20b c.parquet", "s3://b/p/dt=1/a%20b c.parquet", "", "p/dt=1/a%20b c.parquet"},
		{"s3://b/p", "a//b", "s3://b/p/a//b", "", "p/a//b"},
		{"file:///", "k", "file:///k", "/k", "k"},
		{"/a b", "dt=1/x#y", "file:///a b/dt=1/x#y", "/a b/dt=1/x#y", "dt=1/x#y"},
	} {
		l, err := ParseURL(c.root)
		if err != nil {
			t.Fatal(err)
		}
		if l.URL(c.key) != c.url || l.Path(c.key) != c.path || l.Key(c.key) != c.whole {
			t.Errorf("%q in %q: %q, %q, %q", c.key, c.root, l.URL(c.key), l.Path(c.key), l.Key(c.key))
		}
	}
}
