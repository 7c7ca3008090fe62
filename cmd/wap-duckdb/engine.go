package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2"
)

// engine is a database in memory that can read the given files, and nothing
// more.
type engine struct {
	db   *sql.DB
	conn *sql.Conn
	temp string // what does not fit the memory is written there
}

func open(ctx context.Context, doc *document) (e *engine, err error) {
	e = &engine{}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	if e.temp, err = os.MkdirTemp("", "wap-duckdb-"); err != nil {
		return e, err
	}
	if e.db, err = sql.Open("duckdb", ""); err != nil {
		return e, fmt.Errorf("open database: %w", err)
	}
	if e.conn, err = e.db.Conn(ctx); err != nil {
		return e, fmt.Errorf("open database: %w", err)
	}
	staged, live, err := e.paths(doc)
	if err != nil {
		return e, err
	}
	return e, e.configure(ctx, doc, staged, live)
}

// spillFactor is how much of the disk a query may take for each byte of memory.
const spillFactor = 8

// configure shuts the database in. The order matters: the last statement makes
// all settings final, before the query is looked at.
func (e *engine) configure(ctx context.Context, doc *document, staged, live []string) error {
	statements := []string{
		"SET errors_as_json = true",
		"SET autoinstall_known_extensions = false",
		"SET autoload_known_extensions = false",
		"SET TimeZone = 'UTC'",
		"SET temp_directory = " + text(e.temp),
		"SET allowed_paths = " + list(slices.Concat(staged, live)),
		"SET enable_external_access = false",
	}
	if doc.Limits.MemoryBytes > 0 {
		statements = append(statements,
			fmt.Sprintf("SET memory_limit = '%dB'", doc.Limits.MemoryBytes),
			fmt.Sprintf("SET max_temp_directory_size = '%dB'", spillFactor*doc.Limits.MemoryBytes))
	}
	statements = append(statements, "SET VARIABLE now = CAST("+text(doc.Now.UTC().Format("2006-01-02T15:04:05.999999Z"))+" AS TIMESTAMPTZ)")
	for _, name := range slices.Sorted(maps.Keys(doc.Parameters)) {
		statements = append(statements, fmt.Sprintf("SET VARIABLE %s = %s", quoted(name), text(doc.Parameters[name])))
	}
	statements = append(statements, view("staged", staged, doc))
	if len(live) > 0 {
		statements = append(statements, view("live", live, doc))
	} else {
		statements = append(statements, "CREATE VIEW live AS SELECT * FROM staged WHERE false")
	}
	statements = append(statements, "SET lock_configuration = true")
	for _, s := range statements {
		if _, err := e.conn.ExecContext(ctx, s); err != nil {
			return told(placed(err, "", 0)) // no row was read yet
		}
	}
	return nil
}

// view is a view over files of one partition, with those of its keys that the
// files do not store.
func view(name string, files []string, doc *document) string {
	columns := "*"
	for _, k := range doc.Partition.Keys {
		if slices.ContainsFunc(doc.Columns, func(c column) bool { return strings.EqualFold(c.Name, k.Name) }) {
			continue
		}
		value := text(k.Value)
		if k.Value == nullKey {
			value = "NULL"
		}
		columns += fmt.Sprintf(", CAST(%s AS %s) AS %s", value, typeOf(k.Type), quoted(k.Name))
	}
	// wap has seen that staged files share one schema. Live ones may be older.
	return fmt.Sprintf("CREATE VIEW %s AS SELECT %s FROM read_parquet(%s, hive_partitioning = false, union_by_name = %t)",
		name, columns, list(files), name == "live")
}

// nullKey is the value of a key that is NULL.
const nullKey = "__HIVE_DEFAULT_PARTITION__"

// typeOf is an Arrow type of a partition key in DuckDB's words.
func typeOf(arrow string) string {
	switch arrow {
	case "bool", "boolean":
		return "BOOLEAN"
	case "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64":
		return map[string]string{"int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT",
			"uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT"}[arrow]
	case "float", "float32":
		return "FLOAT"
	case "double", "float64":
		return "DOUBLE"
	case "date", "date32":
		return "DATE"
	}
	inner, isDecimal := strings.CutPrefix(arrow, "decimal(")
	switch {
	case isDecimal:
		return "DECIMAL(" + inner
	case strings.HasPrefix(arrow, "timestamp[") && strings.Contains(arrow, "tz="):
		return "TIMESTAMPTZ"
	case strings.HasPrefix(arrow, "timestamp["):
		return "TIMESTAMP"
	}
	return "VARCHAR"
}

// paths are the files as DuckDB is told them. It takes *, ? and [ for patterns,
// and patterns for outside of what is allowed: such files get another name.
func (e *engine) paths(doc *document) (staged, live []string, err error) {
	name := func(path string) (string, error) {
		if _, err := os.Stat(path); err != nil {
			return "", err
		}
		if !strings.ContainsAny(path, "*?[") {
			return path, nil
		}
		links, err := os.ReadDir(e.temp)
		if err != nil {
			return "", err
		}
		link := filepath.Join(e.temp, fmt.Sprintf("file-%d.parquet", len(links)))
		return link, os.Symlink(path, link)
	}
	for _, f := range doc.Files {
		path, err := name(f.Path)
		if err != nil {
			return nil, nil, err
		}
		staged = append(staged, path)
	}
	for _, f := range doc.Baseline {
		path, err := name(f.Path)
		if err != nil {
			return nil, nil, err
		}
		live = append(live, path)
	}
	return staged, live, nil
}

func (e *engine) close() error {
	var wrong []error
	if e.conn != nil {
		wrong = append(wrong, e.conn.Close())
	}
	if e.db != nil {
		wrong = append(wrong, e.db.Close())
	}
	if e.temp != "" {
		wrong = append(wrong, os.RemoveAll(e.temp))
	}
	return errors.Join(wrong...)
}

func text(s string) string   { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

func list(texts []string) string {
	var out []string
	for _, s := range texts {
		out = append(out, text(s))
	}
	return "[" + strings.Join(out, ", ") + "]"
}
