// Command cases writes the Parquet files of audit/testdata/duckdb with DuckDB:
// small files for the cases that well-known tools get wrong, by a writer that is
// none of ours. The same DuckDB writes the same bytes.
package main

import (
	"database/sql"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "cases:", err)
		os.Exit(1)
	}
}

func run(args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("cases", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", "../../audit/testdata/duckdb", "`folder` to write to; what it holds is replaced")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := os.RemoveAll(*out); err != nil {
		return fmt.Errorf("remove old files: %w", err)
	}
	return write(*out)
}

// write makes every file below dir.
func write(dir string) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer func() {
		if e := db.Close(); err == nil && e != nil {
			err = fmt.Errorf("close database: %w", e)
		}
	}()
	db.SetMaxOpenConns(1)
	// One thread: rows keep their order, and files their bytes.
	if _, err := db.Exec("SET threads = 1"); err != nil {
		return fmt.Errorf("configure database: %w", err)
	}
	for _, f := range files() {
		path := filepath.Join(dir, f.name)
		options := append([]string{"FORMAT parquet"}, f.options...)
		statement := fmt.Sprintf("COPY (%s) TO '%s' (%s)", f.query, path, strings.Join(options, ", "))
		if _, err := db.Exec(statement); err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
	}
	return nil
}
