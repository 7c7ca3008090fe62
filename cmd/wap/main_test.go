package main

import (
	"context"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

var update = flag.Bool("update", false, "write golden files and the README's tables anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"wap": testedMain})
}

// testedMain is main with a store that panics where TEST_PANIC says: before or
// after the pointer was swapped.
func testedMain() {
	s := system{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), openStore: store.Open}
	if when := os.Getenv("TEST_PANIC"); when != "" {
		s.openStore = func(ctx context.Context, url string, cfg store.Config) (store.Store, error) {
			st, err := store.Open(ctx, url, cfg)
			return panicStore{st, when}, err
		}
	}
	os.Exit(s.run(context.Background(), os.Args[1:]))
}

type panicStore struct {
	store.Store
	when string
}

func (s panicStore) Create(ctx context.Context, key string, body []byte) (store.Version, error) {
	if s.when == "record" && strings.HasSuffix(key, "/run.json") {
		panic("the test says so")
	}
	return s.Store.Create(ctx, key, body)
}

func (s panicStore) Swap(ctx context.Context, key string, v store.Version, body []byte) (store.Version, error) {
	next, err := s.Store.Swap(ctx, key, v, body)
	if s.when == "swap" && key == manifest.PointerKey {
		panic("the test says so")
	}
	return next, err
}

// TestScripts runs every command as a user would: each script states exact exit
// codes, and what is left in the store afterwards.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "../../testdata/script",
		UpdateScripts: *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"tree":    tree,
			"json":    jsonField,
			"capture": capture,
			"parquet": parquetFile,
			"damage":  damage,
		},
	})
}
