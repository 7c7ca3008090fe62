package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

var update = flag.Bool("update", false, "write golden files and the README's tables anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"wap": testedMain})
}

// testedMain is main with a store that ends the process where TEST_STORE says.
func testedMain() {
	s := system{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), openStore: store.Open}
	if text := os.Getenv("TEST_STORE"); text != "" {
		s.openStore = endingStore(text)
	}
	os.Exit(s.run(context.Background(), os.Args[1:]))
}

// endingStore opens stores whose user panics, or is killed, at one operation:
// "panic swap after refs/main.json" or "kill 12 before", the twelfth.
func endingStore(text string) func(context.Context, string, store.Config) (store.Store, error) {
	words := append(strings.Fields(text), "")
	action, which, phase, suffix := words[0], words[1], words[2], words[3]
	recorder := new(faultstore.Recorder)
	onOp := func(_ context.Context, op faultstore.Op) error {
		here := which == strconv.Itoa(op.Seq) || which == fmt.Sprint(op.Verb) && strings.HasSuffix(op.Key, suffix)
		if !here || (op.Phase == faultstore.Before) != (phase == "before") {
			return nil
		}
		if action == "panic" {
			panic("the test says so")
		}
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			panic(err)
		}
		select {} // until the signal arrives
	}
	return func(ctx context.Context, url string, cfg store.Config) (store.Store, error) {
		inner, err := store.Open(ctx, url, cfg)
		return faultstore.New(inner, faultstore.Config{OnOp: onOp, Recorder: recorder}), err
	}
}

// scriptDir is where the scripts of all commands are. Each states exact exit
// codes, and what is left in the store afterwards. Their warehouse is at $LAKE,
// in a folder or on a server; $ABOVE is where it lies.
const scriptDir = "../../testdata/script"

// scripts runs those of dir on local folders; shared data may be missing.
func scripts(t *testing.T, dir string) testscript.Params {
	t.Helper()
	shared, err := filepath.Abs("../../../shared/data")
	if err != nil {
		t.Fatal(err)
	}
	return testscript.Params{
		Dir:           dir,
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, "SHARED="+shared, "LAKE=lake", "ABOVE=.")
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "shared" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			_, err := os.Stat(filepath.Join(shared, "flights-3m.parquet"))
			return err == nil, nil
		},
		Cmds: scriptCommands(nil),
	}
}

// TestScripts runs every command as a user would, on local folders.
func TestScripts(t *testing.T) { testscript.Run(t, scripts(t, scriptDir)) }
