// Command duck runs the SQL on its standard input in DuckDB, statement by
// statement, and prints the last one's first row as a JSON object of texts. It
// is a program of its own so that its time and memory can be measured.
package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "duck:", err)
		os.Exit(1)
	}
}

// run takes statements that end with a semicolon at the end of a line.
func run(in io.Reader, out io.Writer) (err error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read statements: %w", err)
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
	// One connection, so that a setting holds for what follows it.
	db.SetMaxOpenConns(1)
	var row map[string]string
	for statement := range strings.SplitSeq(strings.TrimSpace(string(text)), ";\n") {
		if row, err = firstRow(db, statement); err != nil {
			return fmt.Errorf("%.300s: %w", statement, err)
		}
	}
	return json.NewEncoder(out).Encode(row)
}

func firstRow(db *sql.DB, statement string) (row map[string]string, err error) {
	rows, err := db.Query(statement)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
	}()
	names, err := rows.Columns()
	if err != nil || !rows.Next() {
		return nil, rows.Err()
	}
	cells, dest := make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range cells {
		dest[i] = &cells[i]
	}
	if err := rows.Scan(dest...); err != nil {
		return nil, err
	}
	row = make(map[string]string, len(names))
	for i, name := range names {
		row[name] = cells[i].String
	}
	return row, rows.Err()
}
